import type { Clock } from '#libs/clock';
import {
  LOOP_NAMES,
  type LoopHealth,
  type LoopName,
  type WorkerFigures,
  type WorkerReport,
  type WorkerState,
} from '#libs/fleet';
import { explainLoop, isHealthyAfter } from '#libs/supervision';

interface Expected {
  readonly id: string;
  readonly hasGivenUp: boolean;
}

interface Settings {
  /** For how long nothing may be heard of a pair that was never heard of. */
  readonly silenceMsMax: number;
  /** By how much what is known here may be older than what the workers know. */
  readonly lagMs: number;
}

interface KnownLoop {
  readonly intervalMs: number;
  /** By our own clock: when its last good run ended; without one, since when it is known. */
  readonly goodAt: number;
  readonly lastGoodRun: string | null;
  readonly lastRun: string | null;
  readonly durationMs: number | null;
  readonly saysHealthy: boolean;
  readonly runningForMs: number | null;
}

interface KnownPair {
  readonly since: number;
  hasGivenUp: boolean;
  /** What it said last, also when it says nothing any more. */
  state: WorkerState | undefined;
  readonly loops: Map<string, KnownLoop>;
}

/**
 * How the loops of all pairs that should run fare, by what their workers publish. It remembers when each loop last did
 * well, over restarts of its worker: one that is back within twice its interval is never missed, and one that is given
 * up, dead or silent for longer is. What a worker says of a loop that is stuck is believed at once.
 */
export class FleetHealth {
  private readonly pairs = new Map<string, KnownPair>();

  constructor(
    private readonly clock: Clock,
    private readonly settings: Settings,
  ) {}

  /** Which pairs should run now. */
  expect(expected: readonly Expected[]): void {
    const ids = new Set(expected.map(({ id }) => id));
    for (const id of this.pairs.keys()) if (!ids.has(id)) this.pairs.delete(id);
    for (const { id, hasGivenUp } of expected) {
      const pair = this.pairs.get(id);
      if (pair) pair.hasGivenUp = hasGivenUp;
      else this.pairs.set(id, { since: this.clock.monotonic(), hasGivenUp, state: undefined, loops: new Map() });
    }
  }

  /** What was read of the workers; not to be called when nothing could be read. */
  observe(reports: ReadonlyMap<string, Pick<WorkerReport, 'state'>>): void {
    for (const [id, pair] of this.pairs) {
      const state = reports.get(id)?.state;
      if (!state) continue;
      pair.state = state;
      for (const [name, loop] of Object.entries(state.loops)) {
        const known = this.follow(pair.loops.get(name), loop);
        if (known) pair.loops.set(name, known);
      }
    }
  }

  /** Healthy when it is in every pair; the oldest of the last runs, and the longest. */
  loop(name: LoopName): LoopHealth {
    const known = [...this.pairs.values()].flatMap(({ loops }) => loops.get(name) ?? []);
    const lastRuns = known.flatMap(({ lastRun }) => lastRun ?? []).sort();
    const durations = known.flatMap(({ durationMs }) => durationMs ?? []);
    return {
      isHealthy: this.faults(name).length === 0,
      lastRun: lastRuns[0] ?? null,
      durationMs: durations.length === 0 ? null : Math.max(...durations),
    };
  }

  /** A sentence for each pair in which the loop is not healthy. */
  faults(name: LoopName): string[] {
    return [...this.pairs].flatMap(([id, pair]) => {
      const fault = this.fault(pair, name);
      return fault === undefined ? [] : [`Pair ${id}: ${fault}`];
    });
  }

  /** Every fault once, and what workers say of themselves: why entries are not made as they should be. */
  reasons(): string[] {
    const told = [...this.pairs].flatMap(([id, { state }]) => {
      const words: string[] = [];
      if (state?.killSwitch?.active) words.push(state.killSwitch.reason);
      if (state?.status === 'error' && state.errorMsg !== null) words.push(state.errorMsg);
      const violations = state?.figures?.lifecycleViolations ?? 0;
      if (violations > 0) words.push(`${violations} problems in its trades; its log names them`);
      return words.map((each) => `Pair ${id}: ${each}`);
    });
    return [...new Set([...LOOP_NAMES.flatMap((name) => this.faults(name)), ...told])];
  }

  violatedProfiles(): string[] {
    return [...new Set(this.figures().flatMap(({ violatedProfiles }) => violatedProfiles))];
  }

  lockContentionCount(): number {
    return sum(this.figures().map((figures) => figures.lockContentionCount));
  }

  sweepContentionCount(): number {
    return sum(this.figures().map(({ reconciliation }) => reconciliation?.lockContentionCount ?? 0));
  }

  private figures(): WorkerFigures[] {
    return [...this.pairs.values()].flatMap(({ state }) => state?.figures ?? []);
  }

  /** A new process has had no good run yet; the good run of the one before it is not forgotten for that. */
  private follow(before: KnownLoop | undefined, loop: WorkerState['loops'][string]): KnownLoop | undefined {
    const { intervalMs, lastGoodRun } = loop;
    if (intervalMs === null) return undefined;
    const isNews = lastGoodRun !== null && lastGoodRun !== before?.lastGoodRun;
    return {
      intervalMs,
      goodAt: isNews ? this.momentOf(lastGoodRun) : (before?.goodAt ?? this.clock.monotonic()),
      lastGoodRun: lastGoodRun ?? before?.lastGoodRun ?? null,
      lastRun: loop.lastRun ?? before?.lastRun ?? null,
      durationMs: loop.durationMs ?? before?.durationMs ?? null,
      saysHealthy: loop.healthy ?? true,
      runningForMs: loop.runningForMs,
    };
  }

  /** By our own monotonic clock, so that neither wall clock can jump a loop into good health or out of it. */
  private momentOf(stamp: string): number {
    return this.clock.monotonic() - Math.max(0, this.clock.now() - Date.parse(stamp));
  }

  private fault(pair: KnownPair, name: LoopName): string | undefined {
    if (pair.hasGivenUp) return 'its worker failed too often and was given up; restart it.';
    const loop = pair.loops.get(name);
    const now = this.clock.monotonic();
    if (!loop) {
      if (now - pair.since < this.settings.silenceMsMax) return undefined;
      return pair.state ? `its worker has no loop ${name}; restart it.` : 'its worker has not been heard of.';
    }
    const goodAgoMs = now - loop.goodAt;
    if (loop.saysHealthy && isHealthyAfter(goodAgoMs - this.settings.lagMs, loop.intervalMs)) return undefined;
    const { intervalMs, runningForMs, lastGoodRun } = loop;
    const lastGoodRunAt = lastGoodRun === null ? undefined : Date.parse(lastGoodRun);
    return explainLoop(name, { intervalMs, goodAgoMs, lastGoodRunAt, runningForMs: runningForMs ?? undefined });
  }
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
