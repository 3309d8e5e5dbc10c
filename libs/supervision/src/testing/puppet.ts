import type { Clock } from '#libs/clock';
import type { Task } from '../task.js';

interface PuppetRun {
  readonly startedAt: number;
  readonly signal: AbortSignal;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** A task whose runs end when the test says so, and when their signal is aborted unless the puppet is stubborn. */
export class Puppet {
  readonly runs: PuppetRun[] = [];
  readonly live = new Set<PuppetRun>();
  /** The most runs that were ever under way together. */
  liveMax = 0;

  constructor(
    private readonly clock: Clock,
    private readonly character: 'obedient' | 'stubborn' = 'obedient',
  ) {}

  readonly task: Task = (signal) =>
    new Promise<void>((resolve, reject) => {
      const run: PuppetRun = { startedAt: this.clock.monotonic(), signal, resolve, reject };
      this.runs.push(run);
      this.live.add(run);
      this.liveMax = Math.max(this.liveMax, this.live.size);
      if (this.character === 'obedient') {
        signal.addEventListener('abort', () => this.end((ending) => ending.reject(signal.reason)));
      }
    });

  complete(): void {
    this.end((run) => run.resolve());
  }

  fail(error: unknown = new Error('The string broke.')): void {
    this.end((run) => run.reject(error));
  }

  startTimes(): number[] {
    return this.runs.map((run) => run.startedAt);
  }

  private end(how: (run: PuppetRun) => void): void {
    for (const run of this.live) how(run);
    this.live.clear();
  }
}
