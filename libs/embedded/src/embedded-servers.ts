import type { Clock } from '#libs/clock';
import { PostgresServer } from './postgres-server.js';
import { RedisServer } from './redis-server.js';

const WATCH_INTERVAL_MS = 500;

interface Server {
  start(): Promise<string>;
  isRunning(): boolean;
  stop(): Promise<void>;
}

interface Observer {
  /** A step that takes a while, or that a person may want to know of. */
  progress(message: string): void;
  /** A server died; it is started again on its old port. */
  died(name: string): void;
  /** Starting it again failed; the next attempt follows. */
  failed(name: string, error: unknown): void;
}

/** The private servers of one data folder: started in order, watched, stopped in reverse. */
export class EmbeddedServers {
  private readonly servers = new Map<string, Server>();
  private readonly abort = new AbortController();
  private watching: Promise<void> | undefined;

  constructor(
    private readonly dataDir: string,
    private readonly clock: Clock,
    private readonly observer: Observer,
  ) {}

  startPostgres(): Promise<string> {
    return this.start(
      'Postgres',
      new PostgresServer(this.dataDir, this.clock, (message) => this.observer.progress(message)),
    );
  }

  startRedis(): Promise<string> {
    return this.start('Redis', new RedisServer(this.dataDir, this.clock, (message) => this.observer.progress(message)));
  }

  /** Starts again what died, for as long as the servers are not stopped. */
  watch(): void {
    this.watching ??= (async () => {
      while (!this.abort.signal.aborted) {
        await this.runOnce();
        await this.clock.sleep(WATCH_INTERVAL_MS, this.abort.signal);
      }
    })();
  }

  async runOnce(): Promise<void> {
    for (const [name, server] of this.servers) {
      if (server.isRunning() || this.abort.signal.aborted) continue;
      this.observer.died(name);
      await server.start().catch((error: unknown) => this.observer.failed(name, error));
    }
  }

  /** Stops looking after the servers and leaves them running. */
  async unwatch(): Promise<void> {
    this.abort.abort();
    await this.watching;
  }

  async stop(): Promise<void> {
    await this.unwatch();
    for (const server of [...this.servers.values()].reverse()) await server.stop();
    this.servers.clear();
  }

  private async start(name: string, server: Server): Promise<string> {
    // Known before it starts, so that a start cut short is cleaned up by stop().
    this.servers.set(name, server);
    return server.start();
  }
}

/** The URLs of the private servers that an orchestrator keeps running on this folder, for a worker started by hand. */
export function findEmbeddedUrls(
  dataDir: string,
  clock: Clock,
): { databaseUrl: string | undefined; redisUrl: string | undefined } {
  const silent = (): void => undefined;
  return {
    databaseUrl: new PostgresServer(dataDir, clock, silent).findUrl(),
    redisUrl: new RedisServer(dataDir, clock, silent).findUrl(),
  };
}
