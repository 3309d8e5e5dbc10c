import { describe, expect, it } from 'vitest';
import type { AccountOrder } from '#libs/lifecycle';
import type { Fill, Order } from '#libs/venues';
import type { Claim } from './claim.js';
import { isGap, judge, type Proof } from './judge.js';
import { KINDS, RULES } from './rules.js';
import { d, ourFill, ourOrder, owner, theirFill, theirOrder } from './testing/samples.js';

const OWNER = { profileId: owner().profileId, tradeId: owner().tradeId };
const filled = (status: Order['status'] = 'partially-filled') => ({ filledQuantity: d('4'), status }) as const;
const booked = { filledQuantity: d('4'), bookedQuantity: d('4'), status: 'partially-filled' } as const;
const found = (order: Order, ...fills: Fill[]): Proof => ({ lookup: { outcome: 'found', order }, fills });
const notFound = (...fills: Fill[]): Proof => ({ lookup: { outcome: 'not-found' }, fills });
const unlisted = (order: AccountOrder): Claim => ({ what: 'unlisted', order });
const differs = (order: AccountOrder): Claim => ({ what: 'differs', order, reported: theirOrder(filled()) });
const verdict = (claim: Claim, proof: Proof) =>
  judge(claim, proof, { venue: 'paper', ownerOf: (id) => (id === 'test-1' ? OWNER : undefined) });

describe('a claim is dropped', () => {
  it.each([
    ['when the second look shows no difference', differs(ourOrder()), found(theirOrder())],
    [
      'when an unrecorded order is not there',
      { what: 'unrecorded', owner: owner(), reported: theirOrder() },
      notFound(),
    ],
    ['when a stray order is not there', { what: 'stray', reported: theirOrder() }, notFound()],
    [
      'when a fill is as booked after all',
      { what: 'fill-differs', order: ourOrder(booked), fill: ourFill(), reported: theirFill({ price: d('1') }) },
      found(theirOrder(filled()), theirFill()),
    ],
    [
      'when a fill is listed after all',
      { what: 'fill-unlisted', order: ourOrder(booked), fill: ourFill() },
      found(theirOrder(filled()), theirFill()),
    ],
    [
      'when a fill is not listed any more',
      { what: 'fill-differs', order: ourOrder(booked), reported: theirFill() },
      found(theirOrder(filled())),
    ],
    ['when a settled order is forgotten', differs(ourOrder({ isSettled: true, status: 'cancelled' })), notFound()],
  ] satisfies [string, Claim, Proof][])('%s', (_, claim, proof) => {
    expect(verdict(claim, proof)).toBe('nothing');
  });

  it('not, while the venue is silent', () => {
    const lookup = { outcome: 'unknown', reason: 'timeout', message: '' } as const;
    expect(verdict(unlisted(ourOrder()), { lookup, fills: [theirFill()] })).toBe('unproved');
  });
});

/** Each rule by what the second look shows. */
const JUDGED: [keyof typeof RULES, string, Claim, Proof][] = [
  ['entry-fill', 'filled further', differs(ourOrder()), found(theirOrder(filled()), theirFill())],
  ['entry-fill', 'filled and ended', differs(ourOrder()), found(theirOrder(filled('cancelled')), theirFill())],
  ['entry-fill', 'forgotten, with fills', unlisted(ourOrder()), notFound(theirFill())],
  [
    'entry-fill',
    'told of and not booked',
    differs(ourOrder({ ...booked, bookedQuantity: d('0') })),
    found(theirOrder(filled()), theirFill()),
  ],
  [
    'entry-fill',
    'a late fill',
    { what: 'fill-differs', order: ourOrder({ isSettled: true, status: 'cancelled' }), reported: theirFill() },
    found(theirOrder(filled('cancelled')), theirFill()),
  ],
  [
    'entry-fill',
    'a late fill of an order that is forgotten',
    { what: 'fill-differs', order: ourOrder({ isSettled: true, status: 'cancelled' }), reported: theirFill() },
    notFound(theirFill()),
  ],
  ['exit-fill', 'filled further', differs(ourOrder({ purpose: 'exit' })), found(theirOrder(filled()), theirFill())],
  ['exit-fill', 'forgotten, with fills', unlisted(ourOrder({ purpose: 'exit' })), notFound(theirFill())],
  ['cancel', 'ended', differs(ourOrder()), found(theirOrder({ status: 'rejected' }))],
  ['cancel', 'ended, and not listed', unlisted(ourOrder()), found(theirOrder({ status: 'expired' }))],
  ['status', 'works by now', differs(ourOrder({ status: 'pending' })), found(theirOrder())],
  ['log-order', 'of an intent', { what: 'unrecorded', owner: owner(), reported: theirOrder() }, found(theirOrder())],
  ['vanished-entry', 'forgotten', unlisted(ourOrder()), notFound()],
  ['vanished-entry', 'forgotten, with the fills that we know', unlisted(ourOrder(booked)), notFound(theirFill())],
  ['vanished-exit', 'forgotten', unlisted(ourOrder({ purpose: 'exit' })), notFound()],
  ['overstated', 'filled less than is booked', differs(ourOrder(booked)), found(theirOrder())],
  ['overstated', 'filled less than we were told', differs(ourOrder({ filledQuantity: d('4') })), found(theirOrder())],
  ['overstated', 'forgotten, without what is booked', unlisted(ourOrder(booked)), notFound()],
  [
    'overstated',
    'forgotten, without what we were told of',
    unlisted(ourOrder({ ...booked, filledQuantity: d('5') })),
    notFound(theirFill()),
  ],
  [
    'extra-fill',
    'not listed',
    { what: 'fill-unlisted', order: ourOrder(booked), fill: ourFill() },
    found(theirOrder(filled())),
  ],
  [
    'fill-differs',
    'another price',
    { what: 'fill-differs', order: ourOrder(booked), fill: ourFill(), reported: theirFill() },
    found(theirOrder(filled()), theirFill({ price: d('1') })),
  ],
  [
    'fill-differs',
    'listed and not booked',
    { what: 'fill-differs', order: ourOrder(booked), reported: theirFill() },
    found(theirOrder(filled()), theirFill()),
  ],
  ['order-differs', 'another quantity', differs(ourOrder()), found(theirOrder({ quantity: d('11') }))],
  ['order-differs', 'another order under its id', unlisted(ourOrder()), found(theirOrder({ venueOrderId: 'v2' }))],
  ['order-differs', 'before anything else', differs(ourOrder(booked)), found(theirOrder({ side: 'sell' }))],
  ['reopened', 'works again', differs(ourOrder({ isSettled: true, status: 'cancelled' })), found(theirOrder())],
  ['stray-order', 'with a mark', { what: 'stray', reported: theirOrder() }, found(theirOrder())],
  [
    'stray-order',
    'a second one',
    { what: 'stray', reported: theirOrder({ venueOrderId: 'v2' }), owner: owner({ state: 'confirmed' }) },
    found(theirOrder({ venueOrderId: 'v2' })),
  ],
];

describe('a claim is judged', () => {
  it.each(JUDGED)('%s: %s', (kind, _, claim, proof) => {
    const { number: rule, action } = RULES[kind];
    const judged = verdict(claim, proof);
    expect(judged).toMatchObject({ ...{ venue: 'paper', kind, rule, action, symbol: 'BTC/USD' }, ...OWNER });
    // Only what is carried into the tables says what to carry.
    expect(typeof judged !== 'string' && judged.report !== undefined).toBe(action === 'apply');
    expect(verdict(claim, proof)).toEqual(judged);
  });

  it('by each rule of orders and fills', () => {
    expect(KINDS.filter((kind) => !kind.startsWith('holding-') && !JUDGED.some(([of]) => of === kind))).toEqual([]);
  });

  it('with both sides as evidence', () => {
    expect(verdict(differs(ourOrder()), found(theirOrder(filled()), theirFill()))).toMatchObject({
      recorded: {
        orderId: 'v1',
        status: 'open',
        quantity: '10',
        limitPrice: '100',
        filledQuantity: '0',
        bookedQuantity: '0',
      },
      reported: { orderId: 'v1', status: 'partially-filled', quantity: '10', limitPrice: '100', filledQuantity: '4' },
    });
  });

  it('ends an entry that is forgotten with what the venue filled of it', () => {
    const all = theirFill({ quantity: d('10') });
    const report = (...fills: Fill[]) => verdict(unlisted(ourOrder()), notFound(...fills));
    expect(report()).toMatchObject({ report: { order: { status: 'cancelled', filledQuantity: d('0') } } });
    expect(report(theirFill())).toMatchObject({ report: { order: { status: 'cancelled', filledQuantity: d('4') } } });
    expect(report(all)).toMatchObject({
      report: { order: { status: 'filled', filledQuantity: d('10') }, fills: [all] },
    });
  });

  it('knows the owner of a stray order only where the id names one that exists', () => {
    const stray = theirOrder({ clientOrderId: 'test-unknown' });
    const judged = verdict({ what: 'stray', reported: stray }, found(stray));
    expect(judged).toMatchObject({ kind: 'stray-order', orderId: 'v1' });
    expect(judged).not.toHaveProperty('profileId');
  });
});

describe('a gap', () => {
  const open = { outcome: 'found', order: theirOrder() } as const;

  it('is an open order that the list of open orders lacks, whatever it says of the rest', () => {
    expect(isGap(unlisted(ourOrder()), open)).toBe(true);
    expect(isGap(unlisted(ourOrder()), { ...open, order: theirOrder(filled()) })).toBe(true);
  });

  it('is not one that has ended, one that is not found, or another order', () => {
    expect(isGap(unlisted(ourOrder()), { ...open, order: theirOrder({ status: 'filled' }) })).toBe(false);
    expect(isGap(unlisted(ourOrder()), { outcome: 'not-found' })).toBe(false);
    expect(isGap(unlisted(ourOrder()), { outcome: 'unknown', reason: 'timeout', message: '' })).toBe(false);
    expect(isGap(unlisted(ourOrder()), { ...open, order: theirOrder({ venueOrderId: 'v2' }) })).toBe(false);
    expect(isGap(differs(ourOrder()), open)).toBe(false);
  });
});
