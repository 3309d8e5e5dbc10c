import { Database } from '#libs/database';
import { openRedis, type Redis } from '#libs/redis';
import type { ProcessContext } from './run-process.js';

export interface Services {
  readonly database: Database;
  readonly redis: Redis;
}

/** Connects to a migrated database; closing it is left on the stack. */
export async function connectDatabase(
  { config, logger }: ProcessContext,
  at: { url: string; applicationName: string },
  undo: AsyncDisposableStack,
): Promise<Database> {
  const database = await Database.open(
    {
      ...at,
      poolSize: config.DATABASE_POOL_SIZE,
      connectTimeoutMs: config.DATABASE_CONNECT_TIMEOUT_MS,
      statementTimeoutMs: config.DATABASE_STATEMENT_TIMEOUT_MS,
      lockTimeoutMs: config.DATABASE_LOCK_TIMEOUT_MS,
    },
    { lost: (error) => logger.warn({ err: error }, 'Lost a connection to Postgres; the next query opens a new one') },
  );
  undo.defer(() => database.close());
  return database;
}

/** Connects to Redis; closing it is left on the stack. */
export async function connectRedis(
  { logger }: ProcessContext,
  url: string,
  undo: AsyncDisposableStack,
): Promise<Redis> {
  const redis = await openRedis(url, {
    lost: (error) => logger.warn({ err: error }, 'Lost the connection to Redis; trying again'),
    restored: () => logger.info('Redis is back'),
  });
  undo.defer(() => redis.disconnect());
  return redis;
}
