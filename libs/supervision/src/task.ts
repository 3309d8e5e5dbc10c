import type { TaskEvent, TaskStatus } from './task-status.js';

/**
 * Called anew for every run, and begins its work anew: what a run keeps in local variables is gone with it.
 * Returning completes the task, throwing fails it. When the signal is aborted the run is to end soon.
 */
export type Task = (signal: AbortSignal) => Promise<void>;

interface StatusChange {
  readonly task: string;
  readonly from: TaskStatus;
  readonly to: TaskStatus;
}

export type TaskNotice =
  | (StatusChange & { readonly event: Exclude<TaskEvent, 'failed'> })
  /** Without a time to the restart there is none: the limit is reached, and exhausted follows. */
  | (StatusChange & {
      readonly event: 'failed';
      readonly error: unknown;
      readonly restartInMs: number | undefined;
    })
  /** No change of status: a run that had been told to stop threw something else than its abort. */
  | { readonly task: string; readonly event: 'stop-failed'; readonly error: unknown };

export type KillOutcome = 'ended' | 'still-running';

/** After still-running the restart stands: it happens when the old run ends, unless the task is killed before. */
export type RestartOutcome = 'restarted' | 'cancelled' | 'still-running';
