import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { areTooManyDead, attemptsAfterRun, planAfterFailure, restartDelayMs } from './restart-policy.js';
import { completeSettings } from './settings.js';
import type { TaskStatus } from './task-status.js';

describe('restartDelayMs', () => {
  it('doubles from twice the base on, and stays where the exponent ends', () => {
    const settings = completeSettings({ restartDelayBaseMs: 5_000, restartExponentMax: 5 });
    const delays = [1, 2, 3, 4, 5, 6, 7].map((attempt) => restartDelayMs(attempt, settings));
    expect(delays).toEqual([10_000, 20_000, 40_000, 80_000, 160_000, 160_000, 160_000]);
  });

  it('is the base itself when the exponent may not grow', () => {
    expect(restartDelayMs(3, completeSettings({ restartDelayBaseMs: 700, restartExponentMax: 0 }))).toBe(700);
  });

  it('is base × 2^min(attempt, exponent) to the millisecond', () => {
    const arguments_ = fc.record({
      restartDelayBaseMs: fc.integer({ min: 1, max: 100_000 }),
      restartExponentMax: fc.nat({ max: 12 }),
      attempt: fc.integer({ min: 1, max: 1_000_000 }),
    });
    fc.assert(
      fc.property(arguments_, ({ restartDelayBaseMs, restartExponentMax, attempt }) => {
        let expected = restartDelayBaseMs;
        for (let doubling = 0; doubling < attempt && doubling < restartExponentMax; doubling += 1) expected += expected;
        expect(restartDelayMs(attempt, completeSettings({ restartDelayBaseMs, restartExponentMax }))).toBe(expected);
      }),
    );
  });
});

describe('planAfterFailure', () => {
  it('allows as many restarts as the limit says, and not one more', () => {
    const settings = completeSettings({ restartsMax: 2, restartDelayBaseMs: 1_000 });
    expect([0, 1, 2].map((attempts) => planAfterFailure(attempts, settings))).toEqual([
      { action: 'restart', attempt: 1, delayMs: 2_000 },
      { action: 'restart', attempt: 2, delayMs: 4_000 },
      { action: 'give-up' },
    ]);
  });

  it('never restarts when the limit is zero', () => {
    expect(planAfterFailure(0, completeSettings({ restartsMax: 0 }))).toEqual({ action: 'give-up' });
  });

  it('never gives up without a limit', () => {
    expect(planAfterFailure(1e9, completeSettings({ restartsMax: Infinity }))).toMatchObject({
      action: 'restart',
    });
  });
});

describe('attemptsAfterRun', () => {
  it('forgets the attempts after a run that reached the threshold, and keeps them one millisecond before', () => {
    const settings = completeSettings({ stableAfterMs: 80_000 });
    expect(attemptsAfterRun({ attempts: 4, uptimeMs: 79_999 }, settings)).toBe(4);
    expect(attemptsAfterRun({ attempts: 4, uptimeMs: 80_000 }, settings)).toBe(0);
  });
});

describe('areTooManyDead', () => {
  const tasks = (dead: number, total: number): TaskStatus[] =>
    Array.from({ length: total }, (_, index) => (index < dead ? 'dead' : index % 2 ? 'healthy' : 'completed'));

  it.each([
    { deadShareMax: 0, dead: 0, total: 3, expected: false },
    { deadShareMax: 0, dead: 1, total: 3, expected: true },
    { deadShareMax: 0.5, dead: 1, total: 2, expected: false },
    { deadShareMax: 0.5, dead: 2, total: 3, expected: true },
    { deadShareMax: 0.29, dead: 29, total: 100, expected: false },
    { deadShareMax: 1, dead: 3, total: 3, expected: false },
    { deadShareMax: 0, dead: 0, total: 0, expected: false },
  ])('with a share of at most $deadShareMax, $dead dead of $total are too many: $expected', (row) => {
    const settings = completeSettings({ deadShareMax: row.deadShareMax });
    expect(areTooManyDead(tasks(row.dead, row.total), settings)).toBe(row.expected);
  });
});
