/** Healthy means that a run of the task is under way; failed, that the next one waits for its time. */
export type TaskStatus = 'created' | 'healthy' | 'failed' | 'completed' | 'dead';

/** Started is the supervisor's own doing, the first time or after a delay; restarted is a caller's wish. */
export type TaskEvent = 'started' | 'completed' | 'failed' | 'exhausted' | 'restarted' | 'killed';

const next: Record<TaskStatus, Partial<Record<TaskEvent, TaskStatus>>> = {
  created: { started: 'healthy', killed: 'dead' },
  healthy: { completed: 'completed', failed: 'failed', restarted: 'healthy', killed: 'dead' },
  failed: { started: 'healthy', restarted: 'healthy', exhausted: 'dead', killed: 'dead' },
  completed: { restarted: 'healthy' },
  dead: { restarted: 'healthy' },
};

export function nextStatus(status: TaskStatus, event: TaskEvent): TaskStatus {
  const following = next[status][event];
  if (following === undefined) throw new Error(`Invariant: a ${status} task is never ${event}.`);
  return following;
}

/** A task that is over runs again only when somebody restarts it. */
export function isOver(status: TaskStatus): boolean {
  return status === 'completed' || status === 'dead';
}
