import { describe, expect, it } from 'vitest';
import { setup, setupStarted } from './testing/setup.js';

describe('A task', () => {
  it('is created until the supervisor starts, then healthy', async () => {
    const { supervisor, add, settle } = setup();
    const poller = add('poller');
    await settle();
    expect([supervisor.getTaskStatus('poller'), poller.runs.length]).toEqual(['created', 0]);
    supervisor.start();
    await settle();
    expect([supervisor.getTaskStatus('poller'), poller.runs.length]).toEqual(['healthy', 1]);
  });

  it('starts at once when it is added to a started supervisor', async () => {
    const { supervisor, add, settle } = setupStarted();
    const poller = add('poller');
    await settle();
    expect([supervisor.getTaskStatus('poller'), poller.live.size]).toEqual(['healthy', 1]);
  });

  it('is completed when its run returns, and is not run again', async () => {
    const { clock, supervisor, add, settle } = setupStarted();
    const migration = add('migration');
    await settle();
    migration.complete();
    await clock.advance(3_600_000);
    expect([supervisor.getTaskStatus('migration'), migration.runs.length]).toEqual(['completed', 1]);
  });

  it('is failed when its run throws, and healthy again after the delay, not a millisecond sooner', async () => {
    const { clock, supervisor, add, settle, fail } = setupStarted({ restartDelayBaseMs: 5_000 });
    const poller = add('poller');
    await settle();
    await fail(poller);
    await clock.advance(9_999);
    expect([supervisor.getTaskStatus('poller'), poller.runs.length]).toEqual(['failed', 1]);
    await clock.advance(1);
    expect([supervisor.getTaskStatus('poller'), poller.runs.length]).toEqual(['healthy', 2]);
  });

  it('fails also when it throws before its first await', async () => {
    const { supervisor, settle } = setupStarted();
    supervisor.addTask('broken', () => {
      throw new Error('No such venue.');
    });
    await settle();
    expect(supervisor.getTaskStatus('broken')).toBe('failed');
  });

  it('begins every run anew, with a signal of its own', async () => {
    const { clock, add, settle, fail } = setupStarted();
    const poller = add('poller');
    await settle();
    await fail(poller);
    await clock.advance(2_000);
    expect(new Set(poller.runs.map((run) => run.signal)).size).toBe(2);
  });

  it('is restarted after 2, 4, 8, 16 and 32 seconds by default, and dead at the sixth failure', async () => {
    const { clock, supervisor, add, settle, fail } = setupStarted();
    const poller = add('poller');
    await settle();
    for (const delayMs of [2_000, 4_000, 8_000, 16_000, 32_000]) {
      await fail(poller);
      await clock.advance(delayMs);
    }
    expect(poller.startTimes()).toEqual([0, 2_000, 6_000, 14_000, 30_000, 62_000]);
    await fail(poller);
    await clock.advance(3_600_000);
    expect([supervisor.getTaskStatus('poller'), poller.runs.length]).toEqual(['dead', 6]);
  });

  it('forgets its failures after a stable run, so that the delays begin again', async () => {
    const { clock, add, settle, fail } = setupStarted({ stableAfterMs: 80_000, restartsMax: 2 });
    const poller = add('poller');
    await settle();
    await fail(poller);
    await clock.advance(2_000);
    await fail(poller);
    await clock.advance(4_000 + 80_000);
    await fail(poller);
    await clock.advance(2_000);
    expect(poller.startTimes()).toEqual([0, 2_000, 6_000, 88_000]);
  });

  it('keeps its failures when the run ends a millisecond before it is stable', async () => {
    const { clock, supervisor, add, settle, fail } = setupStarted({ stableAfterMs: 80_000, restartsMax: 1 });
    const poller = add('poller');
    await settle();
    await fail(poller);
    await clock.advance(2_000 + 79_999);
    await fail(poller);
    expect(supervisor.getTaskStatus('poller')).toBe('dead');
  });

  it('is not forgiven for the time that it took to heed its signal', async () => {
    const { clock, supervisor, add, settle, fail } = setupStarted({ stableAfterMs: 80_000, restartsMax: 1 });
    const poller = add('poller', 'stubborn');
    await settle();
    await fail(poller);
    await clock.advance(2_000);
    void supervisor.restart('poller');
    await clock.advance(80_000);
    poller.complete();
    await settle();
    await fail(poller);
    expect(supervisor.getTaskStatus('poller')).toBe('dead');
  });

  it('needs a name that is not in use', () => {
    const { add } = setup();
    add('poller');
    expect(() => add('poller')).toThrow('"poller" is supervised already');
  });

  it('gets the same settings whether it is added before or after the start', async () => {
    const { clock, supervisor, add, settle, fail } = setup({ restartDelayBaseMs: 10, restartExponentMax: 0 });
    const early = add('early');
    supervisor.start();
    const late = add('late');
    await settle();
    await Promise.all([fail(early), fail(late)]);
    await clock.advance(10);
    expect([early.startTimes(), late.startTimes()]).toEqual([
      [0, 10],
      [0, 10],
    ]);
  });
});
