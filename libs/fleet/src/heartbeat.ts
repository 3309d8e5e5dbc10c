import type { Clock } from '#libs/clock';
import type { RedisLock } from '#libs/locks';
import type { Redis } from '#libs/redis';
import type { FleetKeys } from './keys.js';
import type { WorkerState } from './worker-state.js';

interface HeartbeatParts {
  readonly redis: Redis;
  readonly clock: Clock;
  readonly keys: FleetKeys;
  readonly id: string;
  readonly lock: RedisLock;
  readonly heartbeatTtlMs: number;
  readonly stateTtlMs: number;
}

/** A worker's sign of life: renews its lock, then says that it lives and how it fares. */
export class Heartbeat {
  constructor(private readonly parts: HeartbeatParts) {}

  /** Resolves with lost when another process has the lock; then this one must stop. Reports as late as it can. */
  async beat(report: () => WorkerState): Promise<'held' | 'lost' | 'unreachable'> {
    const renewal = await this.parts.lock.renew();
    if (renewal !== 'held') return renewal;
    const { redis, clock, keys, id } = this.parts;
    try {
      await redis.set(keys.heartbeat(id), String(clock.now()), 'PX', this.parts.heartbeatTtlMs);
      await this.publish(report());
      return 'held';
    } catch {
      return 'unreachable';
    }
  }

  async publish(state: WorkerState): Promise<void> {
    await this.parts.redis.set(
      this.parts.keys.state(this.parts.id),
      JSON.stringify(state),
      'PX',
      this.parts.stateTtlMs,
    );
  }

  /** The last word of a worker that stops in order: its state, then room for the next one. */
  async end(state: WorkerState): Promise<void> {
    await this.publish(state);
    await this.parts.lock.release();
    await this.parts.redis.del(this.parts.keys.heartbeat(this.parts.id));
  }
}
