import { Database } from '#libs/database';
import { openRedis, type Redis } from '#libs/redis';
import type { ProcessContext } from './run-process.js';

export interface Services {
  readonly database: Database;
  readonly redis: Redis;
}

/** Connects to both servers; closing them is left on the stack. */
export async function openServices(
  { config, logger }: ProcessContext,
  at: { databaseUrl: string; redisUrl: string; applicationName: string },
  undo: AsyncDisposableStack,
): Promise<Services> {
  const database = await Database.open(
    {
      url: at.databaseUrl,
      applicationName: at.applicationName,
      poolSize: config.DATABASE_POOL_SIZE,
      connectTimeoutMs: config.DATABASE_CONNECT_TIMEOUT_MS,
      statementTimeoutMs: config.DATABASE_STATEMENT_TIMEOUT_MS,
      lockTimeoutMs: config.DATABASE_LOCK_TIMEOUT_MS,
    },
    { lost: (error) => logger.warn({ err: error }, 'Lost a connection to Postgres; the next query opens a new one') },
  );
  undo.defer(() => database.close());
  const redis = await openRedis(at.redisUrl, {
    lost: (error) => logger.warn({ err: error }, 'Lost the connection to Redis; trying again'),
    restored: () => logger.info('Redis is back'),
  });
  undo.defer(() => redis.disconnect());
  return { database, redis };
}
