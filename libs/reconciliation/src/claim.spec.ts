import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareAccount, type AccountView } from './claim.js';
import { ago, d, LONG_AGO, NOW, ourFill, ourOrder, owner, theirFill, theirOrder, viewOf } from './testing/samples.js';

const PATIENCE = { submitWindowMs: 60_000, settleMs: 10_000 };
const booked = { filledQuantity: d('4'), bookedQuantity: d('4'), status: 'partially-filled' } as const;
const filled = { filledQuantity: d('4'), status: 'partially-filled' } as const;

function seen(view: AccountView) {
  const { claims, foreign, leftAlone } = compareAccount(view, PATIENCE);
  return { claims: claims.map(({ what }) => what), foreign: foreign.length, leftAlone };
}

const NOTHING = { claims: [], foreign: 0, leftAlone: 0 };
const young = ago(59_999);
const justNow = ago(9_999);

describe('finds nothing', () => {
  it.each([
    ['in two empty accounts', viewOf({})],
    ['where both say the same', viewOf({ ours: [ourOrder()], theirs: [theirOrder()] })],
    [
      'where both say the same of fills',
      viewOf({
        ours: [ourOrder(booked)],
        theirs: [theirOrder(filled)],
        ourFills: [ourFill()],
        theirFills: [theirFill()],
      }),
    ],
    [
      'in a settled order that is not listed any more',
      viewOf({ ours: [ourOrder({ isSettled: true, status: 'filled' })] }),
    ],
    [
      'in a fee that the venue does not tell',
      viewOf({
        ...{ ours: [ourOrder(booked)], theirs: [theirOrder(filled)], ourFills: [ourFill()] },
        theirFills: [{ ...theirFill(), fee: undefined } as never],
      }),
    ],
    [
      'in a price that only one of them tells',
      viewOf({ ours: [ourOrder()], theirs: [{ ...theirOrder(), limitPrice: undefined } as never] }),
    ],
    [
      'in a fill from before the list begins',
      viewOf({ ours: [ourOrder({ ...booked, isSettled: true })], ourFills: [ourFill({ happenedAt: ago(3_600_001) })] }),
    ],
    [
      'in a fill of a symbol that is not listed',
      viewOf({ ours: [ourOrder({ ...booked, isSettled: true })], ourFills: [ourFill({ symbol: 'ETH/USD' })] }),
    ],
    ['in fills of others', viewOf({ theirFills: [theirFill({ venueOrderId: 'other' })] })],
  ])('%s', (_, view) => {
    expect(seen(view)).toEqual(NOTHING);
  });
});

type Claimed = readonly [found: string, what: string, view: AccountView];

const CLAIMED: readonly Claimed[] = [
  ['an order that is not listed', 'unlisted', viewOf({ ours: [ourOrder()] })],
  ['another filled quantity', 'differs', viewOf({ ours: [ourOrder()], theirs: [theirOrder(filled)] })],
  [
    'an order whose fills are not whole',
    'differs',
    viewOf({ ours: [ourOrder({ ...booked, bookedQuantity: d('3') })], theirs: [theirOrder(filled)] }),
  ],
  ['one that ended', 'differs', viewOf({ ours: [ourOrder()], theirs: [theirOrder({ status: 'expired' })] })],
  ['one that waits no more', 'differs', viewOf({ ours: [ourOrder({ status: 'pending' })], theirs: [theirOrder()] })],
  [
    'one that should be over',
    'differs',
    viewOf({ ours: [ourOrder({ status: 'cancelled', isSettled: true })], theirs: [theirOrder()] }),
  ],
  ['another quantity', 'differs', viewOf({ ours: [ourOrder()], theirs: [theirOrder({ quantity: d('9') })] })],
  ['another price', 'differs', viewOf({ ours: [ourOrder()], theirs: [theirOrder({ limitPrice: d('99') })] })],
  ['another side', 'differs', viewOf({ ours: [ourOrder()], theirs: [theirOrder({ side: 'sell' })] })],
  ['another symbol', 'differs', viewOf({ ours: [ourOrder()], theirs: [theirOrder({ symbol: 'ETH/USD' })] })],
  [
    'another client order id',
    'differs',
    viewOf({ ours: [ourOrder()], theirs: [theirOrder({ clientOrderId: 'test-2' })] }),
  ],
  ...(['pending', 'unknown', 'rejected'] as const).map(
    (state) =>
      [
        `an order of an intent that is ${state}`,
        'unrecorded',
        viewOf({ theirs: [theirOrder()], owners: [owner({ state })] }),
      ] as const,
  ),
  ['a second order of an intent', 'stray', viewOf({ theirs: [theirOrder()], owners: [owner({ state: 'confirmed' })] })],
  ['an order with our mark', 'stray', viewOf({ theirs: [theirOrder()] })],
  ...(
    [
      { quantity: d('3') },
      { price: d('101') },
      { fee: { amount: d('0.2'), asset: 'USD' } },
      { fee: { amount: d('0.1'), asset: 'BTC' } },
      { fillId: 'f2' },
    ] as const
  ).map(
    (change) =>
      [
        `a fill that is listed with ${JSON.stringify(change)}`,
        'fill-differs',
        viewOf({
          ours: [ourOrder(booked)],
          theirs: [theirOrder(filled)],
          ourFills: 'fillId' in change ? [] : [ourFill()],
          theirFills: [theirFill(change)],
        }),
      ] as const,
  ),
  [
    'a fill that is not listed',
    'fill-unlisted',
    viewOf({ ours: [ourOrder(booked)], theirs: [theirOrder(filled)], ourFills: [ourFill()] }),
  ],
];

describe('claims', () => {
  it.each(CLAIMED)('%s as %s', (_, what, view) => {
    expect(seen(view)).toEqual({ ...NOTHING, claims: [what] });
  });

  it('no fill of an order that is claimed anyway', () => {
    const view = viewOf({ ours: [ourOrder()], theirs: [theirOrder(filled)], theirFills: [theirFill()] });
    expect(seen(view)).toEqual({ ...NOTHING, claims: ['differs'] });
  });

  it('an order once that is in both lists, by the later one', () => {
    const view = viewOf({
      ours: [ourOrder()],
      theirs: [theirOrder(filled), theirOrder({ ...filled, status: 'cancelled' })],
    });
    expect(compareAccount(view, PATIENCE).claims).toMatchObject([
      { what: 'differs', reported: { status: 'cancelled' } },
    ]);
  });

  it('nothing of an order without our mark, which is counted as foreign', () => {
    const theirs = [theirOrder({ clientOrderId: 'by-hand' }), theirOrder({ venueOrderId: 'v2', clientOrderId: '' })];
    expect(seen(viewOf({ theirs }))).toEqual({ ...NOTHING, foreign: 2 });
  });
});

describe('leaves alone', () => {
  it.each([
    ['an order that we know for less than the submit window', viewOf({ ours: [ourOrder({ recordedAt: young })] })],
    [
      'an order that is not listed and was booked a moment ago',
      viewOf({ ours: [ourOrder(booked)], ourFills: [ourFill({ recordedAt: justNow, happenedAt: ago(7_200_000) })] }),
    ],
    [
      'an order that moved a moment ago',
      viewOf({ ours: [ourOrder()], theirs: [theirOrder({ ...filled, updatedAt: justNow })] }),
    ],
    [
      'an order that was settled a moment ago',
      viewOf({
        ours: [ourOrder({ status: 'cancelled', isSettled: true, settledAt: justNow })],
        theirs: [theirOrder()],
      }),
    ],
    [
      'an order that was booked a moment ago',
      viewOf({ ours: [ourOrder(booked)], theirs: [theirOrder()], ourFills: [ourFill({ recordedAt: justNow })] }),
    ],
    ['an intent within the submit window', viewOf({ theirs: [theirOrder()], owners: [owner({ ageMs: 59_999 })] })],
    ['an order with our mark from within the submit window', viewOf({ theirs: [theirOrder({ createdAt: young })] })],
    [
      'a fill that was booked a moment ago',
      viewOf({
        ours: [ourOrder({ ...booked, isSettled: true, status: 'cancelled' })],
        ourFills: [ourFill({ recordedAt: justNow })],
      }),
    ],
    [
      'a fill that happened a moment ago',
      viewOf({
        ours: [ourOrder({ ...booked, isSettled: true, status: 'cancelled' })],
        theirFills: [theirFill({ happenedAt: justNow })],
      }),
    ],
  ])('%s', (_, view) => {
    expect(seen(view)).toEqual({ ...NOTHING, leftAlone: 1 });
    const later = { ...view, readAt: new Date(NOW.getTime() + PATIENCE.submitWindowMs) };
    const owners = new Map([...view.owners].map(([id, each]) => [id, { ...each, ageMs: each.ageMs + 60_000 }]));
    expect(seen({ ...later, owners })).toMatchObject({ leftAlone: 0, claims: [expect.any(String)] });
  });

  it('what we wrote down after the reading had begun, however long it took', () => {
    const ours = [ourOrder({ recordedAt: ago(-3_600_000) })];
    expect(seen(viewOf({ ours }))).toEqual({ ...NOTHING, leftAlone: 1 });
  });

  it('not for ever what the venue says will happen in an hour', () => {
    const view = viewOf({ ours: [ourOrder()], theirs: [theirOrder({ ...filled, updatedAt: ago(-3_600_000) })] });
    expect(seen(view)).toEqual({ ...NOTHING, claims: ['differs'] });
  });

  it('what the clock of the venue says will happen a moment from now', () => {
    const view = viewOf({ ours: [ourOrder()], theirs: [theirOrder({ ...filled, updatedAt: ago(-9_999) })] });
    expect(seen(view)).toEqual({ ...NOTHING, leftAlone: 1 });
  });
});

it('says the same of the same view, in whatever order it is given', () => {
  const statuses = ['pending', 'open', 'partially-filled', 'filled', 'cancelled'] as const;
  const time = fc.constantFrom(LONG_AGO, young, justNow);
  const id = fc.constantFrom('v1', 'v2', 'v3', 'v4');
  const amount = fc.constantFrom(d('0'), d('4'), d('10'));
  const order = fc.record({ id, status: fc.constantFrom(...statuses), amount, time });
  const view = fc.record({
    ours: fc.uniqueArray(order, { selector: (each) => each.id }),
    theirs: fc.uniqueArray(order, { selector: (each) => each.id }),
    fills: fc.uniqueArray(fc.record({ id, time, fill: fc.constantFrom('f1', 'f2') }), {
      selector: (each) => each.id + each.fill,
    }),
  });
  const build = ({
    ours,
    theirs,
    fills,
  }: {
    ours: readonly Sample[];
    theirs: readonly Sample[];
    fills: readonly { id: string; time: Date; fill: string }[];
  }) =>
    viewOf({
      ours: ours.map(({ id: orderId, status, amount: filledQuantity, time: recordedAt }) =>
        ourOrder({ orderId, status, filledQuantity, bookedQuantity: filledQuantity, recordedAt }),
      ),
      theirs: theirs.map(({ id: venueOrderId, status, amount: filledQuantity, time: updatedAt }) =>
        theirOrder({ venueOrderId, status, filledQuantity, updatedAt }),
      ),
      ourFills: fills.slice(1).map(({ id: orderId, fill: fillId }) => ourFill({ orderId, fillId })),
      theirFills: fills.map(({ id: venueOrderId, fill: fillId, time: happenedAt }) =>
        theirFill({ venueOrderId, fillId, happenedAt }),
      ),
    });
  const names = (given: AccountView): string[] =>
    compareAccount(given, PATIENCE)
      .claims.map((claim) => `${claim.what} ${'order' in claim ? claim.order.orderId : claim.reported.venueOrderId}`)
      .toSorted();
  fc.assert(
    fc.property(view, (given) => {
      const backwards = { ours: given.ours.toReversed(), theirs: given.theirs.toReversed(), fills: given.fills };
      expect(compareAccount(build(given), PATIENCE)).toEqual(compareAccount(build(given), PATIENCE));
      expect(names(build(backwards))).toEqual(names(build(given)));
    }),
    { numRuns: 500 },
  );
});

interface Sample {
  readonly id: string;
  readonly status: 'pending' | 'open' | 'partially-filled' | 'filled' | 'cancelled';
  readonly amount: ReturnType<typeof d>;
  readonly time: Date;
}
