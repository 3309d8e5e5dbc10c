import type { Order } from './order.js';

/**
 * Why an order was certainly not accepted. The first four are ours: the request never left this process.
 * clock: the venue refused our time stamp; the offset has been measured anew, so the caller may try once more.
 */
export type RefusalReason =
  | 'budget'
  | 'aborted'
  | 'invalid-request'
  | 'not-ready'
  | 'clock'
  | 'insufficient-funds'
  | 'invalid-order'
  | 'not-permitted'
  | 'other';

/** Why nobody knows what the venue did. venue-unsure: the venue answered that it does not know itself. */
export type UnknownReason =
  'timeout' | 'aborted' | 'connection' | 'server-error' | 'rate-limited' | 'unreadable' | 'venue-unsure';

export interface Refused {
  readonly outcome: 'refused';
  readonly reason: RefusalReason;
  /** The venue's own code, where it gave one. */
  readonly code?: string;
  readonly message: string;
}

export interface Unknown {
  readonly outcome: 'unknown';
  readonly reason: UnknownReason;
  readonly message: string;
}

/**
 * duplicate: the venue knows this client order id already, so the order that carries it is ours; look it up.
 * unknown: the order may exist or come into being; nothing is proved until the venue is asked by client order id.
 */
export type SubmitOutcome =
  { readonly outcome: 'accepted'; readonly order: Order } | { readonly outcome: 'duplicate' } | Refused | Unknown;

/** accepted: the venue will cancel, which is not yet cancelled; the order may still fill on its way out. */
export type CancelOutcome =
  | { readonly outcome: 'accepted' }
  | { readonly outcome: 'already-terminal'; readonly order: Order }
  | { readonly outcome: 'not-found' }
  | Refused
  | Unknown;

/** not-found only when the venue itself said so; whatever stood in the way of its answer is unknown. */
export type Lookup =
  { readonly outcome: 'found'; readonly order: Order } | { readonly outcome: 'not-found' } | LookupUnknown;

export interface LookupUnknown {
  readonly outcome: 'unknown';
  readonly reason: UnknownReason | RefusalReason;
  readonly message: string;
}
