import { DataDirectoryLock, EmbeddedServers, findEmbeddedUrls } from '#libs/embedded';
import { OperatorError } from '#libs/operator';
import type { ProcessContext } from '#libs/process';

/**
 * The private servers of one DATA_DIR. One orchestrator owns them: it starts, watches and stops them. Another one on
 * the same folder, such as a standby, is a guest of servers that run, until the owner is gone.
 */
export class PrivateServers {
  private readonly servers: EmbeddedServers;
  private readonly isNeeded: { readonly postgres: boolean; readonly redis: boolean };
  private lock: DataDirectoryLock | undefined;
  private wereRunning = false;

  constructor(
    private readonly context: ProcessContext,
    private readonly dataDir: string,
  ) {
    const { config, clock, logger } = context;
    this.isNeeded = { postgres: config.DATABASE_URL === undefined, redis: config.REDIS_URL === undefined };
    this.servers = new EmbeddedServers(dataDir, clock, {
      progress: (message) => logger.info(message),
      died: (name) => logger.error(`The private ${name} died; starting it again`),
      failed: (name, error) => logger.error({ err: error }, `The private ${name} could not be started again`),
    });
  }

  /** Owns and starts what the configuration does not name, or finds where its owner runs it. */
  async open(): Promise<{ databaseUrl: string; redisUrl: string }> {
    const { config, clock } = this.context;
    const started = (await this.tryOwn()) ?? findEmbeddedUrls(this.dataDir, clock);
    const databaseUrl = config.DATABASE_URL ?? started.databaseUrl;
    const redisUrl = config.REDIS_URL ?? started.redisUrl;
    if (databaseUrl && redisUrl) return { databaseUrl, redisUrl };
    throw new OperatorError(
      `Another orchestrator is just starting or stopping the private servers of DATA_DIR ${this.dataDir}. Try again in a moment.`,
    );
  }

  /** Becomes the owner as soon as the folder has none; the servers run on meanwhile. */
  async tryOwn(): Promise<{ databaseUrl: string | undefined; redisUrl: string | undefined } | undefined> {
    if (this.lock || !(this.isNeeded.postgres || this.isNeeded.redis)) return undefined;
    this.lock = DataDirectoryLock.tryAcquire(this.dataDir);
    if (!this.lock) return undefined;
    const found = findEmbeddedUrls(this.dataDir, this.context.clock);
    this.wereRunning = found.databaseUrl !== undefined || found.redisUrl !== undefined;
    const databaseUrl = this.isNeeded.postgres ? await this.servers.startPostgres() : undefined;
    const redisUrl = this.isNeeded.redis ? await this.servers.startRedis() : undefined;
    this.servers.watch();
    return { databaseUrl, redisUrl };
  }

  async stop(): Promise<void> {
    if (this.lock) await this.servers.stop();
    this.lock?.release();
  }

  /** After a start that failed: what was running before, workers may still need. */
  async stopUnlessFound(): Promise<void> {
    await (this.wereRunning ? this.leave() : this.stop());
  }

  /** Leaves the servers to whoever took over, running. */
  async leave(): Promise<void> {
    await this.servers.unwatch();
    this.lock?.release();
    this.lock = undefined;
  }
}
