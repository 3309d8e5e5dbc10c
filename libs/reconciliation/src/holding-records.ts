import type { Tx } from '#libs/database';
import { Decimal } from '#libs/money';
import type { Holding } from './holdings.js';

export async function listHoldings(tx: Tx, venue: string): Promise<Map<string, Holding>> {
  const rows = await tx.query<{ asset: string; held: string; held_at: Date }[]>(
    'select asset, held, held_at from reconciliation_holdings where venue = $1',
    [venue],
  );
  return new Map(rows.map(({ asset, held, held_at: heldAt }) => [asset, { asset, held: Decimal.parse(held), heldAt }]));
}

export async function noteHoldings(
  tx: Tx,
  { venue, held, heldAt }: { venue: string; held: ReadonlyMap<string, Decimal>; heldAt: Date },
): Promise<void> {
  for (const [asset, amount] of held) {
    await tx.query('select fn_note_holding($1::text, $2::text, $3::numeric, $4::timestamptz)', [
      venue,
      asset,
      amount.toString(),
      heldAt,
    ]);
  }
}

/** By the clock of Postgres, as fills are recorded. */
export async function readDatabaseTime(tx: Tx): Promise<Date> {
  const [row] = await tx.query<{ now: Date }[]>('select clock_timestamp() as now');
  if (!row) throw new Error('Invariant: Postgres knows the time.');
  return row.now;
}
