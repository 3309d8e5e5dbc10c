import type { Tx } from '#libs/database';
import { Decimal } from '#libs/money';

/** What a trade holds, and what came of what it held. */
export interface TradePosition {
  readonly profileId: string;
  readonly tradeId: string;
  readonly venue: string;
  readonly symbol: string;
  readonly side: 'long' | 'short';
  readonly quantity: Decimal;
  readonly entryQuantity: Decimal;
  readonly entryNotional: Decimal;
  readonly exitQuantity: Decimal;
  readonly exitNotional: Decimal;
  readonly fees: Decimal;
  readonly realizedPnl: Decimal;
  readonly openedAt?: Date;
  readonly closedAt?: Date;
}

/** In the order of the trades' ids. */
export async function listPositions(
  tx: Tx,
  page: { readonly profileId: string; readonly after?: string | undefined; readonly limit: number },
): Promise<TradePosition[]> {
  const rows = await tx.query<Row[]>(
    `select profile_id, trade_id, venue, symbol, side, quantity, entry_quantity, entry_notional, exit_quantity,
            exit_notional, fees, realized_pnl, opened_at, closed_at
       from positions
      where profile_id = $1::uuid and opened_at is not null and ($2::uuid is null or trade_id > $2::uuid)
      order by trade_id limit $3::integer`,
    [page.profileId, page.after ?? null, page.limit],
  );
  return rows.map(positionOf);
}

type Amounts = Record<
  'quantity' | 'entry_quantity' | 'entry_notional' | 'exit_quantity' | 'exit_notional' | 'fees' | 'realized_pnl',
  string
>;

interface Row extends Readonly<Amounts> {
  readonly profile_id: string;
  readonly trade_id: string;
  readonly venue: string;
  readonly symbol: string;
  readonly side: 'long' | 'short';
  readonly opened_at: Date | null;
  readonly closed_at: Date | null;
}

function positionOf(row: Row): TradePosition {
  return {
    profileId: row.profile_id,
    tradeId: row.trade_id,
    venue: row.venue,
    symbol: row.symbol,
    side: row.side,
    quantity: Decimal.parse(row.quantity),
    entryQuantity: Decimal.parse(row.entry_quantity),
    entryNotional: Decimal.parse(row.entry_notional),
    exitQuantity: Decimal.parse(row.exit_quantity),
    exitNotional: Decimal.parse(row.exit_notional),
    fees: Decimal.parse(row.fees),
    realizedPnl: Decimal.parse(row.realized_pnl),
    ...(row.opened_at !== null && { openedAt: row.opened_at }),
    ...(row.closed_at !== null && { closedAt: row.closed_at }),
  };
}
