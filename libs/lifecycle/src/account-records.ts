import type { Tx } from '#libs/database';
import { Decimal } from '#libs/money';
import type { OrderStatus, Side } from '#libs/venues';

/** As much of an order as a comparison of whole accounts needs, for a hundred thousand of them at a time. */
export interface AccountOrder {
  readonly orderId: string;
  readonly clientOrderId: string;
  readonly profileId: string;
  readonly tradeId: string;
  readonly purpose: 'entry' | 'exit';
  readonly symbol: string;
  readonly side: Side;
  readonly quantity: Decimal;
  readonly limitPrice?: Decimal;
  readonly status: OrderStatus;
  readonly filledQuantity: Decimal;
  readonly bookedQuantity: Decimal;
  readonly isSettled: boolean;
  readonly createdAt: Date;
  /** When we learnt of it, and when it was settled, by the clock of Postgres. */
  readonly recordedAt: Date;
  readonly settledAt?: Date;
}

export interface AccountFill {
  readonly orderId: string;
  readonly fillId: string;
  readonly profileId: string;
  readonly tradeId: string;
  readonly symbol: string;
  readonly side: Side;
  readonly quantity: Decimal;
  readonly price: Decimal;
  readonly feeAmount: Decimal;
  readonly feeAsset?: string;
  readonly happenedAt: Date;
  readonly recordedAt: Date;
}

/** The intent that a client order id was made for. */
export interface IntentOwner {
  readonly clientOrderId: string;
  readonly profileId: string;
  readonly tradeId: string;
  readonly symbol: string;
  readonly purpose: 'entry' | 'exit';
  readonly state: 'pending' | 'unknown' | 'confirmed' | 'rejected';
  /** By the clock of Postgres. */
  readonly ageMs: number;
}

/** Orders of an account that are not settled, in the order of their ids. */
export async function listUnsettledOrders(
  tx: Tx,
  page: { readonly venue: string; readonly after?: string | undefined; readonly limit: number },
): Promise<AccountOrder[]> {
  const rows = await tx.query<OrderRow[]>(
    `select ${ORDER_COLUMNS} from orders
      where venue = $1 and settled_at is null and order_id > $2 order by order_id limit $3::integer`,
    [page.venue, page.after ?? '', page.limit],
  );
  return rows.map(orderOf);
}

export async function findAccountOrders(
  tx: Tx,
  of: { readonly venue: string; readonly orderIds: readonly string[] },
): Promise<AccountOrder[]> {
  const rows = await tx.query<OrderRow[]>(
    `select ${ORDER_COLUMNS} from orders where venue = $1 and order_id = any($2::text[])`,
    [of.venue, of.orderIds],
  );
  return rows.map(orderOf);
}

/** Of these ids those that we made; the others belong to somebody else. */
export async function findIntentOwners(
  tx: Tx,
  of: { readonly venue: string; readonly clientOrderIds: readonly string[] },
): Promise<IntentOwner[]> {
  const select = (table: string, purpose: string): string =>
    `select client_order_id, profile_id, trade_id, symbol, '${purpose}' as purpose, state,
            (extract(epoch from clock_timestamp() - created_at) * 1000)::bigint as age_ms
       from ${table} where venue = $1 and client_order_id = any($2::text[])`;
  const rows = await tx.query<OwnerRow[]>(
    `${select('entry_intents', 'entry')} union all ${select('exit_intents', 'exit')}`,
    [of.venue, of.clientOrderIds],
  );
  return rows.map((row) => ({
    clientOrderId: row.client_order_id,
    profileId: row.profile_id,
    tradeId: row.trade_id,
    symbol: row.symbol,
    purpose: row.purpose,
    state: row.state,
    ageMs: Number(row.age_ms),
  }));
}

/** Everything that was booked of an account since a time, and of these orders at any time. */
export async function listAccountFills(
  tx: Tx,
  of: { readonly venue: string; readonly recordedSince: Date; readonly orderIds: readonly string[] },
): Promise<AccountFill[]> {
  const select = (where: string): string =>
    `select f.order_id, f.fill_id, f.profile_id, f.trade_id, o.symbol, o.side, f.quantity, f.price, f.fee_amount,
            f.fee_asset, f.happened_at, f.recorded_at
       from fills f join orders o on o.venue = f.venue and o.order_id = f.order_id
      where f.venue = $1 and ${where}`;
  const rows = await tx.query<FillRow[]>(
    `${select('f.recorded_at >= $2::timestamptz')} union ${select('f.order_id = any($3::text[])')}`,
    [of.venue, of.recordedSince, of.orderIds],
  );
  return rows.map((row) => ({
    orderId: row.order_id,
    fillId: row.fill_id,
    profileId: row.profile_id,
    tradeId: row.trade_id,
    symbol: row.symbol,
    side: row.side,
    quantity: Decimal.parse(row.quantity),
    price: Decimal.parse(row.price),
    feeAmount: Decimal.parse(row.fee_amount),
    ...(row.fee_asset !== null && { feeAsset: row.fee_asset }),
    happenedAt: row.happened_at,
    recordedAt: row.recorded_at,
  }));
}

/** The symbols that trades are, or lately were, under way in. */
export async function listAccountSymbols(
  tx: Tx,
  of: { readonly venue: string; readonly recordedSince: Date },
): Promise<string[]> {
  const rows = await tx.query<{ symbol: string }[]>(
    `select symbol from orders where venue = $1 and settled_at is null
      union select symbol from positions where venue = $1 and quantity > 0
      union select o.symbol from fills f join orders o on o.venue = f.venue and o.order_id = f.order_id
             where f.venue = $1 and f.recorded_at >= $2::timestamptz
      union select symbol from entry_intents where venue = $1 and state in ('pending', 'unknown')
      order by symbol`,
    [of.venue, of.recordedSince],
  );
  return rows.map(({ symbol }) => symbol);
}

const ORDER_COLUMNS = `order_id, client_order_id, profile_id, trade_id, purpose, symbol, side, quantity, limit_price, status,
  filled_quantity, booked_quantity, created_at, recorded_at, settled_at`;

interface OrderRow {
  readonly order_id: string;
  readonly client_order_id: string;
  readonly profile_id: string;
  readonly trade_id: string;
  readonly purpose: 'entry' | 'exit';
  readonly symbol: string;
  readonly side: Side;
  readonly quantity: string;
  readonly limit_price: string | null;
  readonly status: OrderStatus;
  readonly filled_quantity: string;
  readonly booked_quantity: string;
  readonly created_at: Date;
  readonly recorded_at: Date;
  readonly settled_at: Date | null;
}

function orderOf(row: OrderRow): AccountOrder {
  return {
    orderId: row.order_id,
    clientOrderId: row.client_order_id,
    profileId: row.profile_id,
    tradeId: row.trade_id,
    purpose: row.purpose,
    symbol: row.symbol,
    side: row.side,
    quantity: Decimal.parse(row.quantity),
    ...(row.limit_price !== null && { limitPrice: Decimal.parse(row.limit_price) }),
    status: row.status,
    filledQuantity: Decimal.parse(row.filled_quantity),
    bookedQuantity: Decimal.parse(row.booked_quantity),
    isSettled: row.settled_at !== null,
    createdAt: row.created_at,
    recordedAt: row.recorded_at,
    ...(row.settled_at !== null && { settledAt: row.settled_at }),
  };
}

interface OwnerRow {
  readonly client_order_id: string;
  readonly profile_id: string;
  readonly trade_id: string;
  readonly symbol: string;
  readonly purpose: 'entry' | 'exit';
  readonly state: IntentOwner['state'];
  readonly age_ms: string;
}

interface FillRow {
  readonly order_id: string;
  readonly fill_id: string;
  readonly profile_id: string;
  readonly trade_id: string;
  readonly symbol: string;
  readonly side: Side;
  readonly quantity: string;
  readonly price: string;
  readonly fee_amount: string;
  readonly fee_asset: string | null;
  readonly happened_at: Date;
  readonly recorded_at: Date;
}
