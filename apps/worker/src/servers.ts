import { resolve } from 'node:path';
import { OperatorError } from '#libs/operator';
import type { ProcessContext } from '#libs/process';

/** The orchestrator hands the URLs down; a worker started by hand looks for the private servers of its DATA_DIR. */
export async function locateServers({
  config,
  clock,
}: ProcessContext): Promise<{ databaseUrl: string; redisUrl: string }> {
  const { DATABASE_URL, REDIS_URL } = config;
  if (DATABASE_URL && REDIS_URL) return { databaseUrl: DATABASE_URL, redisUrl: REDIS_URL };
  const dataDir = resolve(config.DATA_DIR);
  const { findEmbeddedUrls } = await import('#libs/embedded');
  const found = findEmbeddedUrls(dataDir, clock);
  const databaseUrl = DATABASE_URL ?? found.databaseUrl;
  const redisUrl = REDIS_URL ?? found.redisUrl;
  if (databaseUrl && redisUrl) return { databaseUrl, redisUrl };
  throw new OperatorError(
    `No ${databaseUrl ? 'Redis' : 'Postgres'} runs on DATA_DIR ${dataDir}. Start the orchestrator first (npm start), or set DATABASE_URL and REDIS_URL.`,
  );
}
