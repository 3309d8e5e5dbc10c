import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  ControlChannel,
  fleetKeys,
  Heartbeat,
  PairConfigs,
  revisionOf,
  type Pair,
  type WorkerState,
} from '#libs/fleet';
import { RedisLocks, type RedisLock } from '#libs/locks';
import { OperatorError } from '#libs/operator';
import { aborted, connectDatabase, connectRedis, type ProcessContext } from '#libs/process';
import type { Redis } from '#libs/redis';
import { Supervisor, type LoopObserver } from '#libs/supervision';
import { findDemonstrationVenue, readVenueSettings } from '#libs/venues';
import { heartbeatTask } from './heartbeat-task.js';
import { LoopMetrics } from './loop-metrics.js';
import { listenForCommands } from './pair-commands.js';
import { openPairWork } from './pair-work.js';
import { PairStore, RETENTION_DAYS } from './pair/pair-store.js';
import { locateServers } from './servers.js';
import { serveWorker } from './worker-server.js';

const DAY_MS = 86_400_000;
const RESTART_WISH_TTL_MS = 60_000;

/**
 * Works on one pair: takes its lock, opens its store, beats, listens for commands, and runs its cycle until it is told
 * to stop. Then it finishes the cycle it is in, says that it stopped, and makes room for the next.
 */
export async function runPairWorker(context: ProcessContext, id: string): Promise<void> {
  const { config, clock, logger, stopping } = context;
  await using undo = new AsyncDisposableStack();
  const { databaseUrl, redisUrl } = await locateServers(context);
  const database = await connectDatabase(context, { url: databaseUrl, applicationName: `flotilla pair ${id}` }, undo);
  const redis = await connectRedis(context, redisUrl, undo);
  const services = { database, redis };
  const venues = readVenueSettings(config);
  const hasDemonstration = findDemonstrationVenue(venues) !== undefined;
  const configs = new PairConfigs(database, { file: config.PAIRS_FILE, hasDemonstration });
  const pair = await getPair(configs, id);
  const keys = fleetKeys(config.KEY_PREFIX);
  const lock = await acquireLock(context, redis, keys.workerLock(id));
  undo.defer(async () => void (await lock.release().catch(() => undefined)));
  const store = openStore(context, id, undo);

  const ttls = { heartbeatTtlMs: config.WORKER_HEARTBEAT_TTL_MS, stateTtlMs: config.WORKER_STATE_TTL_MS };
  const heartbeat = new Heartbeat({ redis, clock, keys, id, lock, ...ttls });
  const [told, lost] = [new AbortController(), new AbortController()];
  const supervisor = supervise(context);
  const metrics = new LoopMetrics();
  const ran: LoopObserver['ran'] = (loop, run) => {
    metrics.ran(loop, run);
    if (run.error !== undefined) logger.error({ err: run.error }, `The loop ${loop} failed`);
    // The next heartbeat publishes it again, so a state that does not arrive is only late.
    if (!lost.signal.aborted) void heartbeat.publish(report()).catch(() => undefined);
  };
  const work = openPairWork(context, { pair, services, venues, store, lock, observer: { ran } }, undo);
  const { loops, status, health } = work;
  const report = (): WorkerState => work.report('running', supervisor.getAllTaskStatuses());
  metrics.watch(loops);

  const drain = (): boolean => (status.isDraining = true);
  status.healthPort = await serveWorker(context, { services, redisUrl, id, health, report, drain }, undo);
  const unsubscribe = await listenForCommands(new ControlChannel(redis, keys.control), {
    id,
    revision: revisionOf(pair),
    configs,
    logger,
    stop: () => told.abort(),
    wishRestart: async () => void (await redis.set(keys.restarting(id), '1', 'PX', RESTART_WISH_TTL_MS)),
  });
  undo.defer(unsubscribe);
  supervisor.addTask('heartbeat', heartbeatTask(context, { heartbeat, report }, lost));
  supervisor.addTask('order-stream', work.followOrders);
  for (const loop of loops) supervisor.addTask(loop.name, loop.task);
  supervisor.start();
  logger.info(`Worker pair ${id} is up: http://127.0.0.1:${status.healthPort}/internal/health`);

  await aborted(AbortSignal.any([stopping, told.signal, lost.signal]));
  const { stillRunning } = await supervisor.shutdown();
  if (stillRunning.length > 0) logger.warn(`Stopping although these did not finish: ${stillRunning.join(', ')}`);
  if (lost.signal.aborted) {
    throw new OperatorError(
      `The lock of pair ${id} is lost: another process took over, or this one was paused for long.`,
    );
  }
  await heartbeat
    .end(work.report('stopped', supervisor.getAllTaskStatuses()))
    .catch((error: unknown) => logger.warn({ err: error }, 'Redis could not be told of the stop'));
  logger.info('Stopped');
}

async function getPair(configs: PairConfigs, id: string): Promise<Pair> {
  const pair = await configs.find(id);
  if (pair) return pair;
  throw new OperatorError(
    `No pair "${id}" is configured. Configure it with PUT /api/config/pairs/${id} or in PAIRS_FILE.`,
  );
}

async function acquireLock({ config, clock }: ProcessContext, redis: Redis, key: string): Promise<RedisLock> {
  const locks = new RedisLocks(redis, clock);
  const lock = await locks.tryAcquire(key, config.WORKER_LOCK_TTL_MS);
  if (lock) return lock;
  const holder = (await locks.findHolder(key)) ?? 'nobody by now';
  throw new OperatorError(`Another process works on this pair: ${key} is held by ${holder}. Stop that one first.`);
}

function openStore({ config, clock }: ProcessContext, id: string, undo: AsyncDisposableStack): PairStore {
  const dataDir = resolve(config.DATA_DIR);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const store = PairStore.open(join(dataDir, `${id}.db`), { clock });
  undo.defer(() => store.close());
  store.prune({ olderThanMs: RETENTION_DAYS * DAY_MS });
  return store;
}

function supervise({ config, clock, logger }: ProcessContext): Supervisor {
  return new Supervisor({
    clock,
    settings: { restartsMax: Infinity, stopGraceMs: config.SHUTDOWN_GRACE_MS },
    observer: (notice) => {
      if (notice.event === 'failed') logger.error({ err: notice.error }, `The task ${notice.task} failed`);
    },
  });
}
