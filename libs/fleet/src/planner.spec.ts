import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planWorker, type Action, type FleetWorker, type Observation } from './planner.js';
import { respawnDelayMs, type Policy } from './policy.js';
import { adopted, afterAction, afterExit } from './worker-transition.js';

const policy: Policy = {
  silenceMsMax: 60_000,
  respawnBaseMs: 10_000,
  respawnMsMax: 300_000,
  failuresMax: 20,
  stopGraceMs: 30_000,
};
const beating: Observation = { heartbeat: 'present', isRestartWished: false };
const silent: Observation = { heartbeat: 'absent', isRestartWished: false };
const unknown: Observation = { heartbeat: 'unknown', isRestartWished: false };

function running(changes: Partial<FleetWorker> = {}): FleetWorker {
  return { ...adopted('BTC-USD', 'r1', 0), isHealthy: true, ...changes };
}

/** While Redis answered all along. */
function ended(worker: FleetWorker): FleetWorker {
  return afterExit(worker, 0);
}

function plan(
  desired: string | undefined,
  worker: FleetWorker | undefined,
  at: { observation?: Observation; now?: number; askableSince?: number } = {},
): Action | undefined {
  const { observation = beating, now = 0, askableSince = 0 } = at;
  return planWorker(desired, { worker, observation }, { now, askableSince, policy });
}

describe('a worker that runs', () => {
  it('is left alone while it beats', () => {
    expect(plan('r1', running())).toBeUndefined();
  });

  it('is killed when it is older than the time allowed and has no heartbeat', () => {
    expect(plan('r1', running(), { observation: silent, now: 60_000 })).toBeUndefined();
    expect(plan('r1', running(), { observation: silent, now: 60_001 })).toEqual({ type: 'kill', reason: 'silent' });
  });

  it('is never killed because Redis could not be asked, nor soon after it could be again', () => {
    expect(plan('r1', running(), { observation: unknown, now: 1e9 })).toBeUndefined();
    expect(plan('r1', running(), { observation: silent, now: 160_000, askableSince: 100_000 })).toBeUndefined();
    expect(plan('r1', running(), { observation: silent, now: 160_001, askableSince: 100_000 })).toMatchObject({
      type: 'kill',
    });
  });

  it.each([
    [undefined, beating, 'removed'],
    ['r2', beating, 'changed'],
    ['r1', { ...beating, isRestartWished: true }, 'restart'],
  ] as const)('is told to stop when desired is %s and observed %o: %s', (desired, observation, reason) => {
    expect(plan(desired, running(), { observation })).toEqual({ type: 'stop', reason });
  });

  it('is killed once when it outlasts its grace', () => {
    const stopping = { since: 0, isKilled: false, isFailure: false };
    expect(plan(undefined, running({ stopping }), { now: 29_999 })).toBeUndefined();
    expect(plan(undefined, running({ stopping }), { now: 30_000 })).toEqual({ type: 'kill', reason: 'grace-over' });
    expect(plan(undefined, running({ stopping: { ...stopping, isKilled: true } }), { now: 90_000 })).toBeUndefined();
  });

  it('has its failures forgotten when it beats', () => {
    expect(plan('r1', running({ failures: 3 }))).toEqual({ type: 'mark-healthy' });
  });
});

describe('a worker whose process ended', () => {
  it('is started again after 20, 40, 80, 160, 300, 300 … seconds, and given up after 20 failures in a row', () => {
    let worker = ended(running({ isHealthy: false }));
    const delays: number[] = [];
    for (let now = 0; ;) {
      const action = plan('r1', worker, { observation: silent, now });
      if (action?.type === 'give-up') break;
      if (action?.type !== 'retry-later') throw new Error(`Expected a delay, got ${JSON.stringify(action)}.`);
      delays.push((action.retryAt - now) / 1000);
      worker = afterAction(worker, action, { id: worker.id, revision: 'r1', now }) as FleetWorker;
      expect(plan('r1', worker, { observation: silent, now: action.retryAt - 1 })).toBeUndefined();
      now = action.retryAt;
      const spawn = plan('r1', worker, { observation: silent, now }) as Action;
      expect(spawn).toEqual({ type: 'spawn', reason: 'backoff' });
      worker = ended(afterAction(worker, spawn, { id: worker.id, revision: 'r1', now }) as FleetWorker);
    }
    expect(delays).toEqual([20, 40, 80, 160, ...Array.from({ length: 15 }, () => 300)]);
  });

  it('stays given up until somebody wishes a restart or changes its configuration', () => {
    const worker = ended(running({ hasGivenUp: true, failures: 20 }));
    expect(plan('r1', worker, { observation: silent, now: 1e9 })).toBeUndefined();
    expect(plan('r1', worker, { observation: { ...silent, isRestartWished: true } })).toEqual({
      type: 'spawn',
      reason: 'restart',
    });
    expect(plan('r2', worker, { observation: silent })).toEqual({ type: 'spawn', reason: 'changed' });
  });

  it('is started at once, without backoff, when it ended because it was told to restart', () => {
    const stopped = ended(running({ stopping: { since: 0, isKilled: false, isFailure: false } }));
    expect(plan('r1', stopped, { observation: silent })).toEqual({ type: 'spawn', reason: 'restart' });
  });

  it('waits for its backoff when it was killed for its silence', () => {
    const killed = ended(running({ stopping: { since: 0, isKilled: true, isFailure: true } }));
    expect(plan('r1', killed, { observation: silent })).toEqual({ type: 'retry-later', failures: 1, retryAt: 20_000 });
  });

  it('is started at once when Redis was away while it started, and is blamed for everything else', () => {
    const starting = running({ isHealthy: false });
    const startedAt = starting.process?.startedAt ?? 0;
    expect(plan('r1', afterExit(starting, startedAt + 1), { observation: silent })).toEqual({
      type: 'spawn',
      reason: 'restart',
    });
    for (const worker of [
      running({ isHealthy: true }),
      running({ stopping: { since: 0, isKilled: true, isFailure: true } }),
    ]) {
      expect(plan('r1', afterExit(worker, startedAt + 1), { observation: silent })).toMatchObject({
        type: 'retry-later',
      });
    }
  });

  it('is forgotten when it is no longer desired', () => {
    expect(plan(undefined, ended(running()), { observation: silent })).toEqual({ type: 'forget' });
  });
});

describe('respawnDelayMs', () => {
  it('doubles up to its limit', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), (failures) => {
        expect(respawnDelayMs(failures, policy)).toBe(Math.min(10_000 * 2 ** failures, 300_000));
      }),
    );
  });
});

/** A world in which processes start, beat, stop when told and die when killed. */
function settle(
  desired: string | undefined,
  worker: FleetWorker | undefined,
  wished: boolean,
): FleetWorker | undefined {
  let now = 1_000_000;
  let isRestartWished = wished;
  for (let step = 0; step < 100; step += 1) {
    const heartbeat = worker?.process && !worker.stopping ? 'present' : 'absent';
    const context = { now, askableSince: 0, policy };
    const action = planWorker(desired, { worker, observation: { heartbeat, isRestartWished } }, context);
    const isWaiting = worker?.process
      ? worker.stopping
      : !worker?.hasGivenUp && worker?.retryAt && now < worker.retryAt;
    if (action === undefined && !isWaiting) return worker;
    if (action) worker = afterAction(worker, action, { id: 'BTC-USD', revision: desired ?? '', now });
    if (action?.type === 'spawn') isRestartWished = false;
    if (worker?.process && worker.stopping) worker = ended(worker);
    now += 10_000;
  }
  throw new Error('The plan never comes to rest.');
}

describe('from any state', () => {
  const workers = fc.option(
    fc.record<FleetWorker>({
      id: fc.constant('BTC-USD'),
      revision: fc.constantFrom('r1', 'r2'),
      process: fc.option(fc.record({ startedAt: fc.integer({ min: 0, max: 1_000_000 }) }), { nil: undefined }),
      isHealthy: fc.boolean(),
      stopping: fc.option(
        fc.record({ since: fc.integer({ min: 0, max: 1_000_000 }), isKilled: fc.boolean(), isFailure: fc.boolean() }),
        { nil: undefined },
      ),
      endedWithoutFault: fc.boolean(),
      failures: fc.integer({ min: 0, max: 20 }),
      retryAt: fc.option(fc.integer({ min: 0, max: 1_300_000 }), { nil: undefined }),
      hasGivenUp: fc.boolean(),
    }),
    { nil: undefined },
  );

  it('reaches the desired one and then plans nothing', () => {
    fc.assert(
      fc.property(workers, fc.constantFrom('r1', undefined), fc.boolean(), (worker, desired, wished) => {
        const settled = settle(desired, worker, desired !== undefined && wished);
        if (desired === undefined) expect(settled).toBeUndefined();
        else if (settled?.hasGivenUp)
          expect(worker?.hasGivenUp || (worker?.failures ?? 0) + 1 >= policy.failuresMax).toBe(true);
        else
          expect(settled).toMatchObject({
            revision: 'r1',
            isHealthy: true,
            failures: 0,
            process: {},
            stopping: undefined,
          });
      }),
      { numRuns: 2_000 },
    );
  });
});
