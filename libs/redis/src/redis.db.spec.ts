import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { openRedis } from '../index.js';

async function setup() {
  const events: string[] = [];
  const observer = { lost: () => events.push('lost'), restored: () => events.push('restored') };
  const redis = await openRedis(inject('redisUrl'), observer);
  onTestFinished(() => redis.disconnect());
  return { redis, events };
}

describe('openRedis', () => {
  it('heals a cut connection by itself, and reports it once each way', async () => {
    const { redis, events } = await setup();
    const { redis: other } = await setup();
    await other.client('KILL', 'ID', String(await redis.client('ID')));
    await expect.poll(() => events).toEqual(['lost', 'restored']);
    expect(await redis.ping()).toBe('PONG');
  });

  it('fails a command at once while the connection is down, instead of queueing it', async () => {
    const { redis } = await setup();
    redis.disconnect(true);
    await expect(redis.ping()).rejects.toThrow();
  });

  it.each([
    [
      'an unreachable server',
      (url: URL) => (url.port = '1'),
      /Redis at 127.0.0.1:1 is not usable \(.*ECONNREFUSED.*REDIS_URL/,
    ],
    ['a wrong password', (url: URL) => (url.password = 'wrong'), /the password is refused/],
    ['a missing password', (url: URL) => (url.password = ''), /the password is refused/],
  ])('explains %s in one sentence', async (_case, spoil, message) => {
    const url = new URL(inject('redisUrl'));
    spoil(url);
    await expect(openRedis(url.href, { lost: () => undefined, restored: () => undefined })).rejects.toThrow(message);
  });
});
