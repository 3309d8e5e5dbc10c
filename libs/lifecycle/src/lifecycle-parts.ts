import type { Clock } from '#libs/clock';
import type { Database } from '#libs/database';
import type { EntryLocks } from '#libs/locks';
import type { Venue } from '#libs/venues';
import type { Buffers } from './entry-plan.js';
import type { UndecidedIntent } from './intents.js';
import type { Applied, ReportSource } from './report.js';
import type { Outcome } from './signal.js';

/** What every recipe of the lifecycle works with. */
export interface LifecycleParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly locks: EntryLocks;
  /** Throws where no such venue is configured. */
  readonly venueOf: (id: string) => Venue;
  readonly settings: LifecycleSettings;
  readonly observer: LifecycleObserver;
}

export interface LifecycleSettings {
  readonly clientOrderIdPrefix: string;
  readonly entryLockTtlMs: number;
  readonly submitTimeoutMs: number;
  /** How long an order may be on its way: an intent younger than this is disproved by nothing. */
  readonly submitWindowMs: number;
  /** An intent that stays unknown for longer is told to a person. */
  readonly unknownAlertMs: number;
  readonly buffers: Buffers;
}

/** The boundaries of the recipes: between any two of them the process may die. */
export const STEPS = [
  ...(['entry:locked', 'entry:begun', 'entry:answered', 'entry:persisted'] as const),
  ...(['exit:locked', 'exit:begun', 'exit:answered', 'exit:persisted'] as const),
  ...(['cancel:requested', 'cancel:answered'] as const),
  ...(['report:received', 'report:applied'] as const),
  ...(['resolve:locked', 'resolve:answered', 'resolve:decided'] as const),
] as const;
export type Step = (typeof STEPS)[number];

export interface LifecycleObserver {
  /** Waited for, so that whoever watches sees each step before the next begins. */
  reached(step: Step): void | Promise<void>;
  concluded(purpose: 'entry' | 'exit', outcome: Outcome['outcome'], reason: string | undefined): void;
  applied(source: ReportSource, applied: Applied): void;
  resolved(intent: UndecidedIntent, as: 'confirmed' | 'rejected'): void;
  /** Once per pass for each intent that has been unknown for too long. */
  overdue(intent: UndecidedIntent): void;
  /** How many are undecided of what was looked into, and the age of the oldest. */
  undecided(
    scope: { readonly venue: string; readonly symbol?: string },
    intents: { readonly count: number; readonly oldestMs: number },
  ): void;
  failed(what: string, error: unknown): void;
}
