import type { SupervisionSettings } from './settings.js';
import type { TaskStatus } from './task-status.js';

export type FailurePlan = { action: 'give-up' } | { action: 'restart'; attempt: number; delayMs: number };

/** Attempts are the automatic restarts since the last stable run; a caller's restart is none. */
export function planAfterFailure(attempts: number, settings: SupervisionSettings): FailurePlan {
  if (attempts >= settings.restartsMax) return { action: 'give-up' };
  const attempt = attempts + 1;
  return { action: 'restart', attempt, delayMs: restartDelayMs(attempt, settings) };
}

/** The first restart is attempt 1, so it waits for twice the base. */
export function restartDelayMs(attempt: number, settings: SupervisionSettings): number {
  return settings.restartDelayBaseMs * 2 ** Math.min(attempt, settings.restartExponentMax);
}

export function attemptsAfterRun(
  run: { readonly attempts: number; readonly uptimeMs: number },
  settings: SupervisionSettings,
): number {
  return run.uptimeMs >= settings.stableAfterMs ? 0 : run.attempts;
}

/** A killed task counts like any other dead one: what it did is not being done. */
export function areTooManyDead(statuses: readonly TaskStatus[], settings: SupervisionSettings): boolean {
  const dead = statuses.filter((status) => status === 'dead').length;
  return dead / statuses.length > settings.deadShareMax;
}
