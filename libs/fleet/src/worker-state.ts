import { z } from 'zod';

export const WORKER_KINDS = ['pair', 'ingest', 'executor'] as const;
export type WorkerKind = (typeof WORKER_KINDS)[number];

/** How one loop of a worker fares. A task that is no loop has no interval, and nothing is said of its health. */
const LoopState = z.object({
  lastRun: z.iso.datetime().nullable().describe('when it last ended'),
  durationMs: z.number().nullable(),
  status: z.string().describe('of the supervised task'),
  intervalMs: z.number().nullable().default(null),
  healthy: z.boolean().nullable().default(null).describe('its last good run ended less than twice its interval ago'),
  lastGoodRun: z.iso.datetime().nullable().default(null).describe('when one last ended without an error'),
  runningForMs: z.number().nullable().default(null).describe('how long the present run has been under way'),
  failures: z.int().default(0).describe('runs that failed since the process started'),
});

/** What the sweeps of a worker found last. */
export const ReconciliationFigures = z.object({
  lastRun: z.iso.datetime().nullable().describe('when a sweep was last made to its end'),
  mismatchCount: z.int(),
  missingFromExchange: z.int(),
  missingInDb: z.int(),
  lockContentionCount: z.int(),
});
export type ReconciliationFigures = z.infer<typeof ReconciliationFigures>;

/** What a worker counts, for whoever adds up the fleet. */
const WorkerFigures = z.object({
  lockContentionCount: z.int().describe('entry locks that were found held by another'),
  violatedProfiles: z.array(z.string()).describe('profiles whose capital is not as it must be'),
  lifecycleViolations: z.int(),
  reconciliation: ReconciliationFigures.nullable(),
});
export type WorkerFigures = z.infer<typeof WorkerFigures>;

/** What a worker tells of itself with every heartbeat. Figures of strategies that do not have them are null. */
export const WorkerState = z.object({
  pairId: z.string(),
  pid: z.int(),
  host: z.string().describe('name of the machine that the process runs on'),
  kind: z.enum(WORKER_KINDS),
  revision: z.string().describe('names the configuration that it runs with'),
  status: z.enum(['running', 'error', 'stopped']),
  uptimeMs: z.number(),
  epoch: z.int().describe('cycles decided so far, over restarts'),
  lastDecision: z.string().nullable(),
  lastDecisionTs: z.iso.datetime().nullable(),
  forces: z.record(z.string(), z.unknown()).nullable(),
  optParams: z.record(z.string(), z.number()).nullable(),
  optFitness: z.number().nullable(),
  regime: z.record(z.string(), z.unknown()).nullable(),
  killSwitch: z.object({ active: z.boolean(), reason: z.string() }).nullable(),
  currentApr: z.number().nullable(),
  optimalApr: z.number().nullable(),
  errorMsg: z.string().nullable(),
  healthPort: z.int(),
  loops: z.record(z.string(), LoopState),
  figures: WorkerFigures.nullable().default(null),
});
export type WorkerState = z.infer<typeof WorkerState>;

/** Undefined for a state that is absent or unreadable: whoever shows it goes on without. */
export function parseWorkerState(text: string | null): WorkerState | undefined {
  if (text === null) return undefined;
  try {
    return WorkerState.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
