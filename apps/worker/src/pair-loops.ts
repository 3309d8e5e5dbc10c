import type { LoopName, Pair } from '#libs/fleet';
import type { Lifecycle, OrderSync } from '#libs/lifecycle';
import type { RedisLock } from '#libs/locks';
import type { ProcessContext } from '#libs/process';
import { Loop, type LoopObserver } from '#libs/supervision';
import type { PairMonitor } from './pair-monitor.js';
import type { PairSweep } from './pair-sweep.js';
import type { TradingRun } from './trading-run.js';

interface Work {
  readonly pair: Pair;
  readonly lock: RedisLock;
  readonly lifecycle: Lifecycle;
  readonly trading: TradingRun;
  readonly monitor: PairMonitor;
  readonly sync: OrderSync;
  readonly sweep: PairSweep;
}

type Run = (signal: AbortSignal) => Promise<void>;

/** The loops that a pair worker is made of. */
export function pairLoops({ config, clock }: ProcessContext, work: Work, observer: LoopObserver): Loop[] {
  const { pair, lock, lifecycle, trading, monitor, sync, sweep } = work;
  const around = { clock, observer };
  const loop = (name: LoopName, intervalMs: number, runOnce: Run): Loop =>
    new Loop({ name, intervalMs, runOnce }, around);
  const tradingIntervalMs = config.TRADING_INTERVAL_MS ?? 1000 * (config.INTERVAL_SEC ?? pair.intervalSec);
  return [
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
    loop('reconciliation', config.RECONCILIATION_INTERVAL_MS, (signal) => sweep.runOnce(signal)),
  ];
}
