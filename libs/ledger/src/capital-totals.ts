import type { Tx } from '#libs/database';
import { Decimal } from '#libs/money';

/** The capital of all profiles together. */
export interface CapitalTotals {
  readonly profiles: number;
  readonly allocated: Decimal;
  readonly orders: Decimal;
  readonly positions: Decimal;
  readonly pnl: Decimal;
  readonly available: Decimal;
}

export async function sumLedgers(tx: Tx): Promise<CapitalTotals> {
  const [row] = await tx.query<Record<keyof CapitalTotals, string>[]>(
    `select count(*) as profiles, coalesce(sum(allocated_capital), 0) as allocated,
            coalesce(sum(reserved_for_orders), 0) as orders, coalesce(sum(reserved_for_positions), 0) as positions,
            coalesce(sum(realized_pnl), 0) as pnl, coalesce(sum(available_capital), 0) as available
       from capital_ledger`,
  );
  if (!row) throw new Error('Invariant: a sum has one row.');
  return {
    profiles: Number(row.profiles),
    allocated: Decimal.parse(row.allocated),
    orders: Decimal.parse(row.orders),
    positions: Decimal.parse(row.positions),
    pnl: Decimal.parse(row.pnl),
    available: Decimal.parse(row.available),
  };
}
