/** One set for all tasks of a supervisor, whenever they are added. */
export interface SupervisionSettings {
  /** Automatic restarts since the last stable run, after which one more failure kills the task. May be Infinity. */
  readonly restartsMax: number;
  readonly restartDelayBaseMs: number;
  readonly restartExponentMax: number;
  /** A run that stays up this long is stable: the failures before it are forgotten. */
  readonly stableAfterMs: number;
  /** The supervisor gives up when more than this share of its tasks is dead; at 1 it never does. */
  readonly deadShareMax: number;
  /** How long a run may take to heed its signal before the caller is told that it still runs. */
  readonly stopGraceMs: number;
}

const defaults: SupervisionSettings = {
  restartsMax: 5,
  restartDelayBaseMs: 1_000,
  restartExponentMax: 5,
  stableAfterMs: 80_000,
  deadShareMax: 1,
  stopGraceMs: 30_000,
};

/** The longest time that the system's clock can sleep; a longer delay would fail at the first restart, not here. */
const DELAY_MS_MAX = 2 ** 31 - 1;

export function completeSettings(overrides: Partial<SupervisionSettings>): SupervisionSettings {
  const settings = { ...defaults, ...overrides };
  const faults = findFaults(settings);
  if (faults.length > 0) throw new RangeError(`Expected ${faults.join('; ')}.`);
  return settings;
}

function findFaults(settings: SupervisionSettings): string[] {
  const { restartsMax, restartDelayBaseMs, restartExponentMax, stableAfterMs, deadShareMax, stopGraceMs } = settings;
  const longestDelayMs = restartDelayBaseMs * 2 ** restartExponentMax;
  const rules: [holds: boolean, rule: string][] = [
    [
      restartsMax === Infinity || isWholeFrom(0, restartsMax),
      `restartsMax to be a whole number from 0 on or Infinity, got ${restartsMax}`,
    ],
    // A base of zero would turn a task that fails at once into a loop that starves everything else.
    [
      isWholeFrom(1, restartDelayBaseMs),
      `restartDelayBaseMs to be a whole number from 1 on, got ${restartDelayBaseMs}`,
    ],
    [
      isWholeFrom(0, restartExponentMax),
      `restartExponentMax to be a whole number from 0 on, got ${restartExponentMax}`,
    ],
    [
      !(longestDelayMs > DELAY_MS_MAX),
      `restartDelayBaseMs × 2^restartExponentMax to be at most ${DELAY_MS_MAX}, got ${longestDelayMs}`,
    ],
    [isWholeFrom(1, stableAfterMs), `stableAfterMs to be a whole number from 1 on, got ${stableAfterMs}`],
    [deadShareMax >= 0 && deadShareMax <= 1, `deadShareMax to be from 0 to 1, got ${deadShareMax}`],
    [
      isWholeFrom(0, stopGraceMs) && stopGraceMs <= DELAY_MS_MAX,
      `stopGraceMs to be a whole number from 0 to ${DELAY_MS_MAX}, got ${stopGraceMs}`,
    ],
  ];
  return rules.filter(([holds]) => !holds).map(([, rule]) => rule);
}

function isWholeFrom(min: number, value: number): boolean {
  return Number.isSafeInteger(value) && value >= min;
}
