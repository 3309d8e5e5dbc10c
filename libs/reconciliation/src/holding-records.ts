import type { Tx } from '#libs/database';
import { Decimal } from '#libs/money';
import type { Holding } from './holdings.js';

/** What was noted, and the time of Postgres at which it was read. */
export async function readHoldings(
  tx: Tx,
  venue: string,
): Promise<{ readonly known: ReadonlyMap<string, Holding>; readonly at: Date }> {
  const rows = await tx.query<Row[]>(
    `select c.at, h.asset, h.held, h.held_at from (select clock_timestamp() as at) c
       left join reconciliation_holdings h on h.venue = $1`,
    [venue],
  );
  const known = new Map<string, Holding>();
  for (const { asset, held, held_at: heldAt } of rows) {
    if (asset !== null && held !== null && heldAt !== null) {
      known.set(asset, { asset, held: Decimal.parse(held), heldAt });
    }
  }
  const [first] = rows;
  if (!first) throw new Error('Invariant: Postgres knows the time.');
  return { known, at: first.at };
}

interface Row {
  readonly at: Date;
  readonly asset: string | null;
  readonly held: string | null;
  readonly held_at: Date | null;
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
