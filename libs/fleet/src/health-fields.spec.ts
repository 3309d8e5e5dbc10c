import { describe, expect, it } from 'vitest';
import { HealthFields, healthFields, loopProbeName } from '../index.js';

const NOTHING = {
  ...{ loops: {}, reconciliation: undefined, lockContentionCount: 0, capitalInvariantViolations: 0 },
  ...{ degraded: [], now: Date.UTC(2026, 0, 1) },
};

describe('healthFields', () => {
  it('finds nothing wrong with what nobody runs', () => {
    const fields = healthFields(NOTHING);
    expect(HealthFields.parse(fields)).toEqual(fields);
    expect(fields).toMatchObject({
      ...{ reconciliationLoopHealthy: true, reconciliationLoopLastRun: null, reconciliationLastRun: null },
      ...{ reconciliationMismatchCount: 0, observabilityTimestamp: '2026-01-01T00:00:00.000Z' },
      degraded: { active: false, reasons: [] },
    });
  });

  it('tells each loop apart', () => {
    const loop = (durationMs: number) => ({ isHealthy: false, lastRun: '2026-01-01T00:00:00.000Z', durationMs });
    const fields = healthFields({
      ...NOTHING,
      loops: { trading: loop(1), monitor: loop(2), reconciliation: loop(3), 'order-sync': loop(4) },
    });
    expect(fields).toMatchObject({
      ...{ tradingLoopHealthy: false, monitorLoopHealthy: false, reconciliationLoopHealthy: false },
      ...{ orderSyncLoopHealthy: false, tradingLoopDuration: 1, monitorLoopDuration: 2, orderSyncLoopDuration: 4 },
      reconciliationLoopLastRun: '2026-01-01T00:00:00.000Z',
    });
  });

  it('is degraded for as long as there is a reason, and tells the first of many', () => {
    const degraded = Array.from({ length: 30 }, (_, index) => `reason ${index}`);
    const { active, reasons } = healthFields({ ...NOTHING, degraded }).degraded;
    expect(active).toBe(true);
    expect([reasons.length, reasons[0], reasons.at(-1)]).toEqual([20, 'reason 0', 'and 11 more']);
  });

  it('names the probe of a loop as one word', () => {
    expect(['trading', 'order-sync'].map(loopProbeName)).toEqual(['tradingLoop', 'orderSyncLoop']);
  });
});
