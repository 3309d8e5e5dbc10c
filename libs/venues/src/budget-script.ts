import { createHash } from 'node:crypto';
import type { Redis } from '#libs/redis';
import type { BucketShape } from './token-bucket.js';

/**
 * KEYS: block, then one bucket per limit. ARGV: capacity, refill per ms, cost, floor of each bucket.
 * All buckets pay or none does. Time is Redis' own, so that the clocks of the processes do not matter.
 * Answers {wait in ms, what is left in the first bucket}; a wait of 0 is a grant, -1 can never be.
 */
const TAKE = script(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local blocked = tonumber(redis.call('GET', KEYS[1]) or '0')
local wait = math.max(0, blocked - now)
local tokens = {}
for i = 2, #KEYS do
  local a = (i - 2) * 4
  local capacity, refill = tonumber(ARGV[a + 1]), tonumber(ARGV[a + 2])
  local need = tonumber(ARGV[a + 3]) + tonumber(ARGV[a + 4])
  local state = redis.call('HMGET', KEYS[i], 'tokens', 'at')
  tokens[i] = capacity
  if state[1] then
    tokens[i] = math.min(capacity, tonumber(state[1]) + math.max(0, now - tonumber(state[2])) * refill)
  end
  if need > capacity then return {-1, tostring(tokens[2])} end
  if need > tokens[i] then wait = math.max(wait, math.ceil((need - tokens[i]) / refill)) end
end
if wait == 0 then
  for i = 2, #KEYS do
    local a = (i - 2) * 4
    local capacity, refill = tonumber(ARGV[a + 1]), tonumber(ARGV[a + 2])
    tokens[i] = tokens[i] - tonumber(ARGV[a + 3])
    redis.call('HSET', KEYS[i], 'tokens', string.format('%.6f', tokens[i]), 'at', now)
    redis.call('PEXPIRE', KEYS[i], math.ceil(capacity / refill) + 1000)
  end
end
return {wait, tostring(tokens[2])}
`);

/** KEYS: block. ARGV: how long. A block is only ever made longer. */
const BLOCK = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local till = now + tonumber(ARGV[1])
if tonumber(redis.call('GET', KEYS[1]) or '0') < till then
  redis.call('SET', KEYS[1], string.format('%.0f', till), 'PX', ARGV[1])
end
return 1
`;

export interface Draw {
  readonly key: string;
  readonly shape: BucketShape;
  readonly cost: number;
  readonly floor: number;
}

export interface Taken {
  readonly waitMs: number;
  readonly left: number;
}

/** Sends what is asked for in one turn of the event loop in one piece: a write costs more than the question. */
export class BudgetTaker {
  private asked: { ask: Ask; answer: PromiseWithResolvers<Taken> }[] = [];

  constructor(private readonly redis: Redis) {}

  take(blockKey: string, draws: readonly Draw[]): Promise<Taken> {
    const keys = [blockKey, ...draws.map(({ key }) => key)];
    const args = draws.flatMap(({ shape, cost, floor }) => [shape.capacity, shape.refillPerMs, cost, floor]);
    const answer = Promise.withResolvers<Taken>();
    if (this.asked.length === 0) setImmediate(() => void this.send());
    this.asked.push({ ask: { keys, args }, answer });
    return answer.promise;
  }

  private async send(): Promise<void> {
    const asked = this.asked;
    this.asked = [];
    try {
      const results = await runAll(
        this.redis,
        TAKE,
        asked.map(({ ask }) => ask),
      );
      for (const [index, { answer }] of asked.entries()) answer.resolve(takenOf(results[index]));
    } catch (error) {
      for (const { answer } of asked) answer.reject(error);
    }
  }
}

export async function blockInRedis(redis: Redis, blockKey: string, forMs: number): Promise<void> {
  await redis.eval(BLOCK, 1, blockKey, Math.ceil(forMs));
}

function takenOf(result: unknown): Taken {
  const [wait, left] = result as [number, string];
  return { waitMs: wait < 0 ? Number.POSITIVE_INFINITY : wait, left: Number(left) };
}

interface Ask {
  readonly keys: readonly string[];
  readonly args: readonly number[];
}

interface Script {
  readonly text: string;
  readonly digest: string;
}

function script(text: string): Script {
  return { text, digest: createHash('sha1').update(text).digest('hex') };
}

/** By its digest; a Redis that was started anew has to be told the text once. Nothing is taken before it is. */
async function runAll(redis: Redis, { text, digest }: Script, asks: readonly Ask[]): Promise<unknown[]> {
  const pipeline = redis.pipeline();
  for (const { keys, args } of asks) pipeline.evalsha(digest, keys.length, ...keys, ...args);
  const results = (await pipeline.exec()) ?? [];
  const fault = results.find(([error]) => error)?.[0];
  if (!fault) return results.map(([, result]) => result);
  if (!fault.message.startsWith('NOSCRIPT')) throw fault;
  await redis.script('LOAD', text);
  return runAll(redis, { text, digest }, asks);
}
