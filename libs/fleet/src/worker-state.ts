import { z } from 'zod';

export const WORKER_KINDS = ['pair', 'ingest', 'executor'] as const;
export type WorkerKind = (typeof WORKER_KINDS)[number];

/** How one loop of a worker fares. */
const LoopState = z.object({
  lastRun: z.iso.datetime().nullable().describe('when it last ended'),
  durationMs: z.number().nullable(),
  status: z.string().describe('of the supervised task'),
});

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
