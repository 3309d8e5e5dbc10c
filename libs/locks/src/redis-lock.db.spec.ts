import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { ManualClock } from '#libs/clock';
import { openRedis } from '#libs/redis';
import { pidOfToken, RedisLocks } from '../index.js';

async function setup() {
  const connect = async () => {
    const redis = await openRedis(inject('redisUrl'), { lost: () => undefined, restored: () => undefined });
    onTestFinished(() => redis.disconnect());
    return redis;
  };
  const redis = await connect();
  const clock = new ManualClock();
  const key = `test:${randomUUID()}`;
  return { redis, clock, key, locks: new RedisLocks(redis, clock), others: new RedisLocks(await connect(), clock) };
}

describe('tryAcquire', () => {
  it('gives the lock to one of many that ask at once', async () => {
    const { locks, others, key } = await setup();
    const asked = Array.from({ length: 20 }, (_, index) => (index % 2 ? locks : others).tryAcquire(key, 60_000));
    const winners = (await Promise.all(asked)).filter((lock) => lock !== undefined);
    expect(winners).toHaveLength(1);
    expect(await locks.findHolder(key)).toBe(winners[0]?.token);
  });

  it('writes a token of process id and uuid, with the TTL', async () => {
    const { redis, locks, key } = await setup();
    const lock = await locks.tryAcquire(key, 60_000);
    expect(lock?.token).toMatch(/^\d+-[0-9a-f-]{36}$/);
    expect(pidOfToken(lock?.token ?? '')).toBe(process.pid);
    expect(await redis.pttl(key)).toBeGreaterThan(59_000);
  });
});

describe('renew', () => {
  it('extends what is ours', async () => {
    const { redis, locks, key } = await setup();
    const lock = await locks.tryAcquire(key, 60_000);
    await redis.pexpire(key, 1_000);
    expect(await lock?.renew()).toBe('held');
    expect(await redis.pttl(key)).toBeGreaterThan(59_000);
  });

  it('is lost when another took it, and leaves the other alone', async () => {
    const { redis, locks, key } = await setup();
    const lock = await locks.tryAcquire(key, 60_000);
    await redis.set(key, '1-another');
    expect(await lock?.renew()).toBe('lost');
    expect(await lock?.release()).toBe(false);
    expect(await redis.get(key)).toBe('1-another');
  });

  it('is lost when it ran out although Redis could have been asked, as after a pause of the holder', async () => {
    const { redis, locks, key } = await setup();
    const lock = await locks.tryAcquire(key, 60_000);
    await redis.del(key);
    expect(await lock?.renew()).toBe('lost');
    expect(await redis.exists(key)).toBe(0);
  });

  it('is not lost by silence, and is taken again after one if nobody else did', async () => {
    const { redis, locks, others, key } = await setup();
    const lock = await locks.tryAcquire(key, 60_000);
    const back = once(redis, 'ready');
    redis.disconnect(true);
    expect(await lock?.renew()).toBe('unreachable');
    await back;
    await redis.del(key);
    expect(await lock?.renew()).toBe('held');
    expect(await others.findHolder(key)).toBe(lock?.token);
  });

  it('is lost after silence when somebody else was quicker', async () => {
    const { redis, locks, others, key } = await setup();
    const lock = await locks.tryAcquire(key, 60_000);
    const back = once(redis, 'ready');
    redis.disconnect(true);
    expect(await lock?.renew()).toBe('unreachable');
    await back;
    await redis.del(key);
    const successor = await others.tryAcquire(key, 60_000);
    expect(await lock?.renew()).toBe('lost');
    expect(await others.findHolder(key)).toBe(successor?.token);
  });
});

describe('isTrusted', () => {
  it('lasts for the TTL from the last confirmation', async () => {
    const { clock, locks, key } = await setup();
    const lock = await locks.tryAcquire(key, 60_000);
    await clock.advance(59_999);
    expect(lock?.isTrusted()).toBe(true);
    await lock?.renew();
    await clock.advance(59_999);
    expect(lock?.isTrusted()).toBe(true);
    await clock.advance(1);
    expect(lock?.isTrusted()).toBe(false);
  });

  it('ends with the loss, whatever the clock says', async () => {
    const { redis, locks, key } = await setup();
    const lock = await locks.tryAcquire(key, 60_000);
    await redis.set(key, '1-another');
    expect(lock?.isTrusted()).toBe(true);
    expect(await lock?.renew()).toBe('lost');
    expect(lock?.isTrusted()).toBe(false);
  });

  it('ends with the release', async () => {
    const { redis, locks, key } = await setup();
    const lock = await locks.tryAcquire(key, 60_000);
    expect(await lock?.release()).toBe(true);
    expect(lock?.isTrusted()).toBe(false);
    expect(await redis.exists(key)).toBe(0);
  });
});

describe('releaseFor', () => {
  it('frees the lock of a dead holder by its token, and of nobody else', async () => {
    const { locks, key } = await setup();
    const lock = await locks.tryAcquire(key, 60_000);
    expect(await locks.releaseFor(key, '1-00000000-0000-0000-0000-000000000000')).toBe(false);
    expect(await locks.releaseFor(key, lock?.token ?? '')).toBe(true);
    expect(await locks.findHolder(key)).toBeUndefined();
  });
});
