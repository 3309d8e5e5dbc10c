import type { Clock } from '#libs/clock';
import { healthFields, loopProbeName, type HealthFields, type LoopHealth, type WorkerFigures } from '#libs/fleet';
import type { HealthProbe } from '#libs/http';
import { describeHalt } from '#libs/ledger';
import { explainLoop, messageOf, type Loop } from '#libs/supervision';
import type { PairMonitor } from './pair-monitor.js';
import type { PairStatus } from './pair-status.js';
import type { PairSweep } from './pair-sweep.js';

interface Parts {
  readonly clock: Clock;
  readonly loops: readonly Loop[];
  readonly monitor: PairMonitor;
  readonly status: PairStatus;
  readonly lockContentionCount: () => number;
  readonly sweep: PairSweep;
}

/** What the worker says of its health. It asks nobody: all of it was learned by the loops, so it is there at any time. */
export class PairHealth {
  constructor(private readonly parts: Parts) {}

  fields(): HealthFields {
    const { loops, clock } = this.parts;
    const { lockContentionCount, violatedProfiles, reconciliation } = this.figures();
    return healthFields({
      loops: Object.fromEntries(loops.map((loop) => [loop.name, loopHealth(loop)])),
      reconciliation: reconciliation ?? undefined,
      capitalInvariantViolations: violatedProfiles.length,
      degraded: this.degraded(),
      lockContentionCount,
      now: clock.now(),
    });
  }

  figures(): WorkerFigures {
    const { monitor, lockContentionCount, sweep } = this.parts;
    return {
      lockContentionCount: lockContentionCount(),
      violatedProfiles: monitor.violatedProfiles,
      lifecycleViolations: monitor.lifecycleViolations.length,
      reconciliation: sweep.figures(),
    };
  }

  /** Each loop, and the capital of the profiles. */
  probes(): HealthProbe[] {
    const { loops, monitor } = this.parts;
    const ledger: HealthProbe = {
      name: 'ledger',
      check: async () => {
        const [first] = monitor.capitalViolations;
        if (!first) return {};
        throw new Error(`The capital of profile ${first.profileId} is wrong: ${first.problem}. See docs/ledger.md.`);
      },
    };
    return [ledger, ...loops.map(loopProbe)];
  }

  /** Why entries are not made as they should be. */
  private degraded(): string[] {
    const { loops, monitor, status } = this.parts;
    return [
      ...(status.isDraining ? ['drained by the operator: no cycle starts until the worker is restarted'] : []),
      ...monitor.halts.map(describeHalt),
      ...monitor.capitalViolations.map(({ profileId, problem }) => `capital of profile ${profileId}: ${problem}`),
      ...monitor.lifecycleViolations.map(({ profileId, problem }) => `trades of profile ${profileId}: ${problem}`),
      ...loops.flatMap((loop) => {
        const state = loop.state();
        if (!state.isHealthy) return [explainLoop(loop.name, state)];
        return state.error === undefined ? [] : [`the loop ${loop.name} failed: ${messageOf(state.error)}`];
      }),
    ];
  }
}

function loopHealth(loop: Loop): LoopHealth {
  const { isHealthy, lastRunAt, durationMs } = loop.state();
  return {
    isHealthy,
    lastRun: lastRunAt === undefined ? null : new Date(lastRunAt).toISOString(),
    durationMs: durationMs ?? null,
  };
}

function loopProbe(loop: Loop): HealthProbe {
  return {
    name: loopProbeName(loop.name),
    check: async () => {
      const state = loop.state();
      if (!state.isHealthy) throw new Error(explainLoop(loop.name, state));
      return {};
    },
  };
}
