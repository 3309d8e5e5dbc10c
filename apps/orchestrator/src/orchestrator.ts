import { join } from 'node:path';
import type { Clock } from '#libs/clock';
import { migrate } from '#libs/database';
import { DataDirectoryLock, EmbeddedServers, prepareDataDirectory, readOrCreateSecret } from '#libs/embedded';
import { closeWithin, createHttpApp, guardApi, listen } from '#libs/http';
import { aborted, openServices, type ProcessContext } from '#libs/process';
import type { Logger } from '#libs/telemetry';
import { migrations } from '#migrations';
import { describeApi } from './api-description.js';
import { firstScreen } from './first-screen.js';
import { orchestratorModule } from './orchestrator.module.js';

const APPLICATION_NAME = 'flotilla orchestrator';

/**
 * Brings everything up in order, serves until told to stop, and takes everything down in reverse, whether it was told
 * to or failed half way: each step leaves behind how to undo it.
 */
export async function runOrchestrator(context: ProcessContext): Promise<void> {
  const { config, logger, clock, stopping } = context;
  await using undo = new AsyncDisposableStack();
  const dataDir = prepareDataDirectory(config.DATA_DIR, config.DISK_FREE_BYTES_MIN);
  const lock = DataDirectoryLock.acquire(dataDir);
  undo.defer(() => lock.release());

  const servers = embeddedServers(dataDir, clock, logger);
  undo.defer(() => servers.stop());
  const databaseUrl = config.DATABASE_URL ?? (await servers.startPostgres());
  const redisUrl = config.REDIS_URL ?? (await servers.startRedis());
  if (stopping.aborted) return;

  const connection = {
    url: databaseUrl,
    applicationName: APPLICATION_NAME,
    connectTimeoutMs: config.DATABASE_CONNECT_TIMEOUT_MS,
  };
  for (const name of await migrate(connection, migrations)) logger.info(`Migrated the database: ${name}`);
  const services = await openServices(context, { databaseUrl, redisUrl, applicationName: APPLICATION_NAME }, undo);

  const adminToken = config.ADMIN_TOKEN ?? readOrCreateSecret(join(dataDir, 'admin-token'));
  const app = await createHttpApp(orchestratorModule({ context, dataDir, services }), {
    bodyBytesMax: config.HTTP_BODY_BYTES_MAX,
  });
  undo.defer(() => closeWithin(app, { graceMs: config.SHUTDOWN_GRACE_MS, clock }));
  guardApi(app, { adminToken, failuresPerMinuteMax: config.AUTH_FAILURES_PER_MINUTE_MAX, clock });
  describeApi(app);
  const address = await listen(app, { host: config.HOST, port: config.PORT });
  servers.watch();

  firstScreen({ config, dataDir, address, databaseUrl, redisUrl }, logger);
  await aborted(stopping);
  logger.info('Stopping: readiness is red, requests in flight are finished');
}

function embeddedServers(dataDir: string, clock: Clock, logger: Logger): EmbeddedServers {
  return new EmbeddedServers(dataDir, clock, {
    progress: (message) => logger.info(message),
    died: (name) => logger.error(`The private ${name} died; starting it again`),
    failed: (name, error) => logger.error({ err: error }, `The private ${name} could not be started again`),
  });
}
