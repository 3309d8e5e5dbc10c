import type { Tx } from '#libs/database';

/** How much is going on in one symbol at one venue. */
export interface TradeCounts {
  /** Trades that hold a position. */
  readonly open: number;
  /** Orders that may still be filled. */
  readonly workingOrders: number;
  readonly disputed: number;
}

export async function countTrades(
  tx: Tx,
  of: { readonly venue: string; readonly symbol: string; readonly profiles: readonly string[] },
): Promise<TradeCounts> {
  const [row] = await tx.query<Record<keyof TradeCounts, string>[]>(
    `select (select count(*) from positions p
              where p.venue = $1::text and p.symbol = $2::text and p.quantity > 0
                and p.profile_id = any($3::uuid[])) as open,
            (select count(*) from orders o
              where o.venue = $1::text and o.symbol = $2::text and o.settled_at is null
                and o.status in ('pending', 'open', 'partially-filled')
                and o.profile_id = any($3::uuid[])) as "workingOrders",
            (select count(*) from trade_lifecycle t
              where t.venue = $1::text and t.symbol = $2::text and t.state = 'disputed'
                and t.profile_id = any($3::uuid[])) as disputed`,
    [of.venue, of.symbol, of.profiles],
  );
  if (!row) throw new Error('Invariant: a count has one row.');
  return { open: Number(row.open), workingOrders: Number(row.workingOrders), disputed: Number(row.disputed) };
}
