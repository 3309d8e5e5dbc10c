import { randomUUID } from 'node:crypto';
import { describe, expect, inject, it } from 'vitest';
import { openRedis, type Redis } from '#libs/redis';
import { setupReconciliation, VENUE } from './testing/setup.js';

const PROFILES = 5;

/** Five profiles, each with an entry that the venue has filled and one difference for none of them. */
async function setup(options: Parameters<typeof setupReconciliation>[0] = {}) {
  const world = await setupReconciliation(options);
  const { newProfile, enter, fillUnseen, admin, sweep } = world;
  const profiles = await Promise.all(Array.from({ length: PROFILES }, () => newProfile()));
  await sweep();
  for (const profileId of profiles) fillUnseen((await enter(profileId)).orderId, 'f1', '4');
  const endLocks = () => admin.query('update reconciliation_locks set expires_at = clock_timestamp()');
  const booked = async (): Promise<number> => {
    const { rows } = await admin.query<{ count: string }>('select count(*) from fills');
    return Number(rows[0]?.count);
  };
  const expectDone = async (): Promise<void> => {
    expect(await booked()).toBe(PROFILES);
    const made = await world.corrections();
    expect(made.map(({ kind, state, times }) => [kind, state, times])).toEqual(
      profiles.map(() => ['entry-fill', 'applied', 1]),
    );
    for (const profileId of profiles) expect(await world.contradictions(profileId)).toEqual([]);
  };
  return { ...world, profiles, endLocks, booked, expectDone };
}

async function silentRedis(): Promise<Redis> {
  const redis = await openRedis(inject('redisUrl'), { lost: () => undefined, restored: () => undefined });
  redis.disconnect();
  return redis;
}

describe('two that sweep at once', () => {
  it('take turns where Redis answers: one sweeps, the other is told', async () => {
    const { newReconciliation, onStep, expectDone } = await setup();
    const keyPrefix = `test-${randomUUID()}`;
    const [first, second] = [newReconciliation({ keyPrefix }), newReconciliation({ keyPrefix })];
    const reached = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    onStep((step) => {
      if (step !== 'sweep:read') return;
      reached.resolve();
      return goOn.promise;
    });
    const sweeping = first.reconciliation.sweepIfDue({ venue: VENUE });
    await reached.promise;
    expect(await second.reconciliation.sweepIfDue({ venue: VENUE })).toBeUndefined();
    await expect(second.reconciliation.sweep({ venue: VENUE, askedBy: 'alice' })).rejects.toThrow('being swept');
    expect(second.report.figures.lockContentionCount).toBe(2);
    goOn.resolve();
    expect(await sweeping).toMatchObject({ outcome: 'corrected', figures: { corrected: PROFILES } });
    await expectDone();
  });

  it('are told by Postgres where Redis is silent: each correction is made once', async () => {
    const { newReconciliation, onStep, expectDone } = await setup();
    const redis = await silentRedis();
    const both = [newReconciliation({ redis }), newReconciliation({ redis })];
    // Both have found everything before either writes.
    let waiting = 0;
    const together = Promise.withResolvers<void>();
    onStep((step) => {
      if (step !== 'sweep:proved') return;
      if ((waiting += 1) === both.length) together.resolve();
      return together.promise;
    });
    const swept = await Promise.all(both.map(({ reconciliation }) => reconciliation.sweepIfDue({ venue: VENUE })));
    expect(swept.map((each) => each?.outcome)).not.toContain('failed');
    const total = (of: 'corrected' | 'mismatches'): number =>
      swept.reduce((sum, each) => sum + (each?.figures[of] ?? 0), 0);
    expect([total('corrected'), total('mismatches')]).toEqual([PROFILES, PROFILES]);
    await expectDone();
  });

  it('count what they find held, and leave it to the holder', async () => {
    const { newReconciliation, onStep, expectDone, booked, corrections } = await setup();
    const redis = await silentRedis();
    const [holder, other] = [newReconciliation({ redis }), newReconciliation({ redis })];
    const reached = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    onStep((step) => {
      if (step !== 'sweep:locked') return;
      onStep(() => undefined);
      reached.resolve();
      return goOn.promise;
    });
    const sweeping = holder.reconciliation.sweepIfDue({ venue: VENUE });
    await reached.promise;
    const around = await other.reconciliation.sweepIfDue({ venue: VENUE });
    expect(around).toMatchObject({ figures: { corrected: PROFILES - 1, leftAlone: 1 } });
    expect(other.report.figures.lockContentionCount).toBe(1);
    expect([await booked(), (await corrections()).length]).toEqual([PROFILES - 1, PROFILES - 1]);
    goOn.resolve();
    expect(await sweeping).toMatchObject({ outcome: 'corrected', figures: { corrected: 1 } });
    await expectDone();
  });

  it('ask and note once what concerns no profile', async () => {
    const { account, newReconciliation, onStep, corrections, halts, clock } = await setup();
    account.move('USD', account.held.get('USD') ?? fail());
    account.set({
      ...account.get('v1'),
      venueOrderId: 's',
      clientOrderId: 'test-stray',
      createdAt: new Date(clock.now()),
    });
    const redis = await silentRedis();
    const both = [newReconciliation({ redis }), newReconciliation({ redis })];
    for (const { reconciliation } of both) await reconciliation.sweepIfDue({ venue: VENUE });
    account.set({ ...account.get('s'), venueOrderId: 's2', clientOrderId: 'test-stray-2' });
    account.move('USD', account.held.get('USD') ?? fail());
    let waiting = 0;
    const together = Promise.withResolvers<void>();
    onStep((step) => {
      if (step !== 'sweep:locked') return;
      if ((waiting += 1) === both.length) together.resolve();
      return together.promise;
    });
    const swept = await Promise.all(both.map(({ reconciliation }) => reconciliation.sweepIfDue({ venue: VENUE })));
    expect(swept.map((each) => each?.outcome)).not.toContain('failed');
    const found = await corrections();
    const of = (kind: string) => found.filter((each) => each.kind === kind).map(({ times }) => times);
    expect([of('stray-order'), of('holding-moved')]).toEqual([
      [1, 1],
      [1, 1],
    ]);
    expect(await halts()).toHaveLength(2);
  });
});

describe('a holder that is paused past its lock', () => {
  it('writes nothing when it wakes, and the successor has done everything', async () => {
    const { newReconciliation, onStep, endLocks, expectDone, written, admin } = await setup();
    const paused = newReconciliation();
    const reached = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    onStep((step) => {
      if (step !== 'sweep:locked') return;
      onStep(() => undefined);
      reached.resolve();
      return goOn.promise;
    });
    const sweeping = paused.reconciliation.sweepIfDue({ venue: VENUE });
    await reached.promise;
    await endLocks();
    const successor = newReconciliation();
    expect(await successor.reconciliation.sweepIfDue({ venue: VENUE })).toMatchObject({
      figures: { corrected: PROFILES, mismatches: PROFILES },
    });
    const locksAndRuns = /^reconciliation_(runs|locks) /;
    const kept = async () => (await written()).split('\n').filter((line) => !locksAndRuns.test(line));
    const before = await kept();
    goOn.resolve();
    expect(await sweeping).toMatchObject({ outcome: 'clean', figures: { corrected: 0, mismatches: 0 } });
    expect(await kept()).toEqual(before);
    expect(paused.report.figures.lockContentionCount).toBe(1);
    await expectDone();
    const { rows } = await admin.query(`select from reconciliation_runs where state = 'running'`);
    expect(rows).toEqual([]);
  });

  it('does not write what it found of holdings that others have noted by then', async () => {
    const { account, newReconciliation, onStep, sweep, corrections, buy, newProfile, exit, tell, fillUnseen } =
      await setupReconciliation();
    const profileId = await newProfile();
    const { tradeId } = await buy(profileId);
    await sweep();
    account.move('BTC', account.held.get('BTC')?.negated() ?? fail());
    const paused = newReconciliation();
    const reached = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    onStep((step) => {
      if (step !== 'sweep:locked') return;
      onStep(() => undefined);
      reached.resolve();
      return goOn.promise;
    });
    const sweeping = paused.reconciliation.sweepIfDue({ venue: VENUE });
    await reached.promise;
    account.move('BTC', account.get('v1').quantity);
    const { orderId } = await exit({ profileId, tradeId });
    fillUnseen(orderId, 'x1', '10');
    await tell(orderId);
    goOn.resolve();
    expect(await sweeping).toMatchObject({ outcome: 'clean' });
    await sweep();
    expect(await corrections()).toEqual([]);
  });
});

function fail(): never {
  throw new Error('Expected the account to hold some.');
}
