import type { RateLimit } from './venue.js';

/**
 * Venues count in windows. What may go at once and what flows in during one window add up to the limit, so that no
 * window ever sees more, wherever it begins.
 */
const BURST_SHARE = 1 / 3;

export interface BucketShape {
  readonly capacity: number;
  readonly refillPerMs: number;
}

export function bucketFor(limit: RateLimit, share = 1): BucketShape {
  const count = limit.count * share;
  return { capacity: count * BURST_SHARE, refillPerMs: (count * (1 - BURST_SHARE)) / limit.perMs };
}

/** The bucket of one process, for when the shared ones cannot be asked. */
export class TokenBucket {
  private tokens: number;
  private filledAt: number;

  constructor(
    private readonly shape: BucketShape,
    now: number,
  ) {
    this.tokens = shape.capacity;
    this.filledAt = now;
  }

  /** Milliseconds until the cost can be paid without going below the floor; 0 is now. */
  waitMs(cost: number, floor: number, now: number): number {
    const { capacity, refillPerMs } = this.shape;
    this.tokens = Math.min(capacity, this.tokens + (now - this.filledAt) * refillPerMs);
    this.filledAt = now;
    if (cost + floor > capacity) return Number.POSITIVE_INFINITY;
    const missing = cost + floor - this.tokens;
    return missing > 0 ? Math.ceil(missing / refillPerMs) : 0;
  }

  take(cost: number): void {
    this.tokens -= cost;
  }

  left(): number {
    return this.tokens;
  }
}
