import { join } from 'node:path';
import { migrate } from '#libs/database';
import { prepareDataDirectory, readOrCreateSecret } from '#libs/embedded';
import { fleetKeys } from '#libs/fleet';
import { assertPortFree, closeWithin, createHttpApp, guardApi, listen } from '#libs/http';
import { aborted, connectDatabase, connectRedis, type ProcessContext, type Services } from '#libs/process';
import { TenantTokens } from '#libs/tenancy';
import { findDemonstrationVenue, paperVenueSettings, readVenueSettings, type VenueSettings } from '#libs/venues';
import { migrations } from '#migrations';
import { describeApi } from './api-description.js';
import { fundDemonstration } from './demonstration.js';
import { firstScreen } from './first-screen.js';
import { FleetKeeper } from './fleet-keeper.js';
import { HealthKeeper } from './health-keeper.js';
import { LedgerKeeper } from './ledger-keeper.js';
import { LifecycleKeeper } from './lifecycle-keeper.js';
import { orchestratorLockLost, type OrchestratorLock } from './orchestrator-lock.js';
import { orchestratorModule } from './orchestrator.module.js';
import { PaperVenueKeeper } from './paper-venue-keeper.js';
import { PrivateServers } from './private-servers.js';
import { ReconciliationKeeper } from './reconciliation-keeper.js';
import { Singleton } from './singleton.js';
import { WorkerClient } from './worker-client.js';

const APPLICATION_NAME = 'flotilla orchestrator';

type Urls = Awaited<ReturnType<PrivateServers['open']>>;

/**
 * Brings everything up in order, serves until told to stop, and takes everything down in reverse, whether it was told
 * to or failed half way: each step leaves behind how to undo it.
 */
export async function runOrchestrator(context: ProcessContext, options: { standby: boolean }): Promise<void> {
  const { config, logger, stopping } = context;
  const tenants = openTenants(context);
  await using undo = new AsyncDisposableStack();
  // Before anything runs: a faulty file is told at once.
  const configured = readVenueSettings(config);
  const dataDir = prepareDataDirectory(config.DATA_DIR, config.DISK_FREE_BYTES_MIN);
  const servers = new PrivateServers(context, dataDir);
  let hasStarted = false;
  // Set when another orchestrator takes over: what it needs is then left running.
  let hasSuccessor = false;
  undo.defer(() => {
    if (hasSuccessor) return servers.leave();
    return hasStarted ? servers.stop() : servers.stopUnlessFound();
  });
  const urls = await servers.open();
  if (stopping.aborted) return;

  const redis = await connectRedis(context, urls.redisUrl, undo);
  const singleton = new Singleton(context, redis, { key: fleetKeys(config.KEY_PREFIX).orchestratorLock, dataDir });
  const lock = await singleton.acquire(options);
  if (!lock) return;
  lock.lostSignal.addEventListener('abort', () => (hasSuccessor = true));
  undo.defer(async () => {
    if (!hasSuccessor) await singleton.release(lock).catch(() => undefined);
  });
  // However long it takes: migrations may well outlast the lock, and the ticks that renew it come last.
  const { services, ledger, keeper, venues, paperVenue } = await lock.keepWhile(() =>
    takeCharge(context, { servers, urls, redis, lock, configured, dataDir }, undo),
  );
  hasStarted = true;
  keeper.watch();
  const lifecycle = new LifecycleKeeper(context, { services, venues, configs: keeper.configs }, undo);
  undo.defer(() => lifecycle.stop());
  lifecycle.start();
  const venueIds = venues.map(({ id }) => id);
  const { venueOf } = lifecycle;
  const reconciliation = new ReconciliationKeeper(context, { services, configs: keeper.configs, venueIds, venueOf });
  undo.defer(() => reconciliation.stop());
  reconciliation.start();
  const health = new HealthKeeper(context, { services, keeper, ledger, lifecycle, reconciliation });
  undo.defer(() => health.stop());
  health.start();
  const parts = { services, keeper, health, lifecycle, reconciliation, tenants, urls, dataDir };
  const address = await serve(context, parts, undo);
  const workers = keeper.fleet.list().length;
  firstScreen({ config, dataDir, address, ...urls, workers, venues: venueIds, paperVenue }, logger);

  await aborted(AbortSignal.any([stopping, lock.lostSignal]));
  if (lock.isLost) throw orchestratorLockLost();
  logger.info('Stopping: readiness is red, requests in flight are finished, workers are told to stop');
}

/** Everything between the lock and the ticks that renew it. */
async function takeCharge(
  context: ProcessContext,
  parts: {
    servers: PrivateServers;
    urls: Urls;
    redis: Services['redis'];
    lock: OrchestratorLock;
    configured: readonly VenueSettings[];
    dataDir: string;
  },
  undo: AsyncDisposableStack,
) {
  const { config } = context;
  const { servers, urls, redis, lock, configured, dataDir } = parts;
  // Before any worker is touched: a start that fails must not cost a living one.
  await assertPortFree({ host: config.HOST, port: config.PORT });
  await migrateDatabase(context, urls);
  const database = await connectDatabase(context, { url: urls.databaseUrl, applicationName: APPLICATION_NAME }, undo);
  const services = { database, redis };
  const ledger = new LedgerKeeper(context, database);
  undo.defer(() => ledger.stop());
  ledger.start();

  const venue = config.VENUES_FILE === undefined ? new PaperVenueKeeper(context, dataDir) : undefined;
  undo.defer(() => (lock.isLost ? venue?.abandon() : venue?.stop()));
  const paperVenue = await venue?.start();

  const paperPort = paperVenue === undefined ? undefined : Number(new URL(paperVenue).port);
  const venues = paperPort === undefined ? configured : [paperVenueSettings(paperPort)];
  const hasDemonstration = findDemonstrationVenue(venues) !== undefined;
  const keeper = new FleetKeeper(context, {
    ...{ services, lock, dataDir, urls, paperPort, hasDemonstration },
    eachTick: () => servers.tryOwn(),
  });
  undo.defer(() => (lock.isLost ? keeper.abandon() : keeper.stop()));
  if (await keeper.configs.isDemonstration()) await fundDemonstration(database);
  await keeper.start();
  return { services, ledger, keeper, venues, paperVenue };
}

/** First of all: how tenants enter may be configured in a way that makes no sense. */
function openTenants({ config, clock, logger }: ProcessContext): TenantTokens {
  return new TenantTokens(config, clock, {
    failed: (error) => logger.warn({ err: error }, "The keys of tenants' tokens cannot be read"),
  });
}

async function migrateDatabase({ config, logger }: ProcessContext, { databaseUrl }: Urls): Promise<void> {
  const connection = {
    url: databaseUrl,
    applicationName: APPLICATION_NAME,
    connectTimeoutMs: config.DATABASE_CONNECT_TIMEOUT_MS,
  };
  for (const name of await migrate(connection, migrations)) logger.info(`Migrated the database: ${name}`);
}

async function serve(
  context: ProcessContext,
  parts: {
    services: Services;
    keeper: FleetKeeper;
    health: HealthKeeper;
    lifecycle: LifecycleKeeper;
    reconciliation: ReconciliationKeeper;
    tenants: TenantTokens;
    urls: Urls;
    dataDir: string;
  },
  undo: AsyncDisposableStack,
): Promise<string> {
  const { config, clock } = context;
  const adminToken = config.ADMIN_TOKEN ?? readOrCreateSecret(join(parts.dataDir, 'admin-token'));
  const workers = new WorkerClient(parts.urls.redisUrl, config.KEY_PREFIX);
  undo.defer(() => workers.close());
  const app = await createHttpApp(orchestratorModule({ context, ...parts, workers }), {
    bodyBytesMax: config.HTTP_BODY_BYTES_MAX,
  });
  undo.defer(() => closeWithin(app, { graceMs: config.SHUTDOWN_GRACE_MS, clock }));
  guardApi(app, {
    adminToken,
    checkTenant: (token) => parts.tenants.check(token),
    failuresPerMinuteMax: config.AUTH_FAILURES_PER_MINUTE_MAX,
    clock,
  });
  describeApi(app);
  return listen(app, { host: config.HOST, port: config.PORT });
}
