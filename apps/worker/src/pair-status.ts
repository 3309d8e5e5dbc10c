import { hostname } from 'node:os';
import { inspect } from 'node:util';
import type { Clock } from '#libs/clock';
import type { WorkerState } from '#libs/fleet';

interface Loop {
  lastRun: string | null;
  durationMs: number | null;
}

/** What the worker knows of itself; published with every heartbeat. */
export class PairStatus {
  private readonly startedAt: number;
  private readonly loops = new Map<string, Loop>();
  private decision: { epoch: number; decision: string; ts: number } | undefined;
  private readonly errors = new Map<string, string>();
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
  ran(loop: string, startedAt: number, error?: unknown): void {
    const durationMs = this.clock.monotonic() - startedAt;
    this.loops.set(loop, { lastRun: new Date(this.clock.now()).toISOString(), durationMs });
    if (error === undefined) this.errors.delete(loop);
    else this.errors.set(loop, error instanceof Error ? error.message : inspect(error));
  }

  report(status: 'running' | 'stopped', taskStatuses: ReadonlyMap<string, string>): WorkerState {
    const { pairId, revision, epoch } = this.about;
    const errors = [...this.errors].map(([loop, message]) => `${loop}: ${message}`);
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
        [...taskStatuses].map(([name, taskStatus]) => [
          name,
          { ...(this.loops.get(name) ?? { lastRun: null, durationMs: null }), status: taskStatus },
        ]),
      ),
    };
  }
}
