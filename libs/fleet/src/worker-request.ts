import { z } from 'zod';

/** Log levels that may be set while a worker runs. */
export const LogLevel = z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']);

/** What the orchestrator asks one worker, over Nest's Redis transport; every answer is the worker's state. */
export const WorkerRequest = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('status') }),
  z.strictObject({ type: z.literal('drain') }),
  z.strictObject({ type: z.literal('log-level'), level: LogLevel }),
]);
export type WorkerRequest = z.infer<typeof WorkerRequest>;

export function workerRequestPattern(prefix: string, id: string): string {
  return `${prefix}:worker:${id}:request`;
}
