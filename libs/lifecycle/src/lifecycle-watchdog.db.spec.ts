import { describe, expect, it } from 'vitest';
import { ManualClock } from '#libs/clock';
import { liftHalt, listHalts } from '#libs/ledger';
import { countTrades, LifecycleWatchdog, type LifecycleViolation } from '../index.js';
import { d, fillOf, orderOf, setupLifecycle, SYMBOL, VENUE } from './testing/setup.js';

async function setup(options: { poolSize?: number; capital?: string } = {}) {
  const kit = await setupLifecycle(options);
  const clock = new ManualClock();
  const told: LifecycleViolation[] = [];
  const newWatchdog = (profiles: readonly string[]) =>
    new LifecycleWatchdog({
      ...{ database: kit.database, clock, profiles, venue: VENUE, symbol: SYMBOL },
      observer: {
        violated: (violation) => told.push(violation),
        haltFailed: (_, error) => {
          throw error;
        },
      },
    });
  const tamper = async (sql: string) => {
    await kit.admin.query('set session_replication_role = replica');
    await kit.admin.query(sql);
    await kit.admin.query('set session_replication_role = origin');
  };
  /** A trade that holds 10. */
  const hold = async (profileId: string) => {
    const { tradeId, clientOrderId } = await kit.enter(profileId);
    await kit.apply({ fills: [fillOf(clientOrderId, 'f1', { quantity: d('10') })] });
    return { tradeId, clientOrderId };
  };
  const sell = async (profileId: string, tradeId: string) => {
    const exit = await kit.leave(profileId, tradeId, { quantity: '10' });
    const order = orderOf(exit.clientOrderId, { side: 'sell', filledQuantity: d('10'), status: 'filled' });
    const fill = fillOf(exit.clientOrderId, 'x1', { side: 'sell', quantity: d('10') });
    await kit.apply({ order, fills: [fill] });
  };
  const halts = (profileId: string) => kit.database.statement((tx) => listHalts(tx, { profileId }));
  return { ...kit, clock, told, newWatchdog, tamper, hold, sell, halts };
}

const WITHOUT_INDEXES = 'drop index one_active_entry; drop index one_active_trade';

describe('LifecycleWatchdog', () => {
  it('finds nothing wrong in trades that the functions wrote, at any point of their lives', async () => {
    const { newProfile, newWatchdog, begin, enter, hold, sell, told } = await setup();
    const [one, two, three, four] = [await newProfile(), await newProfile(), await newProfile(), await newProfile()];
    await begin(one);
    await enter(two);
    await hold(three);
    await sell(four, (await hold(four)).tradeId);
    expect([await newWatchdog([one, two, three, four]).runOnce(), told]).toEqual([[], []]);
  });

  it.each([
    ['a trade without an order', 'delete from fills; delete from orders', /has no order that the venue confirmed/],
    ['a fill that was not booked', `update fills set quantity = 9`, /^order v-\S+ is booked otherwise/],
    ['an order that was booked without fills', `update orders set booked_quantity = 9`, /^order v-\S+ is booked/],
    ['a position unlike its reservation', `update positions set quantity = 9`, /holds another quantity/],
    ['a position without a reservation', `delete from reservations`, /holds another quantity/],
    [
      'a second active entry',
      `${WITHOUT_INDEXES}; insert into entry_intents select profile_id, gen_random_uuid(), strategy, signal_id, amount,
         venue, 'btc/usd', side, type, time_in_force, quantity, limit_price, client_order_id || '2', actor, lock_token
         from entry_intents`,
      /^more than one entry is active in btc\/usd$/,
    ],
  ])('finds %s, tells it once, and halts the profile', async (_what, sql, problem) => {
    const { newProfile, newWatchdog, hold, tamper, told, halts, begin } = await setup();
    const profileId = await newProfile();
    const watchdog = newWatchdog([profileId]);
    await hold(profileId);
    expect(await watchdog.runOnce()).toEqual([]);
    await tamper(sql);
    await watchdog.runOnce();
    await watchdog.runOnce();
    expect(told).toMatchObject([{ profileId, problem: expect.stringMatching(problem) }]);
    expect(await halts(profileId)).toMatchObject([
      { scope: 'profile', createdBy: 'watchdog', reason: told[0]?.problem },
    ]);
    expect(await begin(profileId, { symbol: 'ETH/USD' })).toMatchObject({ verdict: 'halted' });
  });

  it('finds that a trade keeps a reservation after its end, or an intent that was rejected', async () => {
    const { newProfile, newWatchdog, hold, sell, begin, reject, tamper, told } = await setup();
    const [closed, rejected] = [await newProfile(), await newProfile()];
    const watchdog = newWatchdog([closed, rejected]);
    const { tradeId } = await hold(closed);
    await sell(closed, tradeId);
    const intent = await begin(rejected);
    const evidence = { asked: 'submit', answer: 'refused' } as const;
    await reject(intent, { lockToken: intent.lockToken, reason: 'refused', evidence, actor: 'test' });
    expect(await watchdog.runOnce()).toEqual([]);
    await tamper('update reservations set order_quantity = 1');
    await watchdog.runOnce();
    expect(told.map(({ problem }) => problem).sort()).toEqual(
      [tradeId, intent.tradeId].map((id) => `trade ${id} has ended and keeps a reservation`).sort(),
    );
  });

  it('looks at an old trade until some time after its end, and at no other that ended', async () => {
    const { newProfile, newWatchdog, hold, sell, tamper, clock } = await setup();
    const profileId = await newProfile();
    const watchdog = newWatchdog([profileId]);
    const { tradeId } = await hold(profileId);
    await tamper(`update entry_intents set created_at = now() - interval '3 days'`);
    await watchdog.runOnce();
    await sell(profileId, tradeId);
    await tamper('update reservations set order_quantity = 1');
    expect(await watchdog.runOnce()).toHaveLength(1);
    await clock.advance(600_001);
    expect(await watchdog.runOnce()).toEqual([]);
    expect(await newWatchdog([profileId]).runOnce()).toEqual([]);
  });

  it('leaves a halt lifted that a person lifted, and tells what was mended and comes back again', async () => {
    const { newProfile, newWatchdog, hold, tamper, told, halts, database } = await setup();
    const profileId = await newProfile();
    const watchdog = newWatchdog([profileId]);
    await hold(profileId);
    await tamper('update positions set quantity = 9');
    await watchdog.runOnce();
    const [halt] = await halts(profileId);
    await database.transaction((tx) => liftHalt(tx, halt?.haltId ?? ''));
    await watchdog.runOnce();
    expect(await halts(profileId)).toEqual([]);
    await tamper('update positions set quantity = 10');
    expect(await watchdog.runOnce()).toEqual([]);
    await tamper('update positions set quantity = 9');
    await watchdog.runOnce();
    expect([told.length, (await halts(profileId)).length]).toEqual([2, 1]);
  });

  it('raises nothing while trades live and die under its eyes: what it compares was committed together', async () => {
    const { newProfile, newWatchdog, enter, leave, apply, told, trade } = await setup({ poolSize: 12 });
    const profiles: string[] = [];
    while (profiles.length < 4) profiles.push(await newProfile('1000000'));
    const watchdog = newWatchdog(profiles);
    let isOver = false;
    const look = async () => {
      let looks = 0;
      for (; !isOver; looks += 1) expect(await watchdog.runOnce()).toEqual([]);
      return looks;
    };
    const live = async (profileId: string) => {
      for (let round = 0; round < 12; round += 1) {
        const { tradeId, clientOrderId } = await enter(profileId);
        const half = (fillId: string, of: string, side: 'buy' | 'sell') =>
          apply({ fills: [fillOf(of, fillId, { side, quantity: d('5') })] });
        await Promise.all([half('1', clientOrderId, 'buy'), half('2', clientOrderId, 'buy')]);
        const exit = await leave(profileId, tradeId, { quantity: '10' });
        await apply({ order: orderOf(exit.clientOrderId, { side: 'sell' }) });
        await Promise.all([half('1', exit.clientOrderId, 'sell'), half('2', exit.clientOrderId, 'sell')]);
        expect(await trade(profileId, tradeId)).toMatchObject({ state: 'closed' });
      }
    };
    const looking = [look(), look()];
    await Promise.all(profiles.map(live));
    isOver = true;
    for (const looks of await Promise.all(looking)) expect(looks).toBeGreaterThan(20);
    expect(told).toEqual([]);
  });
});

describe('countTrades', () => {
  it('counts positions, orders that may still be filled, and disputed trades of the given profiles', async () => {
    const { newProfile, hold, enter, leave, apply, database } = await setup();
    const [one, two, other] = [await newProfile(), await newProfile(), await newProfile()];
    const count = (profiles: readonly string[]) =>
      database.statement((tx) => countTrades(tx, { venue: VENUE, symbol: SYMBOL, profiles }));
    expect(await count([one, two])).toEqual({ open: 0, workingOrders: 0, disputed: 0 });
    const { tradeId } = await hold(one);
    const exit = await leave(one, tradeId, { quantity: '10' });
    await apply({ order: orderOf(exit.clientOrderId, { side: 'sell' }) });
    await enter(two);
    await hold(other);
    expect(await count([one, two])).toEqual({ open: 1, workingOrders: 2, disputed: 0 });
    const sold = (fillId: string, quantity: string) =>
      apply({ fills: [fillOf(exit.clientOrderId, fillId, { side: 'sell', quantity: d(quantity) })] });
    await sold('1', '10');
    await sold('2', '1');
    expect(await count([one, two])).toEqual({ open: 0, workingOrders: 1, disputed: 1 });
  });
});
