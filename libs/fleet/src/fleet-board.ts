import { pidOfToken, type RedisLocks } from '#libs/locks';
import type { Redis } from '#libs/redis';
import type { FleetKeys } from './keys.js';
import type { Observation } from './planner.js';
import { parseWorkerState, type WorkerState } from './worker-state.js';

const UNKNOWN: Observation = { heartbeat: 'unknown', isRestartWished: false };

export interface WorkerReport {
  readonly state: WorkerState | undefined;
  /** Unix ms; undefined when there is none. */
  readonly heartbeatAt: number | undefined;
}

/** What the fleet reads from and writes to Redis. */
export class FleetBoard {
  constructor(
    private readonly redis: Redis,
    private readonly keys: FleetKeys,
    private readonly locks: RedisLocks,
  ) {}

  /** One round trip for all. When Redis does not answer, all is unknown. */
  async observe(ids: readonly string[]): Promise<{ answered: boolean; of: (id: string) => Observation }> {
    try {
      const values = await this.readAll(ids.flatMap((id) => [this.keys.heartbeat(id), this.keys.restarting(id)]));
      const observations = new Map(
        ids.map((id, index): [string, Observation] => [
          id,
          { heartbeat: values[2 * index] ? 'present' : 'absent', isRestartWished: Boolean(values[2 * index + 1]) },
        ]),
      );
      return { answered: true, of: (id) => observations.get(id) ?? UNKNOWN };
    } catch {
      return { answered: false, of: () => UNKNOWN };
    }
  }

  async report(ids: readonly string[]): Promise<Map<string, WorkerReport>> {
    const values = await this.readAll(ids.flatMap((id) => [this.keys.state(id), this.keys.heartbeat(id)]));
    return new Map(
      ids.map((id, index) => {
        const heartbeat = values[2 * index + 1];
        const heartbeatAt = heartbeat ? Number(heartbeat) : undefined;
        return [id, { state: parseWorkerState(values[2 * index] ?? null), heartbeatAt }];
      }),
    );
  }

  /** Removes what a dead process left: its lock, if it is its own, would keep the next one out for many minutes. */
  async clearAfter(id: string, pid: number): Promise<void> {
    const key = this.keys.workerLock(id);
    const holder = await this.locks.findHolder(key);
    if (holder !== undefined && pidOfToken(holder) === pid) await this.locks.releaseFor(key, holder);
    await this.redis.del(this.keys.heartbeat(id));
  }

  /** The process that holds a worker's lock. */
  async findLockHolder(id: string): Promise<number | undefined> {
    const holder = await this.locks.findHolder(this.keys.workerLock(id));
    return holder === undefined ? undefined : pidOfToken(holder);
  }

  async wishRestart(id: string, ttlMs: number): Promise<void> {
    await this.redis.set(this.keys.restarting(id), '1', 'PX', ttlMs);
  }

  async grantRestart(id: string): Promise<void> {
    await this.redis.del(this.keys.restarting(id));
  }

  /** The workers that the orchestrator before us wanted to run. */
  async listActive(): Promise<string[]> {
    return this.redis.smembers(this.keys.workers);
  }

  async publishActive(ids: readonly string[]): Promise<void> {
    const replace = this.redis.multi().del(this.keys.workers);
    if (ids.length > 0) replace.sadd(this.keys.workers, ...ids);
    await replace.exec();
  }

  private async readAll(keys: readonly string[]): Promise<(string | null)[]> {
    return keys.length === 0 ? (await this.redis.ping(), []) : this.redis.mget(...keys);
  }
}
