import { describe, expect, it } from 'vitest';
import { ManualClock } from '#libs/clock';
import { WorkerState } from '#libs/fleet';
import { FleetHealth } from './fleet-health.js';

const INTERVAL_MS = 10_000;
const LAG_MS = 2_000;
const SILENCE_MS_MAX = 60_000;

interface Said {
  readonly goodAgoMs?: number;
  readonly healthy?: boolean;
  readonly durationMs?: number;
  readonly loops?: readonly string[];
  readonly state?: Partial<WorkerState>;
}

function setup() {
  const clock = new ManualClock();
  const health = new FleetHealth(clock, { silenceMsMax: SILENCE_MS_MAX, lagMs: LAG_MS });
  const wants = (...ids: string[]) => health.expect(ids.map((id) => ({ id, hasGivenUp: false })));
  /** What a worker publishes whose loops all fare alike; without goodAgoMs none of them has run yet. */
  const says = (id: string, said: Said = {}) => {
    const { goodAgoMs, healthy = true, durationMs = 5, loops = ['trading', 'monitor', 'order-sync'] } = said;
    const lastRun = goodAgoMs === undefined ? null : new Date(clock.now() - goodAgoMs).toISOString();
    const loop = {
      ...{ lastRun, lastGoodRun: lastRun, durationMs: goodAgoMs === undefined ? null : durationMs, status: 'healthy' },
      ...{ intervalMs: INTERVAL_MS, healthy },
    };
    const state = WorkerState.parse({
      ...{ pairId: id, pid: 1, host: 'h', kind: 'pair', revision: 'r', status: 'running', uptimeMs: 1, epoch: 1 },
      ...{ lastDecision: null, lastDecisionTs: null, forces: null, optParams: null, optFitness: null, regime: null },
      ...{ killSwitch: null, currentApr: null, optimalApr: null, errorMsg: null, healthPort: 1 },
      loops: Object.fromEntries(loops.map((name) => [name, loop])),
      ...said.state,
    });
    health.observe(new Map([[id, { state }]]));
  };
  const isHealthy = () => health.loop('monitor').isHealthy;
  return { clock, health, wants, says, isHealthy };
}

describe('the health of the fleet', () => {
  it('is good without pairs, and has no times', () => {
    const { health } = setup();
    for (const name of ['trading', 'monitor', 'reconciliation', 'order-sync'] as const) {
      expect(health.loop(name)).toEqual({ isHealthy: true, lastRun: null, durationMs: null });
    }
    expect(health.reasons()).toEqual([]);
    expect(health.sweepContentionCount()).toBe(0);
  });

  it('gives pairs that were never heard of as long as a worker may be silent', async () => {
    const { clock, health, wants, isHealthy } = setup();
    wants('A');
    await clock.advance(SILENCE_MS_MAX - 1);
    wants('A');
    expect(isHealthy()).toBe(true);
    await clock.advance(1);
    expect(isHealthy()).toBe(false);
    expect(health.faults('trading')).toEqual(['Pair A: its worker has not been heard of.']);
  });

  it('is good only when it is good in every pair, with the oldest of the last runs and the longest', () => {
    const { clock, health, wants, says, isHealthy } = setup();
    wants('A', 'B');
    says('A', { goodAgoMs: 1_000, durationMs: 30 });
    says('B', { goodAgoMs: 4_000, durationMs: 7 });
    const oldest = new Date(clock.now() - 4_000).toISOString();
    expect(health.loop('monitor')).toEqual({ isHealthy: true, lastRun: oldest, durationMs: 30 });
    says('B', { goodAgoMs: 4_000, healthy: false });
    expect(isHealthy()).toBe(false);
    expect(health.faults('monitor')).toEqual([
      'Pair B: The loop monitor had its last good run 4 s ago, and its interval is 10 s.',
    ]);
    wants('A');
    expect(isHealthy()).toBe(true);
  });

  it('turns when a worker is silent for twice the interval, and comes back with its next good run', async () => {
    const { clock, wants, says, isHealthy } = setup();
    wants('A');
    says('A', { goodAgoMs: 0 });
    await clock.advance(2 * INTERVAL_MS + LAG_MS - 1);
    expect(isHealthy()).toBe(true);
    await clock.advance(1);
    expect(isHealthy()).toBe(false);
    says('A', { goodAgoMs: 100 });
    expect(isHealthy()).toBe(true);
  });

  it('stays good over a restart within twice the interval, and still knows the last run', async () => {
    const { clock, health, wants, says, isHealthy } = setup();
    wants('A');
    says('A', { goodAgoMs: 0 });
    const { lastRun } = health.loop('monitor');
    await clock.advance(INTERVAL_MS);
    says('A');
    expect(health.loop('monitor')).toEqual({ isHealthy: true, lastRun, durationMs: 5 });
    await clock.advance(INTERVAL_MS + LAG_MS);
    expect(isHealthy()).toBe(false);
  });

  it('is not healed by a worker that only starts again and again', async () => {
    const { clock, wants, says, isHealthy } = setup();
    wants('A');
    says('A');
    for (let start = 0; start < 5; start += 1) {
      await clock.advance(INTERVAL_MS);
      says('A');
    }
    expect(isHealthy()).toBe(false);
  });

  it('turns at once when a worker is given up, and is good again when it is revived and does well', () => {
    const { health, wants, says, isHealthy } = setup();
    wants('A');
    says('A', { goodAgoMs: 0 });
    health.expect([{ id: 'A', hasGivenUp: true }]);
    expect(isHealthy()).toBe(false);
    expect(health.reasons()).toEqual(['Pair A: its worker failed too often and was given up; restart it.']);
    wants('A');
    expect(isHealthy()).toBe(true);
  });

  it('misses a loop that a worker does not have', async () => {
    const { clock, health, wants, says } = setup();
    wants('A');
    await clock.advance(SILENCE_MS_MAX);
    says('A', { goodAgoMs: 0, loops: ['trading'] });
    expect(health.loop('trading').isHealthy).toBe(true);
    expect(health.faults('monitor')).toEqual(['Pair A: its worker has no loop monitor; restart it.']);
    expect(health.faults('reconciliation')).toEqual(['Pair A: its worker has no loop reconciliation; restart it.']);
  });

  it('does not follow a wall clock that jumps, neither its own nor that of a worker', async () => {
    const { clock, wants, says, isHealthy } = setup();
    wants('A');
    says('A', { goodAgoMs: -3_600_000 });
    await clock.advance(2 * INTERVAL_MS + LAG_MS);
    expect(isHealthy()).toBe(false);
  });

  it('tells what workers say of themselves', () => {
    const { health, wants, says } = setup();
    wants('A', 'B', 'C');
    says('A', { goodAgoMs: 0, state: { status: 'error', errorMsg: 'trading: the venue is closed' } });
    says('B', { goodAgoMs: 0, state: { killSwitch: { active: true, reason: 'drained by the operator' } } });
    const figures = { lockContentionCount: 0, violatedProfiles: [], lifecycleViolations: 2, reconciliation: null };
    says('C', { goodAgoMs: 0, state: { figures } });
    expect(health.reasons()).toEqual([
      'Pair A: trading: the venue is closed',
      'Pair B: drained by the operator',
      'Pair C: 2 problems in its trades; its log names them',
    ]);
  });

  it('adds up counts, and counts a profile of two pairs once', () => {
    const { health, wants, says } = setup();
    wants('A', 'B', 'C');
    const figures = (lastRun: string | null, count: number) => ({
      ...{ lockContentionCount: count, violatedProfiles: ['p', `q${count}`], lifecycleViolations: 0 },
      reconciliation: {
        ...{ lastRun, mismatchCount: count, missingFromExchange: 10 * count, missingInDb: 100 * count },
        lockContentionCount: 1_000 * count,
      },
    });
    says('A', { state: { figures: figures('2026-01-01T00:00:09.000Z', 1) } });
    says('B', { state: { figures: figures('2026-01-01T00:00:05.000Z', 2) } });
    says('C', { state: { figures: figures(null, 0) } });
    expect(health.sweepContentionCount()).toBe(3_000);
    expect(health.lockContentionCount()).toBe(3);
    expect(health.violatedProfiles().sort()).toEqual(['p', 'q0', 'q1', 'q2']);
  });
});
