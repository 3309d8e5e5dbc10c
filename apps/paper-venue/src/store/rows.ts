import { Decimal } from '#libs/money';
import type { Balance } from '../engine/balances.js';
import type { Fill, Order } from '../engine/order.js';
import { INSTRUMENTS, type Instrument, type Protocol } from '../market/instruments.js';
import type { Pin } from '../market/market.js';

/** The tables are strict, so a row cannot hold anything else. */
export interface OrderRow {
  readonly seq: number;
  readonly protocol: Protocol;
  readonly client_order_id: string;
  readonly instrument: string;
  readonly side: Order['side'];
  readonly type: Order['type'];
  readonly time_in_force: Order['timeInForce'];
  readonly quantity: string;
  readonly notional: string | null;
  readonly limit_price: string | null;
  readonly stop_price: string | null;
  readonly lock_price: string;
  readonly filled_quantity: string;
  readonly filled_notional: string;
  readonly status: Order['status'];
  readonly is_triggered: number;
  readonly created_at: number;
  readonly updated_at: number;
  readonly purged_at: number | null;
}

export interface FillRow {
  readonly seq: number;
  readonly order_seq: number;
  readonly instrument: string;
  readonly side: Fill['side'];
  readonly price: string;
  readonly quantity: string;
  readonly fee: string;
  readonly fee_asset: string;
  readonly is_maker: number;
  readonly at: number;
}

export interface BalanceRow {
  readonly asset: string;
  readonly free: string;
  readonly locked: string;
  readonly cost: string;
}

export interface PinRow {
  readonly instrument: string;
  readonly bid: string;
  readonly ask: string;
  readonly bid_size: string | null;
  readonly ask_size: string | null;
}

const BY_ID = new Map(INSTRUMENTS.map((instrument) => [instrument.id, instrument]));

export function toOrder(row: OrderRow): Order {
  return {
    seq: row.seq,
    protocol: row.protocol,
    clientOrderId: row.client_order_id,
    instrument: instrumentOf(row.instrument),
    side: row.side,
    type: row.type,
    timeInForce: row.time_in_force,
    quantity: Decimal.parse(row.quantity),
    notional: toDecimal(row.notional),
    limitPrice: toDecimal(row.limit_price),
    stopPrice: toDecimal(row.stop_price),
    lockPrice: Decimal.parse(row.lock_price),
    filledQuantity: Decimal.parse(row.filled_quantity),
    filledNotional: Decimal.parse(row.filled_notional),
    status: row.status,
    isTriggered: row.is_triggered === 1,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

export function toFill(row: FillRow): Fill {
  return {
    seq: row.seq,
    orderSeq: row.order_seq,
    instrument: instrumentOf(row.instrument),
    side: row.side,
    price: Decimal.parse(row.price),
    quantity: Decimal.parse(row.quantity),
    fee: Decimal.parse(row.fee),
    feeAsset: row.fee_asset,
    isMaker: row.is_maker === 1,
    at: row.at,
  };
}

export function toBalance(row: BalanceRow): Balance {
  return { free: Decimal.parse(row.free), locked: Decimal.parse(row.locked), cost: Decimal.parse(row.cost) };
}

export function toPin(row: PinRow): Pin {
  return {
    bid: Decimal.parse(row.bid),
    ask: Decimal.parse(row.ask),
    bidSize: toDecimal(row.bid_size),
    askSize: toDecimal(row.ask_size),
  };
}

/** SQLite's null is our undefined. */
export function orNull(value: { toString(): string } | undefined): string | null {
  return value === undefined ? null : value.toString();
}

function toDecimal(text: string | null): Decimal | undefined {
  return text === null ? undefined : Decimal.parse(text);
}

function instrumentOf(id: string): Instrument {
  const instrument = BY_ID.get(id);
  if (!instrument) throw new Error(`Expected an instrument of this venue, got "${id}" in its store.`);
  return instrument;
}
