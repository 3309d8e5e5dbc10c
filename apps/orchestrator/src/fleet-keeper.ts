import { fileURLToPath } from 'node:url';
import {
  ControlChannel,
  Fleet,
  FleetBoard,
  fleetKeys,
  PairConfigs,
  policies,
  revisionOf,
  WorkerLogs,
  WorkerSpawner,
  type Action,
  type DesiredWorker,
  type FleetObserver,
} from '#libs/fleet';
import { RedisLocks } from '#libs/locks';
import type { ProcessContext, Services } from '#libs/process';
import type { Logger } from '#libs/telemetry';
import { FleetMetrics } from './fleet-metrics.js';
import type { OrchestratorLock } from './orchestrator-lock.js';

const WORKER_MAIN = fileURLToPath(new URL('../../worker/src/main.js', import.meta.url));

interface Surroundings {
  readonly services: Services;
  readonly lock: OrchestratorLock;
  readonly dataDir: string;
  readonly urls: { readonly databaseUrl: string; readonly redisUrl: string };
  /** Where the paper venue listens, if it is ours. */
  readonly paperPort: number | undefined;
  readonly hasDemonstration: boolean;
  /** Something that wants to be done with every tick. */
  readonly eachTick: () => Promise<unknown>;
}

/** The orchestrator's own work: ticks that renew the lock and look after the fleet, and reloads of what it should be. */
export class FleetKeeper {
  readonly fleet: Fleet;
  readonly board: FleetBoard;
  readonly configs: PairConfigs;
  readonly logs: WorkerLogs;
  readonly control: ControlChannel;
  readonly metrics: FleetMetrics;
  private readonly stopped = new AbortController();
  private ticking: Promise<void> | undefined;
  private reloading: Promise<void> | undefined;
  private isReloadWanted = false;
  private unsubscribe: (() => void) | undefined;
  private isInCharge = false;

  constructor(
    private readonly context: ProcessContext,
    private readonly around: Surroundings,
  ) {
    const { config, clock } = context;
    const { redis, database } = around.services;
    const keys = fleetKeys(config.KEY_PREFIX);
    const { hasDemonstration } = around;
    this.configs = new PairConfigs(database, { file: config.PAIRS_FILE, hasDemonstration });
    this.logs = new WorkerLogs(around.dataDir);
    this.board = new FleetBoard(redis, keys, new RedisLocks(redis, clock));
    this.control = new ControlChannel(redis, keys.control);
    const env = {
      DATABASE_URL: around.urls.databaseUrl,
      REDIS_URL: around.urls.redisUrl,
      DATA_DIR: around.dataDir,
      ...(around.paperPort !== undefined && { PAPER_PORT: String(around.paperPort) }),
    };
    this.fleet = new Fleet({
      clock,
      board: this.board,
      control: this.control,
      spawner: new WorkerSpawner({ main: WORKER_MAIN, env }, this.logs),
      policies: policies(config),
      startsMax: config.WORKER_STARTS_MAX,
      mayAct: () => around.lock.isTrusted(),
      observer: this.observer(),
    });
    this.metrics = new FleetMetrics(this.fleet, this.board, clock);
  }

  /** Takes charge of the workers. Listens before it reads the configuration: a change between the two would otherwise be missed. */
  async start(): Promise<void> {
    this.unsubscribe = await this.control.subscribe({
      malformed: (text) => {
        this.metrics.controlMalformed.inc();
        this.context.logger.warn(`Ignored a message on the control channel: ${text.slice(0, 100)}`);
      },
      received: (message) => {
        if (message.type === 'CONFIG_CHANGED') void this.reload();
      },
    });
    process.on('SIGHUP', this.onHangup);
    const desired = await this.desired();
    this.isInCharge = true;
    await this.fleet.adopt(desired);
    await this.fleet.setDesired(desired);
  }

  /** From here on the ticks renew the lock, and nobody else must. */
  watch(): void {
    this.ticking = this.tickUntilStopped();
  }

  /** Reads the configuration again. One at a time; wishes that come meanwhile are served by one more. */
  reload(): Promise<void> {
    this.isReloadWanted = true;
    this.reloading ??= this.reloadUntilQuiet();
    return this.reloading;
  }

  /** Tells everybody that a pair changed. Our own fleet follows even when Redis is silent. */
  async announceChange(pairId: string): Promise<void> {
    await this.control
      .publish({ type: 'CONFIG_CHANGED', pairId })
      .catch((error: unknown) => this.context.logger.warn({ err: error }, 'CONFIG_CHANGED was not published'));
    void this.reload();
  }

  /** Ends with the workers. One that never took charge of them, as its configuration was broken, leaves them alone. */
  async stop(): Promise<void> {
    await this.end();
    if (!this.isInCharge) return;
    await this.fleet.stop(this.context.config.SHUTDOWN_GRACE_MS);
  }

  /** Lets go of the workers without stopping them. */
  async abandon(): Promise<void> {
    await this.end();
    await this.fleet.abandon();
  }

  private async end(): Promise<void> {
    process.off('SIGHUP', this.onHangup);
    this.unsubscribe?.();
    this.stopped.abort();
    await this.ticking;
    await this.reloading;
  }

  private readonly onHangup = (): void => {
    this.context.logger.info('SIGHUP: reading the configuration again');
    void this.reload();
  };

  private async tickUntilStopped(): Promise<void> {
    const { clock, config, logger } = this.context;
    const intervalMs = config.HEALTH_CHECK_INTERVAL_MS;
    while (!this.stopped.signal.aborted) {
      const startedAt = clock.monotonic();
      await this.runOnce().catch((error: unknown) => logger.error({ err: error }, 'A tick of the fleet failed'));
      const durationMs = clock.monotonic() - startedAt;
      this.metrics.tickDuration.observe(durationMs / 1000);
      if (durationMs > intervalMs) this.metrics.tickOverruns.inc();
      await clock.sleep(Math.max(0, intervalMs - durationMs), this.stopped.signal);
    }
  }

  /** One tick. The lock comes first: whoever lost it must not touch a worker any more. */
  async runOnce(): Promise<void> {
    const renewal = await this.around.lock.renew();
    if (renewal !== 'held') this.metrics.renewalsLost.inc({ outcome: renewal });
    if (renewal === 'lost') {
      this.stopped.abort();
      return;
    }
    await this.around.eachTick();
    await this.fleet.pass();
    for (const { id } of this.fleet.list()) this.logs.rotate(id);
  }

  private async reloadUntilQuiet(): Promise<void> {
    while (this.isReloadWanted && !this.stopped.signal.aborted) {
      this.isReloadWanted = false;
      await this.desired().then(
        (desired) => this.fleet.setDesired(desired),
        (error: unknown) =>
          this.context.logger.error({ err: error }, 'The configuration was not read; the old one stays'),
      );
    }
    this.reloading = undefined;
  }

  private async desired(): Promise<DesiredWorker[]> {
    const pairs = await this.configs.list();
    return pairs
      .filter(({ enabled }) => enabled)
      .map((pair) => ({ kind: 'pair', id: pair.id, revision: revisionOf(pair) }));
  }

  private observer(): FleetObserver {
    const { logger } = this.context;
    return {
      adopted: ({ id }, pid) => logger.info(`Took charge of worker ${id}, which still runs (process ${pid})`),
      exited: ({ id }, pid) => logger.warn(`Worker ${id} ended (process ${pid})`),
      healthy: ({ id }, afterMs) => {
        this.metrics.spawnToHealthy.observe(afterMs / 1000);
        logger.info(`Worker ${id} is up after ${Math.round(afterMs)} ms`);
      },
      acted: ({ id }, action) => {
        if (action.type === 'spawn' && action.reason !== 'new') this.metrics.restarts.inc({ reason: action.reason });
        describe(id, action, logger);
      },
      failed: (what, error) => logger.warn({ err: error }, `The fleet could not ${what}`),
    };
  }
}

function describe(id: string, action: Action, logger: Logger): void {
  switch (action.type) {
    case 'spawn':
      return logger.info(`Starting worker ${id} (${action.reason})`);
    case 'stop':
      return logger.info(`Telling worker ${id} to stop (${action.reason})`);
    case 'kill':
      return logger.error(`Killing worker ${id} (${action.reason})`);
    case 'retry-later':
      return logger.warn(
        `Worker ${id} failed ${action.failures} times in a row and is started again after its backoff`,
      );
    case 'give-up':
      return logger.error(
        `Worker ${id} failed ${action.failures} times in a row and is given up; restart it to try again`,
      );
    case 'mark-healthy':
    case 'forget':
      return;
  }
}
