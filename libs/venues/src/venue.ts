import type { Decimal } from '#libs/money';
import type { Balance, Candle, Fill, Order, OrderType, Position, Side, Ticker, TimeInForce } from './order.js';
import type { CancelOutcome, Lookup, SubmitOutcome } from './outcome.js';

/**
 * An account at an exchange or broker. Nothing is retried in here: whoever called knows whether asking again is safe.
 * submit, cancel and find answer with an outcome and do not throw; lists throw VenueUnavailable unless they are whole.
 */
export interface Venue {
  readonly id: string;
  readonly capabilities: VenueCapabilities;

  submit(request: SubmitRequest, options?: CallOptions): Promise<SubmitOutcome>;
  cancel(order: OrderRef, options?: CallOptions): Promise<CancelOutcome>;
  findByClientOrderId(ref: ClientOrderRef, options?: CallOptions): Promise<Lookup>;
  findByVenueOrderId(ref: OrderRef, options?: CallOptions): Promise<Lookup>;

  /** All of them, to the last page, of every symbol. */
  openOrders(options?: CallOptions): Promise<readonly Order[]>;
  /** Terminal orders that were created since; one created earlier and closed since is found by its id only. */
  closedOrders(request: { since: Date; symbols: readonly string[] }, options?: CallOptions): Promise<readonly Order[]>;
  /** Every fill of these symbols after the start, oldest first, and where to go on. */
  fills(request: FillsRequest, options?: CallOptions): Promise<FillPage>;
  positions(options?: CallOptions): Promise<readonly Position[]>;
  balances(options?: CallOptions): Promise<readonly Balance[]>;
  candles(request: CandlesRequest, options?: CallOptions): Promise<readonly Candle[]>;
  ticker(symbol: string, options?: CallOptions): Promise<Ticker>;
  /** Steps and limits of a symbol. */
  instrument(symbol: string, options?: CallOptions): Promise<Instrument>;

  /**
   * Tells what happens to orders until the signal is aborted, connecting again as often as it takes. Each connection
   * begins with a gap; between gaps events may still be repeated, out of order or missing. See OrderFollower.
   */
  stream(listener: (event: StreamEvent) => void, signal: AbortSignal): Promise<void>;

  close(): Promise<void>;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Shorter than the venue's own setting where the caller holds something that runs out. */
  readonly timeoutMs?: number;
}

export interface OrderRef {
  readonly venueOrderId: string;
  readonly symbol: string;
}

export interface ClientOrderRef {
  readonly clientOrderId: string;
  readonly symbol: string;
}

export interface SubmitRequest {
  readonly clientOrderId: string;
  readonly symbol: string;
  readonly side: Side;
  readonly type: OrderType;
  readonly quantity: Decimal;
  readonly limitPrice?: Decimal;
  readonly stopPrice?: Decimal;
  readonly timeInForce: TimeInForce;
  /** An exit goes before entries when requests are short. */
  readonly purpose: 'entry' | 'exit';
}

export interface FillsRequest {
  readonly symbols: readonly string[];
  readonly start: { readonly since: Date } | { readonly cursor: string };
}

export interface FillPage {
  readonly fills: readonly Fill[];
  /** Opaque; belongs to this venue and to these symbols. */
  readonly cursor: string;
}

export interface CandlesRequest {
  readonly symbol: string;
  readonly intervalMin: 1 | 5 | 15 | 60 | 240 | 1440;
  readonly since: Date;
  readonly countMax: number;
}

export type StreamEvent =
  | { readonly kind: 'order'; readonly order: Order }
  | { readonly kind: 'fill'; readonly fill: Fill }
  /** Events between the two may be missing; ask the lists. Without from, the stream has only begun. */
  | { readonly kind: 'gap'; readonly from?: Date; readonly to: Date };

export interface ClientOrderIdRules {
  readonly lengthMax: number;
  /** Every character of an id matches. */
  readonly alphabet: RegExp;
  /** always: an id is refused for ever after its first use. while-open: only as long as its order is open. */
  readonly unique: 'always' | 'while-open';
}

export interface VenueCapabilities {
  readonly clientOrderIds: ClientOrderIdRules;
  /** For how long a closed order can be looked up; undefined is for ever. */
  readonly closedOrdersKeptMs?: number;
  readonly hasPositions: boolean;
  readonly orderTypes: readonly OrderType[];
  readonly timesInForce: readonly TimeInForce[];
  readonly limits: readonly RateLimit[];
}

export interface RateLimit {
  readonly name: 'requests' | 'orders';
  readonly count: number;
  readonly perMs: number;
}

export interface Instrument {
  readonly symbol: string;
  readonly quantityStep: Decimal;
  readonly priceTick: Decimal;
  readonly quantityMin?: Decimal;
  readonly notionalMin?: Decimal;
}
