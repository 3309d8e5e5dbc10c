import { Clock } from './clock.js';

interface Sleeper {
  readonly wakesAt: number;
  readonly wake: () => void;
}

/** A clock that stands still until the test advances it. */
export class ManualClock extends Clock {
  private elapsedMs = 0;
  private readonly sleepers = new Set<Sleeper>();
  private readonly watchers = new Set<() => void>();

  constructor(private readonly startedAt = Date.UTC(2026, 0, 1)) {
    super();
  }

  now(): number {
    return this.startedAt + this.elapsedMs;
  }

  monotonic(): number {
    return this.elapsedMs;
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted || delayMs <= 0) return resolve();
      const wake = (): void => {
        this.sleepers.delete(sleeper);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      const sleeper: Sleeper = { wakesAt: this.elapsedMs + delayMs, wake };
      this.sleepers.add(sleeper);
      signal?.addEventListener('abort', wake);
      for (const notice of this.watchers) notice();
    });
  }

  /** Moves time on, waking sleepers in the order in which they are due and letting each one's work run first. */
  async advance(byMs: number): Promise<void> {
    const target = this.elapsedMs + byMs;
    for (let due = this.nextDue(target); due; due = this.nextDue(target)) {
      this.elapsedMs = due.wakesAt;
      due.wake();
      await settled();
    }
    this.elapsedMs = target;
    await settled();
  }

  /** Resolves once at least this many sleepers wait: the signal that the code under test has gone to sleep. */
  async whenSleeping(count = 1): Promise<void> {
    while (this.sleepers.size < count) {
      await new Promise<void>((resolve) => {
        const notice = (): void => {
          this.watchers.delete(notice);
          resolve();
        };
        this.watchers.add(notice);
      });
    }
  }

  private nextDue(target: number): Sleeper | undefined {
    return [...this.sleepers].filter((sleeper) => sleeper.wakesAt <= target).sort((a, b) => a.wakesAt - b.wakesAt)[0];
  }
}

function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
