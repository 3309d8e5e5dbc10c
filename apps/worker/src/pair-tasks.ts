import type { Heartbeat, Pair, WorkerState } from '#libs/fleet';
import type { Lifecycle, OrderSync } from '#libs/lifecycle';
import type { RedisLock } from '#libs/locks';
import type { ProcessContext } from '#libs/process';
import type { CycleResult, PairCycle } from './pair-cycle.js';
import type { PairStatus } from './pair-status.js';

type Task = (signal: AbortSignal) => Promise<void>;

interface Parts {
  readonly heartbeat: Heartbeat;
  readonly status: PairStatus;
  readonly report: () => WorkerState;
}

/** Beats until it is stopped, or until the lock is lost. */
export function heartbeatTask(
  { config, clock }: ProcessContext,
  { heartbeat, report }: Pick<Parts, 'heartbeat' | 'report'>,
  lost: AbortController,
): Task {
  return async (signal) => {
    while (!signal.aborted) {
      if ((await heartbeat.beat(report)) === 'lost') return lost.abort();
      await clock.sleep(config.WORKER_HEARTBEAT_INTERVAL_MS, signal);
    }
  };
}

/**
 * Runs the cycle once per interval, never twice at once; a stop lets the running one finish. The first cycle waits until
 * what the venue knows of our orders has been brought into the tables.
 */
export function tradingTask(
  context: ProcessContext,
  { heartbeat, status, report }: Parts,
  work: { pair: Pair; lock: RedisLock; cycle: PairCycle; lifecycle: Lifecycle },
): Task {
  const { config, clock, logger } = context;
  const { pair, lock, cycle, lifecycle } = work;
  const intervalMs = 1000 * (config.INTERVAL_SEC ?? pair.intervalSec);
  let isRebuilt = false;
  let said = '';
  const runOnce = async (): Promise<void> => {
    if (!isRebuilt) {
      for (const correction of await lifecycle.rebuild(pair)) logger.error(correction, 'A reservation was corrected');
      isRebuilt = true;
      logger.info('Orders, fills and intents are as the venue knows them');
    }
    const result = await cycle.runOnce();
    status.decided(result);
    // The same wish again has the same outcome; it is said aloud once.
    const words = describe(result);
    logger[words === said ? 'debug' : 'info']({ epoch: result.epoch }, words);
    said = words;
  };
  return async (signal) => {
    while (!signal.aborted) {
      // Without a lock that we can trust, another may be at work; nothing is done until Redis confirms it.
      if (lock.isTrusted() && !status.isDraining) {
        await observed(context, status, { loop: 'trading', run: runOnce });
        // The next heartbeat publishes it again, so a state that does not arrive is only late.
        await heartbeat.publish(report()).catch(() => undefined);
      }
      await clock.sleep(intervalMs, signal);
    }
  };
}

/** Polls what the stream may have missed, and asks about intents that are open. */
export function orderSyncTask(
  context: ProcessContext,
  status: PairStatus,
  work: { pair: Pair; sync: OrderSync; lifecycle: Lifecycle },
): Task {
  const { pair, sync, lifecycle } = work;
  return async (signal) => {
    while (!signal.aborted) {
      await observed(context, status, {
        loop: 'order-sync',
        run: async () => {
          await sync.runOnce({ signal });
          await lifecycle.resolveIntents(pair);
        },
      });
      await context.clock.sleep(context.config.ORDER_SYNC_INTERVAL_MS, signal);
    }
  };
}

/** A run that fails shows in the state and in the log; the next one may do better. */
async function observed(
  { clock, logger }: ProcessContext,
  status: PairStatus,
  { loop, run }: { readonly loop: string; readonly run: () => Promise<void> },
): Promise<void> {
  const startedAt = clock.monotonic();
  try {
    await run();
    status.ran(loop, startedAt);
  } catch (error) {
    status.ran(loop, startedAt, error);
    logger.error({ err: error }, `The loop ${loop} failed`);
  }
}

function describe({ decision, acted }: CycleResult): string {
  const outcomes = acted.map(
    ({ outcome: { tradeId, outcome, reason } }) => `${outcome} ${reason === undefined ? '' : `(${reason}) `}${tradeId}`,
  );
  return [`Decided ${decision}`, ...outcomes].join(', ');
}
