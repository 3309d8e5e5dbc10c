import { expect, it } from 'vitest';
import { d, setupReconciliation, SYMBOL } from './testing/setup.js';

type World = Awaited<ReturnType<typeof setupReconciliation>>;

interface Case {
  readonly difference: string;
  readonly make: (world: World, profileId: string) => Promise<{ orderId: string }>;
  readonly kind: string;
  readonly rule: number;
  readonly recorded: object | null;
  readonly reported: object | null;
  /** What a superuser broke in our tables is broken as long as nobody mends it. */
  readonly isBrokenByUs?: boolean;
}

/** As nobody but a person with all rights could, past every function and trigger. */
async function tamper({ admin }: World, sql: string): Promise<void> {
  await admin.query(`set session_replication_role = replica; ${sql}; set session_replication_role = origin`);
}

const CASES: Case[] = [
  {
    difference: 'an exit that the venue knows neither by its ids nor by fills',
    make: async ({ account, buy, exit }, profileId) => {
      const { tradeId } = await buy(profileId);
      const { orderId } = await exit({ profileId, tradeId });
      account.purged.add(orderId);
      return { orderId };
    },
    ...{ kind: 'vanished-exit', rule: 7, recorded: { status: 'open' }, reported: { status: 'not found' } },
  },
  {
    difference: 'a position for which the venue has no fills',
    make: async ({ account, enter, fillUnseen, tell }, profileId) => {
      const { orderId } = await enter(profileId);
      fillUnseen(orderId, 'f1', '4');
      await tell(orderId);
      account.fills.length = 0;
      account.change(orderId, { filledQuantity: d('0'), status: 'open' });
      return { orderId };
    },
    ...{ kind: 'overstated', rule: 8, recorded: { bookedQuantity: '4' }, reported: { filledQuantity: '0' } },
  },
  {
    difference: 'a fill in our tables alone',
    make: async (world, profileId) => {
      const { orderId } = await world.enter(profileId);
      world.fillUnseen(orderId, 'f1', '4');
      await world.tell(orderId);
      await tamper(
        world,
        `insert into fills (venue, order_id, fill_id, profile_id, trade_id, quantity, price, fee_amount, moved_quantity,
           moved_amount, source, happened_at)
         select venue, order_id, 'f-invented', profile_id, trade_id, 1, 100, 0, 0, 0, source, happened_at from fills`,
      );
      return { orderId };
    },
    ...{ kind: 'extra-fill', rule: 9, recorded: { fillId: 'f-invented', quantity: '1' }, reported: null },
  },
  ...(['quantity = 3', 'price = 101', `fee_amount = 1, fee_asset = 'USD'`] as const).map((change): Case => ({
    difference: `a fill booked with another ${change.split(' ')[0] ?? ''}`,
    make: async (world, profileId) => {
      const { orderId } = await world.enter(profileId);
      world.fillUnseen(orderId, 'f1', '4', { fee: { amount: d('0.1'), asset: 'USD' } });
      await world.tell(orderId);
      await tamper(world, `update fills set ${change}`);
      return { orderId };
    },
    ...{ kind: 'fill-differs', rule: 10, recorded: { fillId: 'f1' }, isBrokenByUs: change.startsWith('quantity') },
    reported: { fillId: 'f1', quantity: '4', price: '100', feeAmount: '0.1', feeAsset: 'USD' },
  })),
  ...(['quantity = 9', 'limit_price = 99'] as const).map((change): Case => ({
    difference: `an order recorded with another ${change}`,
    make: async (world, profileId) => {
      const { orderId } = await world.enter(profileId);
      await tamper(world, `update orders set ${change} where order_id = '${orderId}'`);
      return { orderId };
    },
    ...{ kind: 'order-differs', rule: 11, recorded: { status: 'open' } },
    reported: { quantity: '10', limitPrice: '100' },
  })),
  {
    difference: 'an order of ours that the venue knows as another one',
    make: async ({ account, enter }, profileId) => {
      const { orderId } = await enter(profileId);
      const order = account.get(orderId);
      account.orders.delete(orderId);
      account.set({ ...order, venueOrderId: 'renamed' });
      return { orderId };
    },
    ...{ kind: 'order-differs', rule: 11, recorded: { orderId: 'v2' }, reported: { orderId: 'renamed' } },
  },
  {
    difference: 'an order that has ended by our tables and works at the venue',
    make: async ({ account, enter, tell }, profileId) => {
      const { orderId } = await enter(profileId);
      account.change(orderId, { status: 'cancelled' });
      await tell(orderId);
      account.change(orderId, { status: 'open' });
      return { orderId };
    },
    ...{ kind: 'reopened', rule: 12, recorded: { status: 'cancelled, settled' }, reported: { status: 'open' } },
  },
];

it.each(CASES)('$difference is asked about by rule $rule, once, and changes nothing', async (each) => {
  const world = await setupReconciliation();
  const { newProfile, sweep, sweepQuietly, corrections, balances, contradictions, halts, admin } = world;
  const [profileId, bystander] = [await newProfile(), await newProfile()];
  await world.enter(bystander);
  await sweep();
  const { orderId } = await each.make(world, profileId);
  // What an account holds is not what these are about.
  for (const asset of ['BTC', 'USD'])
    await admin.query('delete from reconciliation_holdings where asset = $1', [asset]);
  const before = [await balances(profileId), (await admin.query('select * from orders order by order_id')).rows];

  expect(await sweep()).toMatchObject({
    outcome: 'corrected',
    figures: { corrected: 0, openQuestions: expect.any(Number) },
  });
  const found = (await corrections()).filter(({ orderId: of }) => of === orderId);
  expect(found).toEqual([
    expect.objectContaining({
      ...{ kind: each.kind, rule: each.rule, state: 'asked', profileId, times: 1, haltId: expect.any(String) },
      recorded: each.recorded && expect.objectContaining(each.recorded),
      reported: each.reported && expect.objectContaining(each.reported),
    }),
  ]);
  expect([await balances(profileId), (await admin.query('select * from orders order by order_id')).rows]).toEqual(
    before,
  );
  expect(await halts()).toContain(`symbol paper ${SYMBOL.toLowerCase()}`);

  const openQuestions = (await corrections()).filter(({ state }) => state === 'asked').length;
  expect(await sweepQuietly()).toMatchObject({ figures: { corrected: 0, openQuestions, mismatches: openQuestions } });
  expect(await contradictions(bystander)).toEqual([]);
  if (!each.isBrokenByUs) expect(await contradictions(profileId)).toEqual([]);
});
