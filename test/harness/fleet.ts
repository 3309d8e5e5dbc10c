import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { inject, onTestFinished, vi } from 'vitest';
import { fleetKeys, type WorkerState } from '#libs/fleet';
import { createTestDatabase } from './database.js';
import { startApp, temporaryFolder, type Started } from './process.js';

/**
 * What takes seconds in production, in fractions of one; but what runs out there runs out as late here, because a busy
 * machine is late too. A test that waits for the end of a lock or a heartbeat makes it short itself.
 */
const QUICK = {
  ADMIN_TOKEN: 'test-token',
  HEALTH_CHECK_INTERVAL_MS: '100',
  WORKER_HEARTBEAT_INTERVAL_MS: '100',
  RESPAWN_BASE_MS: '50',
  SHUTDOWN_GRACE_MS: '10000',
  INTERVAL_SEC: '1',
};
const PATIENCE = { timeout: 90_000, interval: 50 };

export interface WorkerView extends Partial<WorkerState> {
  readonly alive: boolean;
  readonly process: string;
  readonly failures: number;
}

/** One installation: a database, a prefix in Redis, a folder. Orchestrators and workers come and go on it. */
export class TestFleet {
  readonly keys: ReturnType<typeof fleetKeys>;
  readonly redis: Redis;
  private address = '';

  private constructor(
    readonly env: Record<string, string> & {
      DATA_DIR: string;
      DATABASE_URL: string;
      REDIS_URL: string;
      KEY_PREFIX: string;
    },
  ) {
    this.keys = fleetKeys(env.KEY_PREFIX);
    this.redis = new Redis(env.REDIS_URL);
    this.redis.on('error', () => undefined);
    onTestFinished(() => this.redis.disconnect());
    // Registered before any orchestrator, so that it runs after all of them: whoever outlived them is told to go.
    onTestFinished(() => this.killLeftovers());
  }

  static async create(env: Record<string, string> = {}): Promise<TestFleet> {
    const { url } = await createTestDatabase({ template: 'template0' });
    return new TestFleet({
      ...QUICK,
      DATABASE_URL: url,
      REDIS_URL: inject('redisUrl'),
      DATA_DIR: temporaryFolder(),
      KEY_PREFIX: `t${randomBytes(4).toString('hex')}`,
      // Installations of the demonstration share profile, signals and venue; their orders must not be taken for each other's.
      CLIENT_ORDER_ID_PREFIX: `t${randomBytes(4).toString('hex')}`,
      ...env,
    });
  }

  /** Starts an orchestrator and waits until it serves. */
  async start(env: Record<string, string> = {}, args: string[] = []): Promise<Started> {
    const orchestrator = startApp('orchestrator', { env: { ...this.env, ...env }, args });
    await this.serves(orchestrator);
    return orchestrator;
  }

  async serves(orchestrator: Started): Promise<void> {
    this.address = (await orchestrator.says(/Health\s+(http:\/\/[\d.:]+)\/internal\/health/))[1] ?? '';
  }

  api(path: string, init: { method?: string; body?: unknown } = {}): Promise<Response> {
    return fetch(this.address + path, {
      method: init.method ?? 'GET',
      headers: {
        authorization: 'Bearer test-token',
        ...(init.body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(init.body !== undefined && { body: JSON.stringify(init.body) }),
    });
  }

  async statuses(): Promise<Record<string, WorkerView>> {
    const answer = await this.api('/api/orchestrator/status');
    return ((await answer.json()) as { statuses: Record<string, WorkerView> }).statuses;
  }

  /** Waits until a worker fares as expected, and returns what is said of it. */
  async whenWorker(id: string, condition: (worker: WorkerView) => boolean): Promise<WorkerView> {
    return vi.waitUntil(async () => {
      const worker = (await this.statuses())[id];
      return worker && condition(worker) ? worker : false;
    }, PATIENCE);
  }

  /** The process of a worker that runs and beats; another one than the given, where one is given. */
  async whenRunning(id: string, notPid?: number): Promise<number> {
    const { pid } = await this.whenWorker(id, (worker) => isRunning(worker) && worker.pid !== notPid);
    return pid ?? 0;
  }

  async state(id: string): Promise<WorkerState | undefined> {
    const text = await this.redis.get(this.keys.state(id));
    return text === null ? undefined : (JSON.parse(text) as WorkerState);
  }

  log(id: string): string {
    const path = join(this.env.DATA_DIR, 'logs', `${id}.log`);
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  }

  async metric(name: string): Promise<number> {
    const text = await (await this.api('/metrics')).text();
    const line = text.split('\n').find((candidate) => candidate.startsWith(`${name} `));
    return Number(line?.split(' ').at(-1));
  }

  /** Resolves when a key that was written now and lived for so long would be gone, by the clock of Redis. */
  async whenExpired(ttlMs: number): Promise<void> {
    const probe = `${this.env.KEY_PREFIX}:probe`;
    await this.redis.set(probe, '1', 'PX', ttlMs);
    await vi.waitUntil(async () => !(await this.redis.exists(probe)), PATIENCE);
  }

  private async killLeftovers(): Promise<void> {
    const redis = new Redis(this.env.REDIS_URL);
    redis.on('error', () => undefined);
    const locks = await redis.keys(this.keys.workerLock('*')).catch(() => []);
    for (const key of locks) {
      const pid = Number((await redis.get(key))?.split('-')[0]);
      try {
        if (pid > 1) process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended by itself.
      }
    }
    redis.disconnect();
  }
}

export function isRunning(worker: WorkerView): boolean {
  return worker.alive && worker.process === 'running';
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

export async function whenGone(pid: number): Promise<void> {
  await vi.waitUntil(() => !isAlive(pid), PATIENCE);
}
