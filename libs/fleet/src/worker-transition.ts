import type { Action, FleetWorker } from './planner.js';

/** What the orchestrator remembers of a worker once it has carried out an action; undefined when it forgets it. */
export function afterAction(
  worker: FleetWorker | undefined,
  action: Action,
  happened: { readonly id: string; readonly revision: string; readonly now: number },
): FleetWorker | undefined {
  if (action.type === 'spawn') return spawned(worker, action, happened);
  if (worker === undefined) throw new Error(`Invariant: only a known worker is ever told to ${action.type}.`);
  switch (action.type) {
    case 'stop':
      return {
        ...worker,
        stopping: { since: happened.now, isKilled: false, isFailure: false },
      };
    case 'kill': {
      const stopping = worker.stopping ?? { since: happened.now, isFailure: true };
      return { ...worker, stopping: { ...stopping, isKilled: true } };
    }
    case 'retry-later':
      return { ...worker, failures: action.failures, retryAt: action.retryAt };
    case 'give-up':
      return { ...worker, failures: action.failures, hasGivenUp: true };
    case 'mark-healthy':
      return { ...worker, isHealthy: true, failures: 0 };
    case 'forget':
      return undefined;
  }
}

/** What remains of a worker whose process has ended. Who starts while Redis goes away can only end. */
export function afterExit(worker: FleetWorker, askableSince: number): FleetWorker {
  const wasTold = worker.stopping !== undefined && !worker.stopping.isFailure;
  const hadNoRedis =
    worker.process !== undefined && worker.process.startedAt < askableSince && !worker.isHealthy && !worker.stopping;
  const endedWithoutFault = wasTold || hadNoRedis;
  return { ...worker, process: undefined, isHealthy: false, stopping: undefined, endedWithoutFault };
}

/** A process found running that an earlier orchestrator started. */
export function adopted(id: string, revision: string, now: number): FleetWorker {
  return {
    id,
    revision,
    process: { startedAt: now },
    isHealthy: false,
    stopping: undefined,
    endedWithoutFault: false,
    failures: 0,
    retryAt: undefined,
    hasGivenUp: false,
  };
}

function spawned(
  worker: FleetWorker | undefined,
  action: Extract<Action, { type: 'spawn' }>,
  { id, revision, now }: { readonly id: string; readonly revision: string; readonly now: number },
): FleetWorker {
  return { ...adopted(id, revision, now), failures: action.reason === 'backoff' ? (worker?.failures ?? 0) : 0 };
}
