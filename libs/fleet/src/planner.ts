import { respawnDelayMs, type Policy } from './policy.js';

/** What the orchestrator remembers of one worker. Times are the monotonic clock's. */
export interface FleetWorker {
  readonly id: string;
  /** Names the configuration that its process was started with. */
  readonly revision: string;
  /** Undefined when no process runs. */
  readonly process: { readonly startedAt: number } | undefined;
  /** Whether this process was seen with a heartbeat. */
  readonly isHealthy: boolean;
  /** Told to stop, or killed; a failure when we had to because it was silent. */
  readonly stopping: { readonly since: number; readonly isKilled: boolean; readonly isFailure: boolean } | undefined;
  /** Its last process was told to end, or had no Redis to start with: no failure, and the next one need not wait. */
  readonly endedWithoutFault: boolean;
  /** Exits in a row without a heartbeat between them. */
  readonly failures: number;
  readonly retryAt: number | undefined;
  readonly hasGivenUp: boolean;
}

/** What Redis says of one worker; unknown when Redis did not answer. */
export interface Observation {
  readonly heartbeat: 'present' | 'absent' | 'unknown';
  readonly isRestartWished: boolean;
}

export interface PlanningContext {
  readonly now: number;
  /** Since when Redis has answered without a gap: silence before that proves nothing. */
  readonly askableSince: number;
  readonly policy: Policy;
}

export type Action =
  | { readonly type: 'spawn'; readonly reason: 'new' | 'restart' | 'changed' | 'backoff' }
  | { readonly type: 'stop'; readonly reason: 'removed' | 'restart' | 'changed' }
  | { readonly type: 'kill'; readonly reason: 'silent' | 'grace-over' }
  | { readonly type: 'retry-later'; readonly failures: number; readonly retryAt: number }
  | { readonly type: 'give-up'; readonly failures: number }
  | { readonly type: 'mark-healthy' }
  | { readonly type: 'forget' };

/**
 * The next step of one worker towards what is desired: its revision, or undefined for a worker that should not be.
 * One step at a time; repeated until there is none left, it reaches the desired state from any other.
 */
export function planWorker(
  desired: string | undefined,
  subject: { readonly worker: FleetWorker | undefined; readonly observation: Observation },
  context: PlanningContext,
): Action | undefined {
  const { worker, observation } = subject;
  if (worker === undefined) return desired === undefined ? undefined : { type: 'spawn', reason: 'new' };
  if (worker.process === undefined) return planAbsent(desired, { worker, observation }, context);
  return planRunning(desired, { worker, observation, startedAt: worker.process.startedAt }, context);
}

function planRunning(
  desired: string | undefined,
  subject: { readonly worker: FleetWorker; readonly observation: Observation; readonly startedAt: number },
  { now, askableSince, policy }: PlanningContext,
): Action | undefined {
  const { worker, observation, startedAt } = subject;
  if (worker.stopping) {
    const isOverdue = !worker.stopping.isKilled && now - worker.stopping.since >= policy.stopGraceMs;
    return isOverdue ? { type: 'kill', reason: 'grace-over' } : undefined;
  }
  if (desired === undefined) return { type: 'stop', reason: 'removed' };
  if (desired !== worker.revision) return { type: 'stop', reason: 'changed' };
  if (observation.isRestartWished) return { type: 'stop', reason: 'restart' };
  if (observation.heartbeat === 'present') {
    return worker.isHealthy && worker.failures === 0 ? undefined : { type: 'mark-healthy' };
  }
  const isSilent = observation.heartbeat === 'absent' && now - Math.max(startedAt, askableSince) > policy.silenceMsMax;
  return isSilent ? { type: 'kill', reason: 'silent' } : undefined;
}

function planAbsent(
  desired: string | undefined,
  { worker, observation }: { readonly worker: FleetWorker; readonly observation: Observation },
  { now, policy }: PlanningContext,
): Action | undefined {
  if (desired === undefined) return { type: 'forget' };
  if (observation.isRestartWished || worker.endedWithoutFault) return { type: 'spawn', reason: 'restart' };
  // A new configuration deserves a new chance, whatever became of the old one.
  if (desired !== worker.revision) return { type: 'spawn', reason: 'changed' };
  if (worker.hasGivenUp) return undefined;
  if (worker.retryAt === undefined) {
    const failures = worker.failures + 1;
    if (failures >= policy.failuresMax) return { type: 'give-up', failures };
    return { type: 'retry-later', failures, retryAt: now + respawnDelayMs(failures, policy) };
  }
  return now >= worker.retryAt ? { type: 'spawn', reason: 'backoff' } : undefined;
}
