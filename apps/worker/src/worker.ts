import { resolve } from 'node:path';
import { closeWithin, createHttpApp, listen } from '#libs/http';
import { OperatorError } from '#libs/operator';
import { aborted, openServices, type ProcessContext } from '#libs/process';
import { describeAssignment, type Assignment } from './assignment.js';
import { workerModule } from './worker.module.js';

/** Serves health and metrics on a free loopback port until told to stop. */
export async function runWorker(context: ProcessContext, assignment: Assignment): Promise<void> {
  const { config, logger, clock, stopping } = context;
  await using undo = new AsyncDisposableStack();
  const urls = await locateServers(context);
  const applicationName = `flotilla ${describeAssignment(assignment)}`;
  const services = await openServices(context, { ...urls, applicationName }, undo);

  const app = await createHttpApp(workerModule(context, services), { bodyBytesMax: config.HTTP_BODY_BYTES_MAX });
  undo.defer(() => closeWithin(app, { graceMs: config.SHUTDOWN_GRACE_MS, clock }));
  const address = await listen(app, { host: '127.0.0.1', port: 0 });
  logger.info({ address }, `Worker ${describeAssignment(assignment)} is up: ${address}/internal/health`);
  await aborted(stopping);
  logger.info('Stopping');
}

/** The orchestrator hands the URLs down; a worker started by hand looks for the private servers of its DATA_DIR. */
async function locateServers({ config, clock }: ProcessContext): Promise<{ databaseUrl: string; redisUrl: string }> {
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
