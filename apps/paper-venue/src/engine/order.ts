import type { Decimal } from '#libs/money';
import type { Instrument, Protocol } from '../market/instruments.js';

export type Side = 'buy' | 'sell';
export type OrderType = 'market' | 'limit' | 'stop' | 'stop-limit';
export type TimeInForce = 'day' | 'gtc' | 'ioc' | 'fok';
export type OrderStatus = 'new' | 'partially_filled' | 'filled' | 'canceled' | 'expired';

/** What somebody wants. */
export interface OrderRequest {
  readonly protocol: Protocol;
  readonly clientOrderId: string;
  readonly instrument: Instrument;
  readonly side: Side;
  readonly type: OrderType;
  readonly timeInForce: TimeInForce;
  /** How much of the base asset; for a market order it may be left to notional. */
  readonly quantity?: Decimal | undefined;
  /** How much of the quote asset a market order is about. */
  readonly notional?: Decimal | undefined;
  readonly limitPrice?: Decimal | undefined;
  readonly stopPrice?: Decimal | undefined;
}

/** What the venue accepted. A change makes a new one, so that an event keeps the order as it was. */
export interface Order extends OrderRequest {
  /** Counts the orders of the venue from 1 on. */
  readonly seq: number;
  readonly quantity: Decimal;
  /** What a buyer's funds are locked at for each unit that is open: the worst price that it may be filled at. */
  readonly lockPrice: Decimal;
  readonly filledQuantity: Decimal;
  /** The sum of price × quantity of its fills. */
  readonly filledNotional: Decimal;
  readonly status: OrderStatus;
  /** A stop order takes part in trading from then on. */
  readonly isTriggered: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A part of an order that was traded at one price. */
export interface Fill {
  /** Counts the fills of the venue from 1 on. */
  readonly seq: number;
  readonly orderSeq: number;
  readonly instrument: Instrument;
  readonly side: Side;
  readonly price: Decimal;
  readonly quantity: Decimal;
  readonly fee: Decimal;
  readonly feeAsset: string;
  readonly isMaker: boolean;
  readonly at: number;
}

interface Happening {
  /** Grows by one with every event of the venue, through restarts. */
  readonly seq: number;
  readonly at: number;
  /** As it is after the event. */
  readonly order: Order;
}

export type EngineEvent =
  | (Happening & { readonly kind: 'new' | 'canceled' | 'expired' })
  | (Happening & { readonly kind: 'triggered' })
  | (Happening & { readonly kind: 'fill'; readonly fill: Fill });

export function isOpen({ status }: Pick<Order, 'status'>): boolean {
  return status === 'new' || status === 'partially_filled';
}

export function remainingOf(order: Order): Decimal {
  return order.quantity.minus(order.filledQuantity);
}

/** Waits for its price before it takes part in trading. */
export function isDormant(order: Order): boolean {
  return order.stopPrice !== undefined && !order.isTriggered;
}

export function isPriced(order: Pick<Order, 'limitPrice'>): order is { readonly limitPrice: Decimal } {
  return order.limitPrice !== undefined;
}
