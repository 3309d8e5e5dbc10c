import Redlock from 'redlock';
import type { Clock } from '#libs/clock';
import type { Redis } from '#libs/redis';
import { newOwnerToken } from './owner-token.js';

/**
 * held: Redis confirmed it. lost: Redis says that it is another's, or ran out while we could have renewed it.
 * unreachable: nobody answered, so nobody else can have taken it from us through this Redis either.
 */
export type Renewal = 'held' | 'lost' | 'unreachable';

/** Locks that save work: two processes that believe to hold one do double work, never harm. Postgres decides. */
export class RedisLocks {
  constructor(
    private readonly redis: Redis,
    private readonly clock: Clock,
  ) {}

  /** Tries once. Undefined when another holds it; rejects when Redis does not answer. */
  async tryAcquire(key: string, ttlMs: number): Promise<RedisLock | undefined> {
    const lock = new RedisLock({ redis: this.redis, clock: this.clock, key, ttlMs, token: newOwnerToken() });
    return (await lock.tryAcquire()) ? lock : undefined;
  }

  async findHolder(key: string): Promise<string | undefined> {
    return (await this.redis.get(key)) ?? undefined;
  }

  /** Frees a lock in the name of a holder that is known to be dead. Resolves with whether it was still held. */
  async releaseFor(key: string, token: string): Promise<boolean> {
    return new RedisLock({ redis: this.redis, clock: this.clock, key, ttlMs: 1, token }).release();
  }
}

interface LockParts {
  readonly redis: Redis;
  readonly clock: Clock;
  readonly key: string;
  readonly ttlMs: number;
  readonly token: string;
}

export class RedisLock {
  readonly token: string;
  private readonly redlock: TokenRedlock;
  private confirmedAt = Number.NEGATIVE_INFINITY;
  private wasUnreachable = false;

  constructor(private readonly parts: LockParts) {
    this.token = parts.token;
    this.redlock = new TokenRedlock(parts.redis, parts.token);
  }

  /** Whether it is still ours by our own clock. A holder that does not trust its lock does nothing until it does. */
  isTrusted(): boolean {
    return this.parts.clock.monotonic() - this.confirmedAt < this.parts.ttlMs;
  }

  /** To be called several times within the TTL. After lost the holder must stop. */
  async renew(): Promise<Renewal> {
    const askedAt = this.parts.clock.monotonic();
    switch (await this.redlock.extend(this.parts.key, this.parts.ttlMs)) {
      case 'done':
        return this.confirm(askedAt);
      case 'unreachable':
        this.wasUnreachable = true;
        return 'unreachable';
      case 'refused':
        // It may have run out only because Redis was away; then it is ours again unless somebody was quicker.
        return this.wasUnreachable && (await this.tryAcquire()) ? 'held' : this.lose();
    }
  }

  /** Compare and delete. Resolves with whether it was still held. */
  async release(): Promise<boolean> {
    this.confirmedAt = Number.NEGATIVE_INFINITY;
    return (await this.redlock.release(this.parts.key)) === 'done';
  }

  async tryAcquire(): Promise<boolean> {
    const askedAt = this.parts.clock.monotonic();
    const outcome = await this.redlock.acquire(this.parts.key, this.parts.ttlMs);
    if (outcome === 'unreachable') throw new Error(`Redis did not answer when asked for the lock ${this.parts.key}.`);
    if (outcome === 'done') this.confirm(askedAt);
    return outcome === 'done';
  }

  private lose(): 'lost' {
    this.confirmedAt = Number.NEGATIVE_INFINITY;
    return 'lost';
  }

  /** Counted from before the question, because Redis may have counted from then. */
  private confirm(askedAt: number): 'held' {
    this.confirmedAt = askedAt;
    this.wasUnreachable = false;
    return 'held';
  }
}

type Outcome = 'done' | 'refused' | 'unreachable';

/** Redlock with our token as the lock's value, and with a refusal told apart from silence. */
class TokenRedlock {
  private readonly redlock: Redlock;
  private fault: unknown;

  constructor(
    redis: Redis,
    private readonly token: string,
  ) {
    // Tried once: whoever needs a lock that is taken has something better to do than wait.
    this.redlock = new Redlock([redis as unknown as Redlock.CompatibleRedisClient], { retryCount: 0 });
    Object.assign(this.redlock, { _random: () => token });
    this.redlock.on('clientError', (error: unknown) => (this.fault = error));
  }

  acquire(key: string, ttlMs: number): Promise<Outcome> {
    return this.outcomeOf(() => this.redlock.lock(key, ttlMs));
  }

  extend(key: string, ttlMs: number): Promise<Outcome> {
    return this.outcomeOf(() => this.handle(key).extend(ttlMs));
  }

  release(key: string): Promise<Outcome> {
    return this.outcomeOf(() => this.handle(key).unlock());
  }

  /** The library refuses by its own clock what it holds to be expired; Redis knows better, so it is always asked. */
  private handle(key: string): Redlock.Lock {
    return new Redlock.Lock(this.redlock, key, this.token, Number.MAX_SAFE_INTEGER, 0);
  }

  private async outcomeOf(work: () => PromiseLike<unknown>): Promise<Outcome> {
    this.fault = undefined;
    try {
      await work();
      return 'done';
    } catch (error) {
      if (!(error instanceof Redlock.LockError)) throw error;
      return this.fault === undefined ? 'refused' : 'unreachable';
    }
  }
}
