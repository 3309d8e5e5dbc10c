import { hostname } from 'node:os';
import type { Clock } from '#libs/clock';
import type { WorkerFigures, WorkerState } from '#libs/fleet';
import { messageOf, type Loop } from '#libs/supervision';

interface Known {
  readonly status: 'running' | 'stopped';
  readonly tasks: ReadonlyMap<string, string>;
  readonly loops: readonly Loop[];
  readonly figures: WorkerFigures;
}

/** What the worker knows of itself; published with every heartbeat and after every run. */
export class PairStatus {
  private readonly startedAt: number;
  private decision: { epoch: number; decision: string; ts: number } | undefined;
  isDraining = false;
  healthPort = 0;

  constructor(
    private readonly about: { readonly pairId: string; readonly revision: string; readonly epoch: number },
    private readonly clock: Clock,
  ) {
    this.startedAt = clock.monotonic();
  }

  decided(decision: { epoch: number; decision: string; ts: number }): void {
    this.decision = decision;
  }

  /** A failed run shows until a good one of the same loop follows. */
  report({ status, tasks, loops, figures }: Known): WorkerState {
    const { pairId, revision, epoch } = this.about;
    const errors = loops.flatMap((loop) => {
      const { error } = loop.state();
      return error === undefined ? [] : [`${loop.name}: ${messageOf(error)}`];
    });
    return {
      pairId,
      pid: process.pid,
      host: hostname(),
      kind: 'pair',
      revision,
      status: status === 'running' && errors.length > 0 ? 'error' : status,
      uptimeMs: Math.round(this.clock.monotonic() - this.startedAt),
      epoch: this.decision?.epoch ?? epoch,
      lastDecision: this.decision?.decision ?? null,
      lastDecisionTs: this.decision ? new Date(this.decision.ts).toISOString() : null,
      forces: null,
      optParams: null,
      optFitness: null,
      regime: null,
      killSwitch: this.isDraining ? { active: true, reason: 'drained by the operator' } : null,
      currentApr: null,
      optimalApr: null,
      errorMsg: errors.length > 0 ? errors.join('; ') : null,
      healthPort: this.healthPort,
      loops: Object.fromEntries(
        [...tasks].map(([name, taskStatus]) => [
          name,
          loopState(
            taskStatus,
            loops.find((loop) => loop.name === name),
          ),
        ]),
      ),
      figures,
    };
  }
}

/** Of a task that is no loop only its status is known. */
function loopState(status: string, loop: Loop | undefined): WorkerState['loops'][string] {
  const state = loop?.state();
  return {
    lastRun: isoOf(state?.lastRunAt),
    durationMs: state?.durationMs ?? null,
    status,
    intervalMs: state?.intervalMs ?? null,
    healthy: state?.isHealthy ?? null,
    lastGoodRun: isoOf(state?.lastGoodRunAt),
    runningForMs: state?.runningForMs ?? null,
    failures: state?.failures ?? 0,
  };
}

function isoOf(stamp: number | undefined): string | null {
  return stamp === undefined ? null : new Date(stamp).toISOString();
}
