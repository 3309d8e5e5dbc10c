import type { Clock } from '#libs/clock';
import type { RedisLock, Renewal } from '#libs/locks';
import { OperatorError } from '#libs/operator';

/** The lock of the orchestrator, from its acquisition on. Once lost it stays lost, and its process ends. */
export class OrchestratorLock {
  private readonly lost = new AbortController();

  constructor(
    private readonly lock: RedisLock,
    private readonly clock: Clock,
    private readonly renewalIntervalMs: number,
  ) {}

  /** Aborted when the lock is lost: another orchestrator may be at work, and needs what this one would take down. */
  get lostSignal(): AbortSignal {
    return this.lost.signal;
  }

  get isLost(): boolean {
    return this.lost.signal.aborted;
  }

  isTrusted(): boolean {
    return this.lock.isTrusted();
  }

  /** One at a time: the ticks call it, and before them whoever uses keepWhile. */
  async renew(): Promise<Renewal> {
    const renewal = await this.lock.renew();
    if (renewal === 'lost') this.lost.abort();
    return renewal;
  }

  async release(): Promise<void> {
    await this.lock.release();
  }

  /**
   * Renews the lock for as long as the work takes. Rejects as soon as it is lost, without waiting for work that is no
   * longer ours; what that still does must ask isTrusted.
   */
  async keepWhile<T>(work: () => Promise<T>): Promise<T> {
    const done = new AbortController();
    const keeping = this.renewUntil(done.signal);
    try {
      const working = work();
      await Promise.race([working, keeping]);
      return await working;
    } finally {
      done.abort();
      await keeping;
    }
  }

  private async renewUntil(done: AbortSignal): Promise<void> {
    for (;;) {
      await this.clock.sleep(this.renewalIntervalMs, done);
      if (done.aborted) return;
      if ((await this.renew()) === 'lost') throw orchestratorLockLost();
    }
  }
}

export function orchestratorLockLost(): OperatorError {
  return new OperatorError(
    'The lock of the orchestrator is lost: this process was paused for too long, or another one took over. Workers run on.',
  );
}
