import type { Heartbeat, Pair, WorkerState } from '#libs/fleet';
import type { RedisLock } from '#libs/locks';
import type { ProcessContext } from '#libs/process';
import type { PairCycle } from './pair-cycle.js';
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

/** Runs the cycle once per interval, never twice at once; a stop lets the running one finish. */
export function tradingTask(
  context: ProcessContext,
  { heartbeat, status, report }: Parts,
  { pair, lock, cycle }: { pair: Pair; lock: RedisLock; cycle: PairCycle },
): Task {
  const { config, clock } = context;
  const intervalMs = 1000 * (config.INTERVAL_SEC ?? pair.intervalSec);
  return async (signal) => {
    while (!signal.aborted) {
      // Without a lock that we can trust, another may be at work; nothing is done until Redis confirms it.
      if (lock.isTrusted() && !status.isDraining) {
        runCycle(cycle, status, context);
        // The next heartbeat publishes it again, so a state that does not arrive is only late.
        await heartbeat.publish(report()).catch(() => undefined);
      }
      await clock.sleep(intervalMs, signal);
    }
  };
}

/** A cycle that fails shows in the state and in the log; the next one may do better. */
function runCycle(cycle: PairCycle, status: PairStatus, { clock, logger }: ProcessContext): void {
  const startedAt = clock.monotonic();
  try {
    const decision = cycle.runOnce();
    status.decided(decision);
    status.ran('trading', startedAt);
    logger.info({ epoch: decision.epoch }, `Decided ${decision.decision}`);
  } catch (error) {
    status.ran('trading', startedAt, error);
    logger.error({ err: error }, 'The cycle failed');
  }
}
