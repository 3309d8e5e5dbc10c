import type { Decimal } from '#libs/money';
import type { Side, TimeInForce } from '#libs/venues';

/** The wish to enter, of a strategy or an operator. The same wish computed again has the same signalId. */
export interface Signal {
  readonly profileId: string;
  readonly venue: string;
  readonly symbol: string;
  /** buy goes long, sell goes short. */
  readonly side: Side;
  /** So many pieces, or as many whole steps as so much money buys. */
  readonly size: { readonly quantity: Decimal } | { readonly notional: Decimal };
  readonly order: OrderTerms;
  /** gtc, where it is not said. */
  readonly timeInForce?: TimeInForce;
  readonly strategy: string;
  readonly signalId: string;
  readonly actor: string;
}

export type OrderTerms = { readonly type: 'market' } | { readonly type: 'limit'; readonly limitPrice: Decimal };

/** The wish to leave a trade with all that it holds. */
export interface ExitRequest {
  readonly profileId: string;
  readonly tradeId: string;
  readonly order: OrderTerms;
  readonly actor: string;
}

/**
 * submitted: the venue has the order, and its lifecycle is recorded. unknown: nobody knows yet; the resolver finds out,
 * and until then the capital stays reserved. rejected: there is no order and will be none. skipped: nothing was begun.
 */
export interface Outcome {
  readonly tradeId: string;
  readonly clientOrderId: string;
  readonly outcome: 'submitted' | 'unknown' | 'rejected' | 'skipped';
  /** A word to decide by, such as insufficient_capital; absent when submitted. */
  readonly reason?: string;
  /** The same for people. */
  readonly detail?: string;
}
