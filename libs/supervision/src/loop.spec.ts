import { describe, expect, it, onTestFinished } from 'vitest';
import { ManualClock } from '#libs/clock';
import { explainLoop, Loop } from '../index.js';

const INTERVAL_MS = 1_000;
const never = new AbortController().signal;

function setup(options: { mayRun?: () => boolean } = {}) {
  const clock = new ManualClock();
  const told: { loop: string; durationMs: number; error?: unknown }[] = [];
  const runs: { count: number; next: (signal: AbortSignal) => Promise<void> } = {
    count: 0,
    next: () => Promise.resolve(),
  };
  const loop = new Loop(
    {
      ...{ name: 'trading', intervalMs: INTERVAL_MS, ...options },
      runOnce: (signal) => {
        runs.count += 1;
        return runs.next(signal);
      },
    },
    { clock, observer: { ran: (name, run) => told.push({ loop: name, ...run }) } },
  );
  const start = () => {
    const stopping = new AbortController();
    const ended = loop.task(stopping.signal);
    onTestFinished(() => stopping.abort());
    return { stopping, ended };
  };
  return { clock, loop, runs, told, start };
}

const fail = () => Promise.reject(new Error('the venue is closed'));

describe('a loop', () => {
  it('begins a run per interval, and notes when the last one ended and how long it took', async () => {
    const { clock, loop, runs, told, start } = setup();
    runs.next = () => clock.sleep(300);
    start();
    await clock.advance(300);
    expect(loop.state()).toMatchObject({
      ...{ lastRunAt: clock.now(), lastGoodRunAt: clock.now(), durationMs: 300 },
      ...{ failures: 0, runningForMs: undefined, intervalMs: INTERVAL_MS },
    });
    await clock.advance(2_000);
    expect(runs.count).toBe(3);
    expect(told).toEqual([1, 2, 3].map(() => ({ loop: 'trading', durationMs: 300 })));
  });

  it('follows a run that took longer than the interval with the next at once, and never has two', async () => {
    const { clock, runs, start } = setup();
    let atOnce = 0;
    runs.next = async () => {
      atOnce += 1;
      expect(atOnce).toBe(1);
      await clock.sleep(2_500);
      atOnce -= 1;
    };
    start();
    await clock.advance(7_500);
    expect(runs.count).toBe(4);
  });

  it('lets the run that is under way finish when it is told to stop', async () => {
    const { clock, runs, told, start } = setup();
    runs.next = () => clock.sleep(300);
    const { stopping, ended } = start();
    await clock.whenSleeping();
    stopping.abort();
    await clock.advance(300);
    await ended;
    expect([runs.count, told.length]).toEqual([1, 1]);
  });

  it('does not count as failed what was told to stop and says so', async () => {
    const { loop, runs, told, start } = setup();
    runs.next = (signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    const { stopping, ended } = start();
    stopping.abort();
    await ended;
    expect([loop.state().failures, told]).toEqual([0, []]);
  });

  it('goes on after a run that failed, keeps its error until a good one, and counts', async () => {
    const { clock, loop, runs, told, start } = setup();
    runs.next = fail;
    start();
    await clock.whenSleeping();
    expect(loop.state()).toMatchObject({ failures: 1, lastGoodRunAt: undefined, lastRunAt: clock.now() });
    expect(loop.state().error).toMatchObject({ message: 'the venue is closed' });
    runs.next = () => Promise.resolve();
    await clock.advance(INTERVAL_MS);
    expect(loop.state()).toMatchObject({ failures: 1, error: undefined, lastGoodRunAt: clock.now() });
    expect(told.map(({ error }) => error !== undefined)).toEqual([true, false]);
  });
});

describe('the health of a loop', () => {
  it('is good when it was just made, and turns after twice the interval without a run', async () => {
    const { clock, loop } = setup();
    expect(loop.state().isHealthy).toBe(true);
    await clock.advance(2 * INTERVAL_MS - 1);
    expect(loop.state().isHealthy).toBe(true);
    await clock.advance(1);
    expect(loop.state().isHealthy).toBe(false);
  });

  it('stays good while runs end in time', async () => {
    const { clock, loop, runs, start } = setup();
    runs.next = () => clock.sleep(900);
    start();
    for (let elapsedMs = 0; elapsedMs < 10_000; elapsedMs += 100) {
      await clock.advance(100);
      expect(loop.state().isHealthy).toBe(true);
    }
  });

  it('turns when a run is stuck, says since when, and is good again when it ends', async () => {
    const { clock, loop, runs, start } = setup();
    start();
    await clock.whenSleeping();
    const stuck = Promise.withResolvers<void>();
    runs.next = () => stuck.promise;
    await clock.advance(2 * INTERVAL_MS);
    expect(loop.state()).toMatchObject({ isHealthy: false, runningForMs: INTERVAL_MS });
    expect(explainLoop('trading', loop.state())).toBe(
      'The loop trading had its last good run 2 s ago, and its interval is 1 s. A run has been under way for 1 s.',
    );
    stuck.resolve();
    await clock.advance(0);
    expect(loop.state().isHealthy).toBe(true);
  });

  it('turns when every run fails for twice the interval: a run that fails is no good one', async () => {
    const { clock, loop, runs, start } = setup();
    start();
    await clock.whenSleeping();
    runs.next = fail;
    await clock.advance(INTERVAL_MS);
    expect(loop.state()).toMatchObject({ isHealthy: true, failures: 1 });
    await clock.advance(INTERVAL_MS);
    expect(loop.state()).toMatchObject({ isHealthy: false, failures: 2 });
    expect(explainLoop('trading', loop.state())).toContain('Its last run failed: the venue is closed');
  });

  it('turns while it may not run, and comes back with the first run', async () => {
    let isTrusted = false;
    const { clock, loop, runs, start } = setup({ mayRun: () => isTrusted });
    start();
    await clock.advance(2 * INTERVAL_MS - 1);
    expect(loop.state().isHealthy).toBe(true);
    await clock.advance(1);
    expect([loop.state().isHealthy, runs.count, loop.state().lastRunAt]).toEqual([false, 0, undefined]);
    expect(explainLoop('trading', loop.state())).toBe(
      'The loop trading has had no good run for 2 s, and its interval is 1 s.',
    );
    isTrusted = true;
    await clock.advance(INTERVAL_MS);
    expect([loop.state().isHealthy, runs.count]).toEqual([true, 1]);
  });

  it('does not depend on the wall clock', async () => {
    class Jumping extends ManualClock {
      override now(): number {
        return super.now() - 3_600_000 * Math.round(this.monotonic() / 500);
      }
    }
    const clock = new Jumping();
    const loop = new Loop(
      { name: 'monitor', intervalMs: INTERVAL_MS, runOnce: () => Promise.resolve() },
      { clock, observer: { ran: () => undefined } },
    );
    await loop.runOnce(never);
    await clock.advance(INTERVAL_MS);
    expect(loop.state()).toMatchObject({ isHealthy: true, goodAgoMs: INTERVAL_MS });
  });
});
