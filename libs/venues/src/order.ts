import type { Decimal } from '#libs/money';

export type Side = 'buy' | 'sell';

/** What we submit; orders that others placed may be of further types, which are `other`. */
export type OrderType = 'market' | 'limit' | 'stop' | 'stop-limit';

/** day ends with the session, gtc when it is cancelled, ioc fills what it can at once, fok fills whole or not at all. */
export type TimeInForce = 'day' | 'gtc' | 'ioc' | 'fok';

/**
 * pending: accepted and not yet at work, or held back by the venue. open: at work, nothing filled.
 * replaced: another order took its place; it will not fill any more.
 */
export type OrderStatus =
  'pending' | 'open' | 'partially-filled' | 'filled' | 'cancelled' | 'expired' | 'rejected' | 'replaced';

/** An order as a venue reports it, in the words of every venue. Symbols are `BASE/QUOTE` for crypto, else the ticker. */
export interface Order {
  readonly venueOrderId: string;
  /** Empty where others placed an order without one. */
  readonly clientOrderId: string;
  readonly symbol: string;
  readonly side: Side;
  readonly type: OrderType | 'other';
  /** Of an order that others placed in money instead of pieces: what has filled so far. */
  readonly quantity: Decimal;
  readonly limitPrice?: Decimal;
  readonly stopPrice?: Decimal;
  /** Cumulative. */
  readonly filledQuantity: Decimal;
  readonly averagePrice?: Decimal;
  readonly status: OrderStatus;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** One execution. Its id is the venue's own, and the same from the stream and from every list. */
export interface Fill {
  readonly fillId: string;
  readonly venueOrderId: string;
  readonly clientOrderId?: string;
  readonly symbol: string;
  readonly side: Side;
  readonly quantity: Decimal;
  readonly price: Decimal;
  readonly fee?: { readonly amount: Decimal; readonly asset: string };
  readonly happenedAt: Date;
}

export interface Position {
  readonly symbol: string;
  /** Negative when short. */
  readonly quantity: Decimal;
  readonly averagePrice: Decimal;
}

export interface Balance {
  readonly asset: string;
  readonly total: Decimal;
  /** What may still be spent; the rest is bound in orders or not settled. */
  readonly available: Decimal;
}

export interface Candle {
  readonly openedAt: Date;
  readonly open: Decimal;
  readonly high: Decimal;
  readonly low: Decimal;
  readonly close: Decimal;
  readonly volume: Decimal;
}

export interface Ticker {
  readonly symbol: string;
  readonly bid: Decimal;
  readonly ask: Decimal;
  readonly at: Date;
}

const TERMINAL: ReadonlySet<OrderStatus> = new Set(['filled', 'cancelled', 'expired', 'rejected', 'replaced']);

/** Whether the order has ended: it never fills, and its status never changes, again. */
export function isTerminal(order: Pick<Order, 'status'>): boolean {
  return TERMINAL.has(order.status);
}
