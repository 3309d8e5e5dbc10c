import type { Tx } from '#libs/database';
import { Decimal } from '#libs/money';
import type { ReportSource } from './report.js';
import type { TradeRef } from './trades.js';

/** One execution of an order of a trade. */
export interface TradeFill {
  readonly orderId: string;
  readonly fillId: string;
  readonly quantity: Decimal;
  readonly price: Decimal;
  readonly feeAmount: Decimal;
  readonly feeAsset?: string;
  /** Who brought it first. */
  readonly source: ReportSource;
  readonly happenedAt: Date;
  readonly recordedAt: Date;
}

/** As they were booked. */
export async function listFillsOf(tx: Tx, { profileId, tradeId }: TradeRef): Promise<TradeFill[]> {
  const rows = await tx.query<Row[]>(
    `select order_id, fill_id, quantity, price, fee_amount, fee_asset, source, happened_at, recorded_at
       from fills where profile_id = $1::uuid and trade_id = $2::uuid order by booking`,
    [profileId, tradeId],
  );
  return rows.map((row) => ({
    orderId: row.order_id,
    fillId: row.fill_id,
    quantity: Decimal.parse(row.quantity),
    price: Decimal.parse(row.price),
    feeAmount: Decimal.parse(row.fee_amount),
    ...(row.fee_asset !== null && { feeAsset: row.fee_asset }),
    source: row.source,
    happenedAt: row.happened_at,
    recordedAt: row.recorded_at,
  }));
}

interface Row {
  readonly order_id: string;
  readonly fill_id: string;
  readonly quantity: string;
  readonly price: string;
  readonly fee_amount: string;
  readonly fee_asset: string | null;
  readonly source: ReportSource;
  readonly happened_at: Date;
  readonly recorded_at: Date;
}
