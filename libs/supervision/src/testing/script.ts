import fc from 'fast-check';
import { completeSettings, type SupervisionSettings } from '../settings.js';

export type Step =
  | { readonly act: 'complete' | 'fail' | 'kill' | 'restart'; readonly task: number }
  | { readonly act: 'add' }
  | { readonly act: 'shutdown' }
  | { readonly act: 'advance'; readonly ms: number };

export const TASKS_MAX = 3;

const task = fc.nat({ max: TASKS_MAX - 1 });

/** What falls due does so at one of a few times; a millisecond to either side of it is where faults hide. */
const ms = fc.oneof(
  fc.nat({ max: 200 }),
  fc.tuple(fc.constantFrom(20, 40, 80, 160, 1_000), fc.constantFrom(-1, 0, 1)).map(([due, off]) => due + off),
);

const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 40, arbitrary: fc.record({ act: fc.constant('fail'), task }) },
  { weight: 40, arbitrary: fc.record({ act: fc.constant('advance'), ms }) },
  { weight: 20, arbitrary: fc.record({ act: fc.constant('restart'), task }) },
  { weight: 5, arbitrary: fc.record({ act: fc.constant('complete'), task }) },
  { weight: 5, arbitrary: fc.record({ act: fc.constant('kill'), task }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('add') }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('shutdown') }) },
);

const settings: fc.Arbitrary<SupervisionSettings> = fc
  .record({
    restartsMax: fc.constantFrom(0, 1, 3, Infinity),
    restartExponentMax: fc.nat({ max: 4 }),
    deadShareMax: fc.constantFrom(0.3, 0.5, 1, 1),
  })
  .map((chosen) => completeSettings({ ...chosen, restartDelayBaseMs: 10, stableAfterMs: 1_000, stopGraceMs: 50 }));

export const scripts = fc.record({
  settings,
  characters: fc.array(fc.constantFrom('obedient', 'stubborn'), {
    minLength: TASKS_MAX,
    maxLength: TASKS_MAX,
  }),
  // Left to itself fast-check prefers scripts too short for a task to reach its limit.
  script: fc
    .array(steps, { minLength: 20, maxLength: 100, size: 'max' })
    .map((script): Step[] => [{ act: 'add' }, { act: 'add' }, ...script]),
});

/** For each step, how many ticks pass before the next one. */
export const ticks = fc.infiniteStream(fc.nat({ max: 6 }));
