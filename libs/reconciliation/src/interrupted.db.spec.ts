import { expect, it } from 'vitest';
import { SWEEP_STEPS, type SweepStep } from './reconciliation-parts.js';
import { setupReconciliation, VENUE } from './testing/setup.js';

/** Three profiles: a fill that was missed, a cancellation, and a question. */
async function setup() {
  const world = await setupReconciliation();
  const { account, newProfile, buy, enter, exit, fillUnseen, sweep } = world;
  const profiles = [await newProfile(), await newProfile(), await newProfile()] as const;
  await sweep();
  fillUnseen((await enter(profiles[0])).orderId, 'f1', '10');
  account.change((await enter(profiles[1])).orderId, { status: 'cancelled' });
  const { tradeId } = await buy(profiles[2]);
  account.purged.add((await exit({ profileId: profiles[2], tradeId })).orderId);
  const expectDone = async (): Promise<void> => {
    const made = await world.corrections();
    expect(made.map(({ kind, state, times }) => `${kind} ${state} ${times}`).toSorted()).toEqual([
      'cancel applied 1',
      'entry-fill applied 1',
      'vanished-exit asked 1',
    ]);
    expect(await world.halts()).toHaveLength(1);
    expect(await world.balances(profiles[0])).toEqual(['0', '1000', '0', '9000']);
    expect(await world.balances(profiles[1])).toEqual(['0', '0', '0', '10000']);
    for (const profileId of profiles) expect(await world.contradictions(profileId)).toEqual([]);
  };
  return { ...world, expectDone };
}

const TIMES: [SweepStep, number][] = [
  ...SWEEP_STEPS.map((step): [SweepStep, number] => [step, 1]),
  ['sweep:locked', 2],
  ['sweep:corrected', 2],
  ['sweep:corrected', 3],
];

it.each(TIMES)('a sweep that fails at %s for the %i. time leaves nothing half done', async (at, time) => {
  const { onStep, sweep, sweepQuietly, expectDone } = await setup();
  let count = 0;
  onStep((step) => {
    if (step === at && (count += 1) === time) throw new Error('the connection broke');
  });
  expect(await sweep()).toMatchObject({ outcome: 'failed', reason: 'the connection broke' });
  onStep(() => undefined);
  await sweep();
  await expectDone();
  await sweep();
  await sweepQuietly();
});

it.each(TIMES)('one that hangs for ever at %s for the %i. time is overtaken by the next', async (at, time) => {
  const { onStep, newReconciliation, admin, expectDone, sweep, sweepQuietly } = await setup();
  const hung = Promise.withResolvers<void>();
  let count = 0;
  onStep((step) => {
    if (step !== at || (count += 1) !== time) return;
    onStep(() => undefined);
    hung.resolve();
    return new Promise(() => undefined);
  });
  void newReconciliation().reconciliation.sweepIfDue({ venue: VENUE });
  await hung.promise;
  await admin.query('update reconciliation_locks set expires_at = clock_timestamp()');
  expect((await sweep()).outcome).not.toBe('failed');
  await expectDone();
  await sweep();
  await sweepQuietly();
});
