import { revisionOf, type Pair, type WorkerState } from '#libs/fleet';
import { openLifecycle } from '#libs/lifecycle';
import type { RedisLock } from '#libs/locks';
import { openReconciliation } from '#libs/reconciliation';
import type { ProcessContext, Services } from '#libs/process';
import type { Loop, LoopObserver } from '#libs/supervision';
import type { VenueSettings } from '#libs/venues';
import { MonitorReport } from './monitor-report.js';
import { PairCycle } from './pair-cycle.js';
import { PairHealth } from './pair-health.js';
import { pairLoops } from './pair-loops.js';
import { PairMonitor } from './pair-monitor.js';
import { PairStatus } from './pair-status.js';
import { PairTrader } from './pair-trader.js';
import { PairSweep } from './pair-sweep.js';
import type { PairStore } from './pair/pair-store.js';
import { TradingRun } from './trading-run.js';

interface Surroundings {
  readonly pair: Pair;
  readonly services: Services;
  readonly venues: readonly VenueSettings[];
  readonly store: PairStore;
  readonly lock: RedisLock;
  readonly observer: LoopObserver;
}

export interface PairWork {
  readonly loops: readonly Loop[];
  readonly health: PairHealth;
  readonly status: PairStatus;
  /** Applies what the venue's stream tells, until the signal. */
  readonly followOrders: (signal: AbortSignal) => Promise<void>;
  readonly report: (status: 'running' | 'stopped', tasks: ReadonlyMap<string, string>) => WorkerState;
}

/** Everything that a worker does for its pair, made and not yet begun; closing is left on the stack. */
export function openPairWork(context: ProcessContext, around: Surroundings, undo: AsyncDisposableStack): PairWork {
  const { clock, logger } = context;
  const { pair, services, venues, store, lock, observer } = around;
  const { database } = services;
  const opened = openLifecycle(context, { services, venues }, undo);
  const { lifecycle, venueOf } = opened;
  const swept = openReconciliation(context, services, { ids: [pair.venue], venueOf });
  const status = new PairStatus({ pairId: pair.id, revision: revisionOf(pair), epoch: store.latestEpoch() }, clock);
  const trader = new PairTrader(pair, lifecycle, database);
  const cycle = new PairCycle({ pair, store, clock, market: venueOf(pair.venue), trader });
  const work = {
    ...{ pair, lock, lifecycle },
    trading: new TradingRun({ pair, lifecycle, cycle, status, logger }),
    monitor: new PairMonitor({ pair, database, clock, report: new MonitorReport(pair, logger) }),
    sync: lifecycle.orderSync({ venue: pair.venue, symbol: pair.symbol }),
    sweep: new PairSweep(pair, swept.reconciliation, swept.report),
  };
  const loops = pairLoops(context, work, observer);
  const lockContentionCount = (): number => opened.report.lockContentionCount;
  const health = new PairHealth({ ...work, clock, loops, status, lockContentionCount });
  return {
    ...{ loops, health, status },
    followOrders: (signal) => work.sync.follow(signal),
    report: (state, tasks) => status.report({ status: state, tasks, loops, figures: health.figures() }),
  };
}
