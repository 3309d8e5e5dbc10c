import type { AccountFill, AccountOrder, IntentOwner } from '#libs/lifecycle';
import { isTerminal, type Order } from '#libs/venues';
import { fillClaims, type FillClaim, type FillsView } from './fill-claims.js';

/** What both sides said; ours read after the venue's, so that ours may be ahead, and is not behind by our own doing. */
export interface AccountView extends FillsView {
  /** When the venue's first list was asked for, by the clock of Postgres. */
  readonly readAt: Date;
  /** Orders that the venue lists: all that are open, and those that ended lately. */
  readonly venueOrders: readonly Order[];
  /** Who made the client order ids that no order of ours carries. */
  readonly owners: ReadonlyMap<string, IntentOwner>;
  /** Whether an id that we know nothing of looks like one of ours. */
  readonly hasOurMark: (clientOrderId: string) => boolean;
}

export interface Patience {
  /** Orders and intents that we have known for less long are left alone: they may be on their way. */
  readonly submitWindowMs: number;
  /** What moved at the venue less long ago is left to the stream and the poll, which have the first go. */
  readonly settleMs: number;
}

/** A difference that was seen and not yet proved. */
export type Claim =
  /** Works by our tables, and the venue lists it neither as open nor as ended lately. */
  | { readonly what: 'unlisted'; readonly order: AccountOrder }
  /** Both know the order, and say different things of it. */
  | { readonly what: 'differs'; readonly order: AccountOrder; readonly reported: Order }
  | { readonly what: 'unrecorded'; readonly owner: IntentOwner; readonly reported: Order }
  /** With an owner, whose order is another one: a second order under the same id. */
  | { readonly what: 'stray'; readonly reported: Order; readonly owner?: IntentOwner }
  | FillClaim;

export interface Comparison {
  readonly claims: readonly Claim[];
  readonly foreign: readonly Order[];
  /** Differences that are too young to be one. */
  readonly leftAlone: number;
}

/** Compares what two sides say of one account. Pure: the same view gives the same claims, in the same order. */
export function compareAccount(view: AccountView, patience: Patience): Comparison {
  const { readAt, orders, owners } = view;
  const claims: Claim[] = [];
  const foreign: Order[] = [];
  let leftAlone = 0;
  // Whatever we wrote down after the reading had begun is young, however long the reading took.
  const isOurs = (at: Date | undefined, ms: number): boolean =>
    at !== undefined && readAt.getTime() - at.getTime() < ms;
  // A venue's clock may be ahead, but not so far that what it says stays young for ever.
  const isTheirs = (at: Date, ms: number): boolean => Math.abs(readAt.getTime() - at.getTime()) < ms;
  const claim = (found: Claim, isYoung: boolean): void => {
    if (isYoung) leftAlone += 1;
    else claims.push(found);
  };
  const { settleMs, submitWindowMs } = patience;
  const bookedAt = lastBookings(view.fills);
  const listed = latestOf(view.venueOrders);
  const claimed = new Set<string>();

  for (const reported of listed.values()) {
    const order = orders.get(reported.venueOrderId);
    const owner = owners.get(reported.clientOrderId);
    if (order && differs(order, reported)) {
      claimed.add(order.orderId);
      // One that we booked or settled a moment ago may still be in a list that was made before.
      const isYoung =
        isTheirs(reported.updatedAt, settleMs) ||
        isOurs(order.settledAt, settleMs) ||
        isOurs(bookedAt.get(order.orderId), settleMs);
      claim({ what: 'differs', order, reported }, isYoung);
    } else if (!order && owner) {
      // An intent that is confirmed has its order already.
      const what = owner.state === 'confirmed' ? 'stray' : 'unrecorded';
      claim({ what, owner, reported }, owner.ageMs < submitWindowMs);
    } else if (!order && view.hasOurMark(reported.clientOrderId)) {
      claim({ what: 'stray', reported }, isTheirs(reported.createdAt, submitWindowMs));
    } else if (!order) foreign.push(reported);
  }
  for (const order of orders.values()) {
    if (order.isSettled || listed.has(order.orderId)) continue;
    claimed.add(order.orderId);
    const isYoung = isOurs(order.recordedAt, submitWindowMs) || isOurs(bookedAt.get(order.orderId), settleMs);
    claim({ what: 'unlisted', order }, isYoung);
  }
  for (const found of fillClaims(view)) {
    if (claimed.has(found.order.orderId)) continue;
    const isYoung =
      found.what === 'fill-differs'
        ? isTheirs(found.reported.happenedAt, settleMs)
        : isOurs(found.fill.recordedAt, settleMs);
    claim(found, isYoung);
  }
  return { claims, foreign, leftAlone };
}

/** An order that ended while the lists were read is in both; the later word counts. */
function latestOf(venueOrders: readonly Order[]): ReadonlyMap<string, Order> {
  return new Map(venueOrders.map((order) => [order.venueOrderId, order]));
}

function lastBookings(fills: readonly AccountFill[]): ReadonlyMap<string, Date> {
  const last = new Map<string, Date>();
  for (const { orderId, recordedAt } of fills) {
    const before = last.get(orderId);
    if (!before || before < recordedAt) last.set(orderId, recordedAt);
  }
  return last;
}

/** Whether the venue says anything of an order that our tables do not. */
export function differs(order: AccountOrder, reported: Order): boolean {
  const isBooked =
    reported.filledQuantity.equals(order.bookedQuantity) && order.filledQuantity.equals(order.bookedQuantity);
  if (!isBooked || !isSameOrder(order, reported)) return true;
  if (order.isSettled) return !isTerminal(reported);
  return isTerminal(reported) || (order.status === 'pending' && reported.status !== 'pending');
}

/** Compares what of an order never changes. */
export function isSameOrder(order: AccountOrder, reported: Order): boolean {
  const [ours, theirs] = [order.limitPrice, reported.limitPrice];
  return (
    order.orderId === reported.venueOrderId &&
    order.symbol === reported.symbol &&
    order.side === reported.side &&
    order.clientOrderId === reported.clientOrderId &&
    order.quantity.equals(reported.quantity) &&
    (ours === undefined || theirs === undefined || ours.equals(theirs))
  );
}
