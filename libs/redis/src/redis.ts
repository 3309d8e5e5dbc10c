import { Redis } from 'ioredis';
import { OperatorError } from '#libs/operator';

export type { Redis };

const CONNECT_TIMEOUT_MS = 5_000;
const COMMAND_TIMEOUT_MS = 2_000;
const RECONNECT_DELAY_MS_MAX = 2_000;

export class RedisUnavailable extends OperatorError {
  constructor(url: string, cause: unknown) {
    super(`Redis at ${address(url)} is not usable (${reason(cause)}). Start it, or correct REDIS_URL.`, { cause });
  }
}

/**
 * A connection that was up once and from then on heals itself. While it is down, commands fail at once instead of
 * queueing: whoever asks Redis must be able to go on without it.
 */
export async function openRedis(url: string, observer: { lost(error: Error): void; restored(): void }): Promise<Redis> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: CONNECT_TIMEOUT_MS,
    commandTimeout: COMMAND_TIMEOUT_MS,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    retryStrategy: () => null,
  });
  let firstFault: Error | undefined;
  redis.on('error', (error: Error) => (firstFault ??= error));
  try {
    await redis.connect();
    await redis.ping();
  } catch (error) {
    redis.disconnect();
    throw new RedisUnavailable(url, firstFault ?? error);
  }
  redis.options.retryStrategy = (attempt) => Math.min(50 * 2 ** attempt, RECONNECT_DELAY_MS_MAX);
  reportOnce(redis, observer);
  return redis;
}

/** One message when the connection goes and one when it is back, not one for each attempt between. */
function reportOnce(redis: Redis, observer: { lost(error: Error): void; restored(): void }): void {
  let isLost = false;
  const lose = (error: Error): void => {
    if (isLost) return;
    isLost = true;
    observer.lost(error);
  };
  redis.removeAllListeners('error');
  redis.on('error', lose);
  redis.on('reconnecting', () => lose(new Error('connection closed')));
  redis.on('ready', () => {
    if (isLost) observer.restored();
    isLost = false;
  });
}

function address(url: string): string {
  return new URL(url).host;
}

function reason(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  if (/NOAUTH|WRONGPASS|invalid password/i.test(message)) return 'the password is refused';
  return message;
}
