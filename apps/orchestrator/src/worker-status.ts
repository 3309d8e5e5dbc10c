import { z } from 'zod';
import { WorkerState, type Fleet, type WorkerReport } from '#libs/fleet';
import { stateOf } from './fleet-metrics.js';

/** What the API tells of one worker: what the orchestrator knows, and beside it what the worker says of itself. */
export const WorkerStatus = WorkerState.partial().extend({
  alive: z.boolean().describe('it has a heartbeat'),
  lastHeartbeat: z.iso.datetime().nullable(),
  process: z.string().describe('running, starting, stopping, waiting for its backoff, or given-up'),
  failures: z.int().describe('exits in a row without a heartbeat between them'),
});
export type WorkerStatus = z.infer<typeof WorkerStatus>;

export function workerStatus(
  worker: ReturnType<Fleet['list']>[number],
  report: WorkerReport | undefined,
): WorkerStatus {
  const heartbeatAt = report?.heartbeatAt;
  return {
    ...report?.state,
    alive: heartbeatAt !== undefined,
    lastHeartbeat: heartbeatAt === undefined ? null : new Date(heartbeatAt).toISOString(),
    process: stateOf(worker),
    failures: worker.failures,
  };
}
