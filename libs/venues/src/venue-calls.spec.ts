import { describe, expect, it } from 'vitest';
import { ManualClock } from '#libs/clock';
import type { Fault } from './fault.js';
import { RateBudget } from './rate-budget.js';
import { VenueCalls } from './venue-calls.js';

function setup(budgetWaitMs = 0) {
  const clock = new ManualClock();
  const limits = [{ name: 'requests' as const, count: 90, perMs: 60_000 }];
  const account = { keyPrefix: 'test', venue: 'paper', account: 'ab12' };
  const budget = new RateBudget({ ...account, redis: undefined, clock, limits, fleetShare: 1 });
  const calls = new VenueCalls(clock, budget, { orderTimeoutMs: 1_000, queryTimeoutMs: 5_000, budgetWaitMs });
  const explain = (): Fault => ({ kind: 'transport', reason: 'connection', message: 'reset' });
  return { clock, calls, explain };
}

const CALL = { priority: 'urgent', cost: { requests: 1 } } as const;
const forever = (): Promise<never> => new Promise(() => undefined);

describe('VenueCalls', () => {
  it.each([
    [{ ...CALL, isOrder: true }, 1_000],
    [CALL, 5_000],
    [{ ...CALL, isOrder: true, timeoutMs: 300 }, 300],
    [{ ...CALL, timeoutMs: 60_000 }, 5_000],
  ])('ends a call that is never answered: %j after %d ms', async (call, timeoutMs) => {
    const { clock, calls, explain } = setup();
    const result = calls.call(call, forever, explain);
    await clock.whenSleeping();
    await clock.advance(timeoutMs);
    expect(await result).toMatchObject({ isAnswered: false, fault: { kind: 'transport', reason: 'timeout' } });
  });

  it('sends nothing when the time of its caller is over before there is a place in the budget', async () => {
    const { clock, calls, explain } = setup(60_000);
    await calls.call({ ...CALL, cost: { requests: 30 } }, () => Promise.resolve(), explain);
    let attempts = 0;
    const late = calls.call({ ...CALL, timeoutMs: 100 }, () => Promise.resolve((attempts += 1)), explain);
    expect(await late).toMatchObject({ fault: { kind: 'not-sent', reason: 'budget' } });

    // The place comes when the time is up.
    const waiting = calls.call({ ...CALL, timeoutMs: 1_000 }, () => Promise.resolve((attempts += 1)), explain);
    await clock.whenSleeping();
    await clock.advance(1_000);
    expect(await waiting).toMatchObject({ fault: { kind: 'not-sent', reason: 'aborted' } });
    expect(attempts).toBe(0);
  });

  it('tells the attempt to stop when its time is over', async () => {
    const { clock, calls, explain } = setup();
    let signal: AbortSignal | undefined;
    const result = calls.call(CALL, (given) => ((signal = given), forever()), explain);
    await clock.whenSleeping();
    expect(signal?.aborted).toBe(false);
    await clock.advance(5_000);
    await result;
    expect(signal?.aborted).toBe(true);
  });

  it('leaves no timer behind', async () => {
    const { clock, calls, explain } = setup();
    expect(await calls.call(CALL, () => Promise.resolve(7), explain)).toEqual({ isAnswered: true, value: 7 });
    const next = calls.call(CALL, forever, explain);
    await clock.whenSleeping(1);
    await clock.advance(5_000);
    await next;
  });

  it('is quiet for as long as the venue asks', async () => {
    const { clock, calls } = setup();
    const tooMany = (): Fault => ({ kind: 'answer', status: 429, code: '1', message: '', retryAfterMs: 30_000 });
    let attempts = 0;
    const attempt = (): Promise<never> => {
      attempts += 1;
      return Promise.reject(new Error('429'));
    };
    await calls.call(CALL, attempt, tooMany);
    await clock.advance(29_999);
    expect(await calls.call(CALL, attempt, tooMany)).toMatchObject({ fault: { kind: 'not-sent', reason: 'budget' } });
    await clock.advance(1);
    await calls.call(CALL, attempt, tooMany);
    expect(attempts).toBe(2);
  });
});
