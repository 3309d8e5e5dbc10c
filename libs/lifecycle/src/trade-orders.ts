import type { Tx } from '#libs/database';
import { Decimal } from '#libs/money';
import type { OrderStatus, OrderType, Side } from '#libs/venues';
import type { TradeRef } from './trades.js';

/** An order that the venue confirmed. */
export interface TradeOrder {
  readonly venue: string;
  readonly orderId: string;
  readonly clientOrderId: string;
  readonly profileId: string;
  readonly tradeId: string;
  readonly purpose: 'entry' | 'exit';
  readonly generation: number;
  readonly symbol: string;
  readonly side: Side;
  readonly type: OrderType;
  readonly quantity: Decimal;
  readonly limitPrice?: Decimal;
  readonly status: OrderStatus;
  readonly filledQuantity: Decimal;
  readonly bookedQuantity: Decimal;
  readonly averagePrice?: Decimal;
  readonly isCancelRequested: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly settledAt?: Date;
}

/** By trade, entries before exits. */
export async function listOrders(
  tx: Tx,
  page: { readonly profileId: string; readonly after?: OrderCursor | undefined; readonly limit: number },
): Promise<TradeOrder[]> {
  const { tradeId, purpose, generation } = page.after ?? {};
  const rows = await tx.query<OrderRow[]>(
    `select ${ORDER_COLUMNS} from orders o
      where profile_id = $1::uuid and ($2::uuid is null or (trade_id, purpose, generation) > ($2::uuid, $3, $4::integer))
      order by trade_id, purpose, generation limit $5::integer`,
    [page.profileId, tradeId ?? null, purpose ?? null, generation ?? null, page.limit],
  );
  return rows.map(orderOf);
}

export type OrderCursor = Pick<TradeOrder, 'tradeId' | 'purpose' | 'generation'>;

export async function listOrdersOf(tx: Tx, { profileId, tradeId }: TradeRef): Promise<TradeOrder[]> {
  const rows = await tx.query<OrderRow[]>(
    `select ${ORDER_COLUMNS} from orders o where profile_id = $1::uuid and trade_id = $2::uuid
      order by purpose, generation`,
    [profileId, tradeId],
  );
  return rows.map(orderOf);
}

/** Orders that have not ended, or whose fills are not whole. */
export async function listUnsettled(
  tx: Tx,
  scope: { readonly venue: string; readonly symbol?: string | undefined; readonly limit: number },
): Promise<TradeOrder[]> {
  const rows = await tx.query<OrderRow[]>(
    `select ${ORDER_COLUMNS} from orders o
      where venue = $1 and ($2::text is null or symbol = $2) and settled_at is null
      order by created_at limit $3::integer`,
    [scope.venue, scope.symbol ?? null, scope.limit],
  );
  return rows.map(orderOf);
}

const ORDER_COLUMNS = `o.venue, o.order_id, o.client_order_id, o.profile_id, o.trade_id, o.purpose, o.generation,
  o.symbol, o.side, o.type, o.quantity, o.limit_price, o.status, o.filled_quantity, o.booked_quantity, o.average_price,
  o.cancel_requested_at, o.created_at, o.updated_at, o.settled_at`;

interface OrderRow {
  readonly venue: string;
  readonly order_id: string;
  readonly client_order_id: string;
  readonly profile_id: string;
  readonly trade_id: string;
  readonly purpose: 'entry' | 'exit';
  readonly generation: number;
  readonly symbol: string;
  readonly side: Side;
  readonly type: OrderType;
  readonly quantity: string;
  readonly limit_price: string | null;
  readonly status: OrderStatus;
  readonly filled_quantity: string;
  readonly booked_quantity: string;
  readonly average_price: string | null;
  readonly cancel_requested_at: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly settled_at: Date | null;
}

function orderOf(row: OrderRow): TradeOrder {
  return {
    venue: row.venue,
    orderId: row.order_id,
    clientOrderId: row.client_order_id,
    profileId: row.profile_id,
    tradeId: row.trade_id,
    purpose: row.purpose,
    generation: row.generation,
    symbol: row.symbol,
    side: row.side,
    type: row.type,
    quantity: Decimal.parse(row.quantity),
    ...(row.limit_price !== null && { limitPrice: Decimal.parse(row.limit_price) }),
    status: row.status,
    filledQuantity: Decimal.parse(row.filled_quantity),
    bookedQuantity: Decimal.parse(row.booked_quantity),
    ...(row.average_price !== null && { averagePrice: Decimal.parse(row.average_price) }),
    isCancelRequested: row.cancel_requested_at !== null,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    ...(row.settled_at !== null && { settledAt: row.settled_at }),
  };
}
