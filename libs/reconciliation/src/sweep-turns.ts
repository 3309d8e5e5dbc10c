import type { Clock } from '#libs/clock';
import { RedisLocks, type RedisLock } from '#libs/locks';
import type { Redis } from '#libs/redis';
import type { SweepFigures } from './run-records.js';

/** What the fleet knows of the last sweep of a venue that ended well, whoever made it. */
export interface LastSweep {
  readonly endedAt: number;
  readonly figures: SweepFigures;
}

interface Parts {
  readonly redis: Redis;
  readonly clock: Clock;
  readonly keyPrefix: string;
  readonly lockTtlMs: number;
}

const LAST_TTL_MS = 86_400_000;

/**
 * One sweep of a venue at a time, and no more than one per interval, over all workers. It saves work and venues'
 * requests; when Redis is silent every worker sweeps for itself, and the locks in Postgres decide what is written.
 */
export class SweepTurns {
  private readonly locks: RedisLocks;

  constructor(private readonly parts: Parts) {
    this.locks = new RedisLocks(parts.redis, parts.clock);
  }

  /** taken: another sweeps right now. */
  async tryTake(venue: string): Promise<RedisLock | 'taken' | 'silent'> {
    try {
      return (await this.locks.tryAcquire(this.key(venue, 'lock'), this.parts.lockTtlMs)) ?? 'taken';
    } catch {
      return 'silent';
    }
  }

  async giveBack(turn: RedisLock | 'silent'): Promise<void> {
    if (turn !== 'silent') await turn.release().catch(() => undefined);
  }

  async findLast(venue: string): Promise<LastSweep | undefined> {
    const text = await this.parts.redis.get(this.key(venue, 'last')).catch(() => null);
    return text === null ? undefined : (JSON.parse(text) as LastSweep);
  }

  async setLast(venue: string, last: LastSweep): Promise<void> {
    const { redis } = this.parts;
    await redis.set(this.key(venue, 'last'), JSON.stringify(last), 'PX', LAST_TTL_MS).catch(() => undefined);
  }

  private key(venue: string, what: 'lock' | 'last'): string {
    return `${this.parts.keyPrefix}:reconciliation:${venue}:${what}`;
  }
}
