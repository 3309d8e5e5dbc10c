import type { LoopName, Pair, ReconciliationFigures } from '#libs/fleet';
import type { Lifecycle, OrderSync } from '#libs/lifecycle';
import type { RedisLock } from '#libs/locks';
import type { ProcessContext } from '#libs/process';
import { Loop, type LoopObserver } from '#libs/supervision';
import type { PairMonitor } from './pair-monitor.js';
import type { TradingRun } from './trading-run.js';

/** Whoever compares the account at the venue with the tables: a sweep, and what the sweeps found. */
export interface Reconciliation {
  runOnce(signal: AbortSignal): Promise<void>;
  figures(): ReconciliationFigures;
}

interface Work {
  readonly pair: Pair;
  readonly lock: RedisLock;
  readonly lifecycle: Lifecycle;
  readonly trading: TradingRun;
  readonly monitor: PairMonitor;
  readonly sync: OrderSync;
  /** Without it there is no such loop. */
  readonly reconciliation?: Reconciliation;
}

type Run = (signal: AbortSignal) => Promise<void>;

/** The loops that a pair worker is made of. */
export function pairLoops({ config, clock }: ProcessContext, work: Work, observer: LoopObserver): Loop[] {
  const { pair, lock, lifecycle, trading, monitor, sync, reconciliation } = work;
  const around = { clock, observer };
  const loop = (name: LoopName, intervalMs: number, runOnce: Run): Loop =>
    new Loop({ name, intervalMs, runOnce }, around);
  const tradingIntervalMs = config.TRADING_INTERVAL_MS ?? 1000 * (config.INTERVAL_SEC ?? pair.intervalSec);
  const loops = [
    new Loop(
      {
        name: 'trading' satisfies LoopName,
        intervalMs: tradingIntervalMs,
        runOnce: () => trading.runOnce(),
        // Without a lock that we can trust, another may be at work; nothing is done until Redis confirms it.
        mayRun: () => lock.isTrusted(),
      },
      around,
    ),
    loop('monitor', config.MONITOR_INTERVAL_MS, () => monitor.runOnce()),
    loop('order-sync', config.ORDER_SYNC_INTERVAL_MS, async (signal) => {
      await sync.runOnce({ signal });
      await lifecycle.resolveIntents(pair);
    }),
  ];
  if (reconciliation) {
    const { RECONCILIATION_INTERVAL_MS } = config;
    loops.push(loop('reconciliation', RECONCILIATION_INTERVAL_MS, (signal) => reconciliation.runOnce(signal)));
  }
  return loops;
}
