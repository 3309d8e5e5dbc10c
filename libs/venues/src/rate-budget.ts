import type { Clock } from '#libs/clock';
import type { Redis } from '#libs/redis';
import { blockInRedis, BudgetTaker } from './budget-script.js';
import { bucketFor, TokenBucket } from './token-bucket.js';
import type { RateLimit } from './venue.js';

/** urgent: cancels and exits. reconcile: finding out what is true. data: what can wait. */
export type Priority = 'urgent' | 'reconcile' | 'entry' | 'data';

/** The part of a bucket that a priority leaves to those above it. */
const FLOOR: Record<Priority, number> = { urgent: 0, reconcile: 0.15, entry: 0.4, data: 0.6 };

/** After Redis failed, it is left alone this long: asking a silent one costs seconds each time. */
const REDIS_PAUSE_MS = 1_000;

export interface Cost {
  readonly requests: number;
  readonly orders?: number;
}

export interface BudgetRequest {
  readonly priority: Priority;
  readonly cost: Cost;
  readonly waitMsMax: number;
  readonly signal?: AbortSignal;
}

export type Grant = { readonly granted: true } | { readonly granted: false; readonly reason: 'budget' | 'aborted' };

export interface BudgetParts {
  /** Undefined where a process lives alone; it then has its local share only. */
  readonly redis: Redis | undefined;
  readonly clock: Clock;
  readonly keyPrefix: string;
  readonly venue: string;
  /** Fingerprint of the API key; never the key. */
  readonly account: string;
  readonly limits: readonly RateLimit[];
  readonly fleetShare: number;
}

/**
 * One budget per account for the whole fleet, kept in Redis. While Redis is away each process spends its local share,
 * so that the fleet together stays within the limit; a block that the venue ordered holds in both.
 */
export class RateBudget {
  private readonly taker: BudgetTaker | undefined;
  private readonly local: ReadonlyMap<RateLimit['name'], TokenBucket>;
  private localBlockTill = Number.NEGATIVE_INFINITY;
  private redisPausedTill = Number.NEGATIVE_INFINITY;
  private lastLeft: number;

  constructor(private readonly parts: BudgetParts) {
    const now = parts.clock.monotonic();
    this.taker = parts.redis && new BudgetTaker(parts.redis);
    this.local = new Map(
      parts.limits.map((limit) => [limit.name, new TokenBucket(bucketFor(limit, parts.fleetShare), now)]),
    );
    const [first] = parts.limits;
    this.lastLeft = first ? bucketFor(first).capacity : 0;
  }

  /** Waits for its turn, up to the bound. Not granted means that nothing was taken and nothing may be sent. */
  async acquire(request: BudgetRequest): Promise<Grant> {
    const { clock } = this.parts;
    const deadline = clock.monotonic() + request.waitMsMax;
    while (!request.signal?.aborted) {
      const waitMs = await this.tryTake(request);
      if (waitMs === 0) return { granted: true };
      if (clock.monotonic() + waitMs > deadline) return { granted: false, reason: 'budget' };
      await clock.sleep(waitMs, request.signal);
    }
    return { granted: false, reason: 'aborted' };
  }

  /** The venue told us to be quiet, which goes for every process that uses this account. */
  async block(forMs: number): Promise<void> {
    const { redis, clock } = this.parts;
    this.localBlockTill = Math.max(this.localBlockTill, clock.monotonic() + forMs);
    if (redis) await blockInRedis(redis, this.key('block'), forMs).catch(() => this.pauseRedis());
  }

  /** Requests left in the bucket, as it was last seen. */
  left(): number {
    return this.lastLeft;
  }

  private async tryTake({ priority, cost }: BudgetRequest): Promise<number> {
    const { clock, limits } = this.parts;
    const now = clock.monotonic();
    if (this.localBlockTill > now) return this.localBlockTill - now;
    if (!this.taker || this.redisPausedTill > now) return this.takeLocally(priority, cost);
    const draws = limits.flatMap((limit) => {
      const shape = bucketFor(limit);
      const units = cost[limit.name] ?? 0;
      return units > 0
        ? [{ key: this.key(limit.name), shape, cost: units, floor: shape.capacity * FLOOR[priority] }]
        : [];
    });
    try {
      const { waitMs, left } = await this.taker.take(this.key('block'), draws);
      this.lastLeft = left;
      return waitMs;
    } catch {
      this.pauseRedis();
      return this.takeLocally(priority, cost);
    }
  }

  private takeLocally(priority: Priority, cost: Cost): number {
    const now = this.parts.clock.monotonic();
    const waits = this.parts.limits.map((limit) => {
      const floor = bucketFor(limit, this.parts.fleetShare).capacity * FLOOR[priority];
      const units = cost[limit.name] ?? 0;
      return units > 0 ? (this.local.get(limit.name)?.waitMs(units, floor, now) ?? 0) : 0;
    });
    const waitMs = Math.max(0, ...waits);
    if (waitMs === 0) for (const [name, bucket] of this.local) bucket.take(cost[name] ?? 0);
    this.lastLeft = this.local.get('requests')?.left() ?? this.lastLeft;
    return waitMs;
  }

  private pauseRedis(): void {
    this.redisPausedTill = this.parts.clock.monotonic() + REDIS_PAUSE_MS;
  }

  private key(name: string): string {
    const { keyPrefix, venue, account } = this.parts;
    return `${keyPrefix}:venue:${venue}:${account}:${name}`;
  }
}
