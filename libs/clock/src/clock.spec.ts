import { describe, expect, it } from 'vitest';
import { ManualClock, SystemClock } from '../index.js';

describe('ManualClock', () => {
  it('stands still until it is advanced', () => {
    const clock = new ManualClock(1_000);
    expect([clock.now(), clock.monotonic()]).toEqual([1_000, 0]);
  });

  it('wakes sleepers in the order in which they are due, whatever the order they went to sleep in', async () => {
    const clock = new ManualClock(0);
    const woken: [string, number][] = [];
    for (const [name, delayMs] of [
      ['late', 30],
      ['early', 10],
      ['middle', 20],
    ] as const) {
      void clock.sleep(delayMs).then(() => woken.push([name, clock.now()]));
    }
    await clock.advance(25);
    expect(woken).toEqual([
      ['early', 10],
      ['middle', 20],
    ]);
    await clock.advance(5);
    expect(woken.at(-1)).toEqual(['late', 30]);
  });

  it('wakes a loop once for each interval inside one long advance', async () => {
    const clock = new ManualClock(0);
    const stop = new AbortController();
    const ticks: number[] = [];
    const loop = (async () => {
      while (!stop.signal.aborted) {
        ticks.push(clock.now());
        await clock.sleep(10, stop.signal);
      }
    })();
    await clock.whenSleeping();
    await clock.advance(30);
    expect(ticks).toEqual([0, 10, 20, 30]);
    stop.abort();
    await loop;
  });

  it('tells when the code under test has gone to sleep', async () => {
    const clock = new ManualClock();
    const asleep = clock.whenSleeping(2);
    void clock.sleep(1);
    void clock.sleep(1);
    await asleep;
  });
});

describe.each([
  ['ManualClock', new ManualClock()],
  ['SystemClock', new SystemClock()],
])('%s', (_name, clock) => {
  it('wakes a sleeper at once when its signal is aborted', async () => {
    const stop = new AbortController();
    const sleep = clock.sleep(60_000, stop.signal);
    stop.abort();
    await sleep;
  });

  it('does not sleep at all on a signal that is aborted already', async () => {
    await clock.sleep(60_000, AbortSignal.abort());
  });
});

describe('SystemClock', () => {
  it('sleeps, and its monotonic time moves forward meanwhile', async () => {
    const clock = new SystemClock();
    const before = clock.monotonic();
    await clock.sleep(1);
    expect(clock.monotonic()).toBeGreaterThan(before);
  });

  it.each([-1, Number.NaN, 2 ** 31])('refuses a delay of %d ms, which Node would turn into 1 ms', async (delayMs) => {
    await expect(new SystemClock().sleep(delayMs)).rejects.toThrow(RangeError);
  });
});
