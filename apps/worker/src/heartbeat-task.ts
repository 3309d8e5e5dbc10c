import type { Heartbeat, WorkerState } from '#libs/fleet';
import type { ProcessContext } from '#libs/process';
import type { Task } from '#libs/supervision';

/** Beats until it is stopped, or until the lock is lost. */
export function heartbeatTask(
  { config, clock }: ProcessContext,
  { heartbeat, report }: { readonly heartbeat: Heartbeat; readonly report: () => WorkerState },
  lost: AbortController,
): Task {
  return async (signal) => {
    while (!signal.aborted) {
      if ((await heartbeat.beat(report)) === 'lost') return lost.abort();
      await clock.sleep(config.WORKER_HEARTBEAT_INTERVAL_MS, signal);
    }
  };
}
