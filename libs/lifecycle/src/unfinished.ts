import type { Tx } from '#libs/database';

/** Where something is left to find out: an order that is not settled, or an intent that is not decided. */
export interface Unfinished {
  readonly venue: string;
  readonly symbol: string;
}

/** Each venue and symbol once. */
export async function listUnfinished(tx: Tx, { limit }: { readonly limit: number }): Promise<Unfinished[]> {
  return tx.query<Unfinished[]>(
    `select venue, symbol from orders where settled_at is null
      union select venue, symbol from entry_intents where state in ('pending', 'unknown')
      union select venue, symbol from exit_intents where state in ('pending', 'unknown')
      order by venue, symbol limit $1::integer`,
    [limit],
  );
}
