import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { ManualClock } from '#libs/clock';
import { openRedis, type Redis } from '#libs/redis';
import { RateBudget, type BudgetParts, type Priority } from './rate-budget.js';

/** Three tokens fit a third of nine; the rest flows in over an hour, which is longer than any test. */
const HOUR_MS = 3_600_000;

async function connect(): Promise<Redis> {
  const redis = await openRedis(inject('redisUrl'), { lost: () => undefined, restored: () => undefined });
  onTestFinished(() => redis.disconnect());
  return redis;
}

async function setup(limits: BudgetParts['limits'] = [{ name: 'requests', count: 90, perMs: HOUR_MS }]) {
  const clock = new ManualClock();
  const parts = { clock, keyPrefix: `test-${randomUUID()}`, venue: 'paper', account: 'ab12', limits, fleetShare: 0.1 };
  const redis = await connect();
  const budgets = [new RateBudget({ ...parts, redis }), new RateBudget({ ...parts, redis: await connect() })];
  const tryOne = async (priority: Priority, process = 0, cost = { requests: 1, orders: 1 }): Promise<boolean> =>
    (await budgets[process]?.acquire({ priority, cost, waitMsMax: 0 }))?.granted ?? false;
  const drain = async (priority: Priority, process = 0): Promise<number> => {
    let count = 0;
    while (await tryOne(priority, process)) count += 1;
    return count;
  };
  return { clock, parts, redis, budgets, tryOne, drain };
}

describe('RateBudget', () => {
  it('is one budget for all processes', async () => {
    const { tryOne, budgets } = await setup();
    const asked = Array.from({ length: 100 }, (_, index) => tryOne('urgent', index % 2));
    expect((await Promise.all(asked)).filter(Boolean)).toHaveLength(30);
    expect(budgets[0]?.left()).toBeLessThan(1);
  });

  it('leaves to each priority what those below may not touch', async () => {
    const { drain } = await setup();
    expect([await drain('data'), await drain('entry', 1), await drain('reconcile'), await drain('urgent', 1)]).toEqual([
      12, 6, 7, 5,
    ]);
  });

  it('pays in all of its buckets or in none', async () => {
    const { tryOne, redis, parts } = await setup([
      { name: 'requests', count: 90, perMs: HOUR_MS },
      { name: 'orders', count: 6, perMs: HOUR_MS },
    ]);
    expect([await tryOne('urgent'), await tryOne('urgent'), await tryOne('urgent')]).toEqual([true, true, false]);
    const left = await redis.hget(`${parts.keyPrefix}:venue:paper:ab12:requests`, 'tokens');
    expect(Number(left)).toBeCloseTo(28, 1);
    expect(await tryOne('urgent', 0, { requests: 1, orders: 0 })).toBe(true);
  });

  it('fills up again by the time of Redis', async () => {
    const { drain, tryOne, redis, parts } = await setup();
    await drain('urgent');
    const key = `${parts.keyPrefix}:venue:paper:ab12:requests`;
    await redis.hincrby(key, 'at', -HOUR_MS);
    expect(await tryOne('urgent')).toBe(true);
    expect(Number(await redis.hget(key, 'tokens'))).toBeCloseTo(29, 1);
  });

  it('refuses at once what could only be granted after the deadline, and what can never be', async () => {
    const { drain, budgets, clock, tryOne } = await setup();
    await drain('urgent');
    const before = clock.monotonic();
    expect(await budgets[0]?.acquire({ priority: 'urgent', cost: { requests: 1 }, waitMsMax: 1_000 })).toEqual({
      granted: false,
      reason: 'budget',
    });
    expect(clock.monotonic()).toBe(before);
    expect(await tryOne('urgent', 0, { requests: 31, orders: 0 })).toBe(false);
  });

  it('waits for its turn within the bound', async () => {
    const { drain, budgets, clock, redis, parts } = await setup();
    await drain('urgent');
    const waiting = budgets[0]?.acquire({ priority: 'urgent', cost: { requests: 1 }, waitMsMax: HOUR_MS });
    await clock.whenSleeping();
    await redis.hincrby(`${parts.keyPrefix}:venue:paper:ab12:requests`, 'at', -120_000);
    await clock.advance(60_001);
    expect(await waiting).toEqual({ granted: true });
  });

  it('ends the wait when the caller gives up, and takes nothing', async () => {
    const { drain, budgets, clock } = await setup();
    await drain('urgent');
    const giveUp = new AbortController();
    const waiting = budgets[0]?.acquire({
      priority: 'urgent',
      cost: { requests: 1 },
      waitMsMax: HOUR_MS,
      signal: giveUp.signal,
    });
    await clock.whenSleeping();
    giveUp.abort();
    expect(await waiting).toEqual({ granted: false, reason: 'aborted' });
  });

  it('is quiet in every process when the venue told one of them to be', async () => {
    const { budgets, tryOne, redis, parts } = await setup();
    await budgets[0]?.block(60_000);
    expect([await tryOne('urgent', 0), await tryOne('urgent', 1)]).toEqual([false, false]);
    await budgets[1]?.block(10);
    expect(await redis.pttl(`${parts.keyPrefix}:venue:paper:ab12:block`)).toBeGreaterThan(50_000);
  });

  it('spends its local share while Redis is away, keeps a block, and comes back', async () => {
    const { redis, drain, tryOne, budgets, clock } = await setup();
    const back = once(redis, 'ready');
    redis.disconnect(true);
    expect(await drain('urgent')).toBe(3);
    await budgets[0]?.block(500);
    await back;
    await clock.advance(400);
    expect(await tryOne('urgent')).toBe(false);
    await clock.advance(700);
    expect(await drain('urgent')).toBe(30);
  });

  it('writes the fingerprint of a key and nothing else under the prefix', async () => {
    const { tryOne, redis, parts } = await setup();
    await tryOne('urgent');
    expect(await redis.keys(`${parts.keyPrefix}*`)).toEqual([`${parts.keyPrefix}:venue:paper:ab12:requests`]);
  });
});
