import { ask, type Database, type Tx } from '#libs/database';
import type { Fill, Order } from '#libs/venues';

/** Where a report comes from; kept with each fill. */
export type ReportSource = 'submit' | 'lookup' | 'stream' | 'poll' | 'sweep';

/** What a venue says of one order: its state, its fills, or both. */
export type Report =
  | { readonly order: Order; readonly fills?: readonly Fill[] }
  | { readonly order?: undefined; readonly fills: readonly [Fill, ...Fill[]] };

/** unknown-order: none of ours has this id, nor an intent this client order id. */
export type Applied = 'changed' | 'unchanged' | 'unknown-order';

/** Records what a venue said, whoever brought it and however often. Needs no lock: it proves what it says. */
export function applyReport(
  database: Database,
  from: { readonly venue: string; readonly source: ReportSource },
  report: Report,
): Promise<Applied> {
  return database.statement((tx) => applyReportIn(tx, from, report));
}

/** The same in a transaction of the caller's. One statement, so that it is applied whole or not at all. */
export async function applyReportIn(
  tx: Tx,
  from: { readonly venue: string; readonly source: ReportSource },
  report: Report,
): Promise<Applied> {
  const rows = await ask<{ applied: string }>(
    tx,
    {
      name: 'apply order report',
      text: 'select fn_apply_order_report($1::text, $2::jsonb, $3::text) as applied',
    },
    [from.venue, JSON.stringify(toWire(report)), from.source],
  );
  const applied = rows[0]?.applied;
  if (applied === 'unknown_order') return 'unknown-order';
  return applied === 'changed' ? 'changed' : 'unchanged';
}

/** As the SQL functions read it. Decimals turn into strings by themselves. */
export function toWire(report: Report): Record<string, unknown> {
  return { ...(report.order ? orderToWire(report.order) : fillToOrder(report.fills[0])), fills: fillsToWire(report) };
}

function orderToWire(order: Order): Record<string, unknown> {
  const { venueOrderId, clientOrderId, symbol, status, filledQuantity, averagePrice, createdAt, updatedAt } = order;
  return { orderId: venueOrderId, clientOrderId, symbol, status, filledQuantity, averagePrice, createdAt, updatedAt };
}

/** All that a fill alone says of its order. */
function fillToOrder({ venueOrderId, clientOrderId, symbol, happenedAt }: Fill): Record<string, unknown> {
  return { orderId: venueOrderId, clientOrderId, symbol, createdAt: happenedAt, updatedAt: happenedAt };
}

function fillsToWire({ fills = [] }: Report): Record<string, unknown>[] {
  return fills.map(({ fillId, quantity, price, fee, happenedAt }) => ({
    ...{ fillId, quantity, price, happenedAt },
    feeAmount: fee?.amount,
    feeAsset: fee?.asset,
  }));
}
