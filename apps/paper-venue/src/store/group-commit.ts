import type { DatabaseSync } from 'node:sqlite';

interface Batch {
  readonly committed: Promise<void>;
  readonly resolve: () => void;
  readonly effects: (() => void)[];
}

/**
 * One commit for all that was asked for in the same turn of the event loop: waiting for the disk is what an order
 * costs, and those who wait together pay once. Nobody is answered before the commit.
 */
export class GroupCommit {
  private batch: Batch | undefined;
  private works = 0;

  constructor(
    private readonly database: DatabaseSync,
    private readonly observer: { committed(works: number): void; failed(error: unknown): void },
  ) {}

  /**
   * Runs the work at once and resolves with its result when that is on the disk. A failure is final: memory and disk
   * would differ, so the observer has to end the process, and nobody is answered any more.
   */
  run<T>(work: () => T): Promise<T> {
    try {
      const batch = this.begin();
      this.works += 1;
      const result = work();
      return batch.committed.then(() => result);
    } catch (error) {
      this.observer.failed(error);
      return new Promise(() => undefined);
    }
  }

  /** For after the commit of the work that is being run, in the order of the calls. */
  afterCommit(effect: () => void): void {
    this.batch?.effects.push(effect);
  }

  /** Resolves when everything that was written so far is on the disk: a reader must not tell what may yet be lost. */
  async settled(): Promise<void> {
    while (this.batch) await this.batch.committed;
  }

  /** Commits what is open, for a stop. */
  flush(): void {
    const batch = this.batch;
    if (!batch) return;
    const works = this.works;
    this.batch = undefined;
    this.works = 0;
    try {
      this.database.exec('commit');
    } catch (error) {
      this.observer.failed(error);
      return;
    }
    this.observer.committed(works);
    for (const effect of batch.effects) effect();
    batch.resolve();
  }

  private begin(): Batch {
    if (this.batch) return this.batch;
    this.database.exec('begin immediate');
    const { promise, resolve } = Promise.withResolvers<void>();
    this.batch = { committed: promise, resolve, effects: [] };
    setImmediate(() => this.flush());
    return this.batch;
  }
}
