import { z } from 'zod';
import type { ReconciliationFigures } from './worker-state.js';

/** The loops that every pair worker runs. */
export const LOOP_NAMES = ['trading', 'monitor', 'reconciliation', 'order-sync'] as const;
export type LoopName = (typeof LOOP_NAMES)[number];

/** What a loop is called among the probes of a health answer. */
export function loopProbeName(loop: string): string {
  return `${loop.replaceAll(/-(.)/g, (_dash, letter: string) => letter.toUpperCase())}Loop`;
}

const Time = z.iso.datetime().nullable();
const Duration = z.number().nullable();
const Count = z.int().min(0);

/** What /internal/health says beside its probes, of one worker or of all of them; docs/health.md explains each. */
export const HealthFields = z.strictObject({
  tradingLoopHealthy: z.boolean(),
  tradingLoopLastRun: Time,
  tradingLoopDuration: Duration,
  monitorLoopHealthy: z.boolean(),
  monitorLoopLastRun: Time,
  monitorLoopDuration: Duration,
  reconciliationLoopHealthy: z.boolean(),
  reconciliationLoopLastRun: Time,
  orderSyncLoopHealthy: z.boolean(),
  orderSyncLoopLastRun: Time,
  orderSyncLoopDuration: Duration,
  reconciliationLastRun: Time,
  reconciliationMismatchCount: Count,
  reconciliationMissingFromExchange: Count,
  reconciliationMissingInDb: Count,
  reconciliationLockContentionCount: Count,
  lockContentionCount: Count,
  capitalInvariantViolations: Count,
  observabilityTimestamp: z.iso.datetime(),
  degraded: z.strictObject({ active: z.boolean(), reasons: z.array(z.string()) }),
});
export type HealthFields = z.infer<typeof HealthFields>;

/** How a loop fares, of one worker or of all of them. */
export interface LoopHealth {
  readonly isHealthy: boolean;
  readonly lastRun: string | null;
  readonly durationMs: number | null;
}

interface Known {
  /** A loop that nobody runs is left out; nothing is wrong with it. */
  readonly loops: Partial<Record<LoopName, LoopHealth>>;
  readonly reconciliation: ReconciliationFigures | undefined;
  readonly lockContentionCount: number;
  readonly capitalInvariantViolations: number;
  readonly degraded: readonly string[];
  readonly now: number;
}

const ABSENT: LoopHealth = { isHealthy: true, lastRun: null, durationMs: null };
/** A health answer is read by people and probes, and many halts have the same cause. */
const REASONS_MAX = 20;

export function healthFields(known: Known): HealthFields {
  const { trading = ABSENT, monitor = ABSENT, reconciliation = ABSENT, 'order-sync': orderSync = ABSENT } = known.loops;
  const figures = known.reconciliation;
  return {
    tradingLoopHealthy: trading.isHealthy,
    tradingLoopLastRun: trading.lastRun,
    tradingLoopDuration: trading.durationMs,
    monitorLoopHealthy: monitor.isHealthy,
    monitorLoopLastRun: monitor.lastRun,
    monitorLoopDuration: monitor.durationMs,
    reconciliationLoopHealthy: reconciliation.isHealthy,
    reconciliationLoopLastRun: reconciliation.lastRun,
    orderSyncLoopHealthy: orderSync.isHealthy,
    orderSyncLoopLastRun: orderSync.lastRun,
    orderSyncLoopDuration: orderSync.durationMs,
    reconciliationLastRun: figures?.lastRun ?? null,
    reconciliationMismatchCount: figures?.mismatchCount ?? 0,
    reconciliationMissingFromExchange: figures?.missingFromExchange ?? 0,
    reconciliationMissingInDb: figures?.missingInDb ?? 0,
    reconciliationLockContentionCount: figures?.lockContentionCount ?? 0,
    lockContentionCount: known.lockContentionCount,
    capitalInvariantViolations: known.capitalInvariantViolations,
    observabilityTimestamp: new Date(known.now).toISOString(),
    degraded: { active: known.degraded.length > 0, reasons: shortened(known.degraded) },
  };
}

function shortened(reasons: readonly string[]): string[] {
  if (reasons.length <= REASONS_MAX) return [...reasons];
  return [...reasons.slice(0, REASONS_MAX - 1), `and ${reasons.length - REASONS_MAX + 1} more`];
}
