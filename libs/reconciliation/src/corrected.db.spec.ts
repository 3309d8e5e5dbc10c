import { expect, it } from 'vitest';
import { d, setupReconciliation, SYMBOL } from './testing/setup.js';

type World = Awaited<ReturnType<typeof setupReconciliation>>;

interface Case {
  readonly difference: string;
  /** Brings the two sides apart; resolves with whose trade it is. */
  readonly make: (world: World, profileId: string) => Promise<{ tradeId: string; orderId: string }>;
  readonly kind: string;
  readonly rule: number;
  readonly recorded: object | null;
  readonly reported: object;
  /** The trade, what it holds, and orders, positions, pnl, available of the ledger, after the sweep. */
  readonly state: string;
  readonly holds: string;
  readonly balances: readonly string[];
}

/** Of a purchase of 10 at 100, for which 1005 is reserved out of 10000. */
const CASES: Case[] = [
  {
    difference: 'a fill of an entry that we were not told of',
    make: async ({ enter, fillUnseen }, profileId) => {
      const entered = await enter(profileId);
      fillUnseen(entered.orderId, 'f1', '4');
      return entered;
    },
    ...{ kind: 'entry-fill', rule: 1, state: 'entering', holds: '4', balances: ['603', '400', '0', '8997'] },
    recorded: { filledQuantity: '0', bookedQuantity: '0', status: 'open' },
    reported: { filledQuantity: '4', status: 'partially-filled' },
  },
  {
    difference: 'the last of several fills of an entry, with fees in what was bought and in money',
    make: async ({ enter, fillUnseen, tell }, profileId) => {
      const entered = await enter(profileId);
      fillUnseen(entered.orderId, 'f1', '4', { fee: { amount: d('0.004'), asset: 'BTC' } });
      await tell(entered.orderId);
      fillUnseen(entered.orderId, 'f2', '1', { price: d('99'), fee: { amount: d('0.1'), asset: 'USD' } });
      fillUnseen(entered.orderId, 'f3', '5', { price: d('98') });
      return entered;
    },
    ...{ kind: 'entry-fill', rule: 1, state: 'open', holds: '9.996', balances: ['0', '988.6', '-0.5', '9010.9'] },
    recorded: { filledQuantity: '4', bookedQuantity: '4', status: 'partially-filled' },
    reported: { filledQuantity: '10', status: 'filled' },
  },
  {
    difference: 'a fill of an exit that we were not told of',
    make: async ({ buy, exit, fillUnseen }, profileId) => {
      const { tradeId } = await buy(profileId);
      const { orderId } = await exit({ profileId, tradeId });
      fillUnseen(orderId, 'x1', '10', { price: d('110') });
      return { tradeId, orderId };
    },
    ...{ kind: 'exit-fill', rule: 2, state: 'closed', holds: '0', balances: ['0', '0', '100', '10100'] },
    recorded: { filledQuantity: '0', status: 'open', side: 'sell' },
    reported: { filledQuantity: '10', status: 'filled' },
  },
  {
    difference: 'an entry that the venue has cancelled',
    make: async ({ account, enter }, profileId) => {
      const entered = await enter(profileId);
      account.change(entered.orderId, { status: 'cancelled' });
      return entered;
    },
    ...{ kind: 'cancel', rule: 3, state: 'cancelled', holds: '0', balances: ['0', '0', '0', '10000'] },
    recorded: { status: 'open' },
    reported: { status: 'cancelled', filledQuantity: '0' },
  },
  {
    difference: 'an exit that has expired',
    make: async ({ account, buy, exit }, profileId) => {
      const { tradeId } = await buy(profileId);
      const { orderId } = await exit({ profileId, tradeId });
      account.change(orderId, { status: 'expired' });
      return { tradeId, orderId };
    },
    ...{ kind: 'cancel', rule: 3, state: 'open', holds: '10', balances: ['0', '1000', '0', '9000'] },
    recorded: { status: 'open' },
    reported: { status: 'expired' },
  },
  {
    difference: 'an entry that was filled in part and cancelled, neither of which we were told',
    make: async ({ account, enter, fillUnseen }, profileId) => {
      const entered = await enter(profileId);
      fillUnseen(entered.orderId, 'f1', '4', {});
      account.change(entered.orderId, { status: 'cancelled' });
      return entered;
    },
    ...{ kind: 'entry-fill', rule: 1, state: 'open', holds: '4', balances: ['0', '400', '0', '9600'] },
    recorded: { status: 'open' },
    reported: { status: 'cancelled', filledQuantity: '4' },
  },
  {
    difference: 'a fill whose order was told of without it',
    make: async ({ account, lifecycle, enter, fillUnseen }, profileId) => {
      const entered = await enter(profileId);
      fillUnseen(entered.orderId, 'f1', '10');
      await lifecycle.apply({ venue: 'paper', source: 'stream' }, { order: account.get(entered.orderId) });
      return entered;
    },
    ...{ kind: 'entry-fill', rule: 1, state: 'open', holds: '10', balances: ['0', '1000', '0', '9000'] },
    recorded: { status: 'filled', filledQuantity: '10', bookedQuantity: '0' },
    reported: { status: 'filled', filledQuantity: '10' },
  },
  {
    difference: 'an entry that the venue does not know at all',
    make: async ({ account, enter }, profileId) => {
      const entered = await enter(profileId);
      account.purged.add(entered.orderId);
      return entered;
    },
    ...{ kind: 'vanished-entry', rule: 6, state: 'cancelled', holds: '0', balances: ['0', '0', '0', '10000'] },
    recorded: { status: 'open' },
    reported: { status: 'not found', filledQuantity: '0' },
  },
  {
    difference: 'an entry that the venue has forgotten after it filled some of it, as we know',
    make: async ({ account, enter, fillUnseen, tell }, profileId) => {
      const entered = await enter(profileId);
      fillUnseen(entered.orderId, 'f1', '4');
      await tell(entered.orderId);
      account.purged.add(entered.orderId);
      return entered;
    },
    ...{ kind: 'vanished-entry', rule: 6, state: 'open', holds: '4', balances: ['0', '400', '0', '9600'] },
    recorded: { status: 'partially-filled', bookedQuantity: '4' },
    reported: { status: 'not found', filledQuantity: '4' },
  },
  {
    difference: 'an entry that the venue has forgotten after it filled some of it, which we were not told',
    make: async ({ account, enter, fillUnseen }, profileId) => {
      const entered = await enter(profileId);
      fillUnseen(entered.orderId, 'f1', '4');
      account.purged.add(entered.orderId);
      return entered;
    },
    ...{ kind: 'entry-fill', rule: 1, state: 'open', holds: '4', balances: ['0', '400', '0', '9600'] },
    recorded: { status: 'open', bookedQuantity: '0' },
    reported: { status: 'not found', filledQuantity: '4' },
  },
  {
    difference: 'an exit that the venue has forgotten after it filled all of it',
    make: async ({ account, buy, exit, fillUnseen }, profileId) => {
      const { tradeId } = await buy(profileId);
      const { orderId } = await exit({ profileId, tradeId });
      fillUnseen(orderId, 'x1', '10');
      account.purged.add(orderId);
      return { tradeId, orderId };
    },
    ...{ kind: 'exit-fill', rule: 2, state: 'closed', holds: '0', balances: ['0', '0', '0', '10000'] },
    recorded: { status: 'open' },
    reported: { status: 'not found', filledQuantity: '10' },
  },
  {
    difference: 'an order that waited and works by now',
    make: async ({ account, enter }, profileId) => {
      account.status = 'pending';
      const entered = await enter(profileId);
      account.change(entered.orderId, { status: 'open' });
      return entered;
    },
    ...{ kind: 'status', rule: 4, state: 'entering', holds: '0', balances: ['1005', '0', '0', '8995'] },
    recorded: { status: 'pending' },
    reported: { status: 'open' },
  },
];

it.each(CASES)('$difference is corrected by rule $rule, at the first sweep and once', async (each) => {
  const world = await setupReconciliation();
  const { newProfile, sweep, sweepQuietly, trade, corrections, balances, contradictions, halts } = world;
  const [profileId, bystander] = [await newProfile(), await newProfile()];
  await world.enter(bystander);
  await sweep();
  const { tradeId, orderId } = await each.make(world, profileId);
  expect(await sweep()).toMatchObject({ outcome: 'corrected', figures: { mismatches: 1, corrected: 1, leftAlone: 0 } });
  expect(await corrections()).toEqual([
    expect.objectContaining({
      ...{ kind: each.kind, rule: each.rule, state: 'applied', profileId, tradeId, orderId, symbol: SYMBOL, times: 1 },
      recorded: expect.objectContaining(each.recorded),
      reported: expect.objectContaining(each.reported),
    }),
  ]);
  expect(await trade(profileId, tradeId)).toMatchObject({ state: each.state, positionQuantity: d(each.holds) });
  expect(await balances(profileId)).toEqual(each.balances);
  expect(await sweepQuietly()).toMatchObject({ outcome: 'clean', figures: { mismatches: 0, openQuestions: 0 } });
  for (const id of [profileId, bystander]) expect(await contradictions(id)).toEqual([]);
  expect(await halts()).toEqual([]);
});

it('a fill that comes after its order had ended is booked, and the trade is disputed and its symbol halted', async () => {
  const { account, newProfile, buy, fillUnseen, sweep, sweepQuietly, trade, corrections, ...world } =
    await setupReconciliation();
  const profileId = await newProfile();
  const { tradeId, orderId } = await buy(profileId);
  await sweep();
  fillUnseen(orderId, 'late-1', '1');
  fillUnseen(orderId, 'late-2', '1');
  // Created too long ago to be listed among those that ended.
  account.change(orderId, { createdAt: new Date(0) });
  expect(await sweep()).toMatchObject({ figures: { mismatches: 1, corrected: 1 } });
  expect(await corrections()).toMatchObject([{ kind: 'entry-fill', times: 1, orderId }]);
  expect(await trade(profileId, tradeId)).toMatchObject({ state: 'disputed', positionQuantity: d('12') });
  expect(await world.halts()).toEqual([`symbol ${SYMBOL.toLowerCase()}`]);
  await sweepQuietly();
  expect(await world.contradictions(profileId)).toEqual([]);
});
