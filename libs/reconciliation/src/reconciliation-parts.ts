import type { Clock } from '#libs/clock';
import type { Database } from '#libs/database';
import type { ReconciliationLocks } from '#libs/locks';
import type { Venue } from '#libs/venues';
import type { Patience } from './claim.js';
import type { Correction } from './correction.js';
import type { CorrectionState } from './correction-records.js';
import type { SweepFigures } from './run-records.js';
import type { LastSweep, SweepTurns } from './sweep-turns.js';

/** What a sweep works with. */
export interface ReconciliationParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly locks: ReconciliationLocks;
  readonly turns: SweepTurns;
  /** Throws where no such venue is configured. */
  readonly venueOf: (id: string) => Venue;
  readonly settings: ReconciliationSettings;
  readonly observer: ReconciliationObserver;
}

export interface ReconciliationSettings extends Patience {
  readonly clientOrderIdPrefix: string;
  /** How far back orders that ended, and fills, are compared. */
  readonly lookbackMs: number;
  /** Time between two sweeps of a venue. */
  readonly intervalMs: number;
  readonly feeBps: number;
}

/** The boundaries of a sweep: between any two of them the process may die. */
export const SWEEP_STEPS = ['sweep:begun', 'sweep:read', 'sweep:proved', 'sweep:locked', 'sweep:corrected'] as const;
export type SweepStep = (typeof SWEEP_STEPS)[number];

export interface Sweep {
  readonly venue: string;
  /** Only where there was something to write down. */
  readonly runId?: string;
  readonly outcome: 'clean' | 'corrected' | 'failed';
  readonly figures: SweepFigures;
  readonly startedAt: Date;
  readonly durationMs: number;
  /** Why it failed. */
  readonly reason?: string;
}

export interface ReconciliationObserver {
  /** Waited for, so that whoever watches sees each step before the next begins. */
  reached(step: SweepStep): void | Promise<void>;
  corrected(correction: Correction, state: CorrectionState): void;
  swept(sweep: Sweep): void;
  /** How the last sweep of the venue ended that ended well, whoever made it. */
  informed(venue: string, last: LastSweep): void;
  /** Another sweeps this venue or a profile of it. */
  contended(): void;
}
