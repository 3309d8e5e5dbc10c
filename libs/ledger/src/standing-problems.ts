import type { Database } from '#libs/database';
import { createHalt } from './halts.js';

/** Something about a profile that must never be. */
export interface Problem {
  readonly profileId: string;
  /** Also the reason of the halt. */
  readonly problem: string;
}

export interface ProblemObserver<Kind extends Problem> {
  /** Told once for each distinct problem. */
  violated(problem: Kind): void;
  /** The profile of a problem is to be halted, and that failed; the next look tries again. */
  haltFailed(problem: Kind, error: unknown): void;
}

/**
 * The problems that stand, by a name that stays the same while they do. Each is told once and halts its profile once,
 * however long it lasts: from then on a person decides, and a halt that a person lifted stays lifted. One that went away
 * and comes back is a new one.
 */
export class StandingProblems<Kind extends Problem> {
  private readonly told = new Map<string, { isHalted: boolean }>();

  constructor(private readonly parts: { readonly database: Database; readonly observer: ProblemObserver<Kind> }) {}

  async update(problems: ReadonlyMap<string, Kind>): Promise<void> {
    for (const name of this.told.keys()) if (!problems.has(name)) this.told.delete(name);
    for (const [name, problem] of problems) {
      const told = this.told.get(name) ?? { isHalted: false };
      if (!this.told.has(name)) {
        this.told.set(name, told);
        this.parts.observer.violated(problem);
      }
      if (!told.isHalted) told.isHalted = await this.halt(problem);
    }
  }

  private async halt(problem: Kind): Promise<boolean> {
    const { profileId, problem: reason } = problem;
    try {
      await this.parts.database.transaction((tx) =>
        createHalt(tx, { scope: 'profile', profileId, reason, createdBy: 'watchdog' }),
      );
      return true;
    } catch (error) {
      this.parts.observer.haltFailed(problem, error);
      return false;
    }
  }
}
