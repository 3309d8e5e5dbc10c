import { randomUUID } from 'node:crypto';
import type { Database } from '#libs/database';
import { beginRun, endRun } from './run-records.js';

const SCHEDULE = 'schedule';

/** The row of a sweep; made as soon as there is anything to write down, and not before. */
export class Run {
  readonly id = randomUUID();
  private begun = false;

  constructor(
    private readonly database: Database,
    private readonly about: { readonly venue: string; readonly askedBy?: string | undefined },
  ) {}

  get hasBegun(): boolean {
    return this.begun;
  }

  async begin(): Promise<void> {
    if (this.begun) return;
    const { venue, askedBy = SCHEDULE } = this.about;
    await this.database.statement((tx) => beginRun(tx, { runId: this.id, venue, askedBy }));
    this.begun = true;
  }

  async end(result: Omit<Parameters<typeof endRun>[1], 'runId'>): Promise<void> {
    if (this.begun) await this.database.statement((tx) => endRun(tx, { runId: this.id, ...result }));
  }
}
