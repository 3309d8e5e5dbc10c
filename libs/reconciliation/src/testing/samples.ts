import type { AccountFill, AccountOrder, IntentOwner } from '#libs/lifecycle';
import { Decimal } from '#libs/money';
import type { Fill, Order } from '#libs/venues';
import type { AccountView } from '../claim.js';

export const d = (text: string): Decimal => Decimal.parse(text);
export const NOW = new Date('2026-06-01T12:00:00Z');
export const ago = (ms: number): Date => new Date(NOW.getTime() - ms);
/** Long enough ago for anything to be looked at. */
export const LONG_AGO = ago(1_800_000);
const PROFILE = '11111111-1111-4111-8111-111111111111';
const TRADE = '22222222-2222-4222-8222-222222222222';

/** An entry of 10 at 100 that works, as our tables know it. */
export function ourOrder(changes: Partial<AccountOrder> = {}): AccountOrder {
  return {
    ...{ orderId: 'v1', clientOrderId: 'test-1', profileId: PROFILE, tradeId: TRADE, purpose: 'entry' },
    ...{ symbol: 'BTC/USD', side: 'buy', quantity: d('10'), limitPrice: d('100'), status: 'open' },
    ...{ filledQuantity: d('0'), bookedQuantity: d('0'), isSettled: false },
    ...{ createdAt: LONG_AGO, recordedAt: LONG_AGO },
    ...changes,
  };
}

/** The same order as the venue knows it. */
export function theirOrder(changes: Partial<Order> = {}): Order {
  return {
    ...{ venueOrderId: 'v1', clientOrderId: 'test-1', symbol: 'BTC/USD', side: 'buy', type: 'limit' },
    ...{ quantity: d('10'), limitPrice: d('100'), filledQuantity: d('0'), status: 'open' },
    ...{ createdAt: LONG_AGO, updatedAt: LONG_AGO },
    ...changes,
  };
}

export function ourFill(changes: Partial<AccountFill> = {}): AccountFill {
  return {
    ...{ orderId: 'v1', fillId: 'f1', profileId: PROFILE, tradeId: TRADE, symbol: 'BTC/USD', side: 'buy' },
    ...{ quantity: d('4'), price: d('100'), feeAmount: d('0.1'), feeAsset: 'USD' },
    ...{ happenedAt: LONG_AGO, recordedAt: LONG_AGO },
    ...changes,
  };
}

export function theirFill(changes: Partial<Fill> = {}): Fill {
  return {
    ...{ fillId: 'f1', venueOrderId: 'v1', symbol: 'BTC/USD', side: 'buy', quantity: d('4'), price: d('100') },
    ...{ fee: { amount: d('0.1'), asset: 'USD' }, happenedAt: LONG_AGO },
    ...changes,
  };
}

export function owner(changes: Partial<IntentOwner> = {}): IntentOwner {
  return {
    ...{ clientOrderId: 'test-1', profileId: PROFILE, tradeId: TRADE, symbol: 'BTC/USD', purpose: 'entry' },
    ...{ state: 'pending', ageMs: 1_800_000 },
    ...changes,
  };
}

/** Both sides, of which whatever is not said is empty. */
export function viewOf(parts: {
  readonly ours?: readonly AccountOrder[];
  readonly theirs?: readonly Order[];
  readonly ourFills?: readonly AccountFill[];
  readonly theirFills?: readonly Fill[];
  readonly owners?: readonly IntentOwner[];
}): AccountView {
  return {
    readAt: NOW,
    venueOrders: parts.theirs ?? [],
    venueFills: parts.theirFills ?? [],
    listedFills: { since: ago(3_600_000), symbols: new Set(['BTC/USD']) },
    orders: new Map((parts.ours ?? []).map((order) => [order.orderId, order])),
    fills: parts.ourFills ?? [],
    owners: new Map((parts.owners ?? []).map((each) => [each.clientOrderId, each])),
    hasOurMark: (id) => id.startsWith('test-'),
  };
}
