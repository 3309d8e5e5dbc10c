import { ReconciliationLocks } from '#libs/locks';
import type { ProcessContext, Services } from '#libs/process';
import type { Venue } from '#libs/venues';
import { ReconciliationReport } from './reconciliation-report.js';
import { Reconciliation } from './reconciliation.js';
import { SweepTurns } from './sweep-turns.js';

/** The reconciliation of a process, over the venues that it has opened. */
export function openReconciliation(
  { config, clock, logger }: ProcessContext,
  { database, redis }: Services,
  venues: { readonly ids: readonly string[]; readonly venueOf: (id: string) => Venue },
): { readonly reconciliation: Reconciliation; readonly report: ReconciliationReport } {
  const report = new ReconciliationReport(logger, venues.ids);
  const lockTtlMs = config.RECONCILIATION_LOCK_TTL_MS;
  const reconciliation = new Reconciliation({
    ...{ database, clock, observer: report, venueOf: venues.venueOf },
    locks: new ReconciliationLocks(database, { ttlMs: lockTtlMs, contended: () => report.contended() }),
    turns: new SweepTurns({ redis, clock, keyPrefix: config.KEY_PREFIX, lockTtlMs }),
    settings: {
      clientOrderIdPrefix: config.CLIENT_ORDER_ID_PREFIX,
      submitWindowMs: config.SUBMIT_WINDOW_MS,
      settleMs: config.RECONCILIATION_SETTLE_MS,
      lookbackMs: config.RECONCILIATION_LOOKBACK_MS,
      intervalMs: config.RECONCILIATION_INTERVAL_MS,
      feeBps: config.FEE_BUFFER_BPS,
    },
  });
  return { reconciliation, report };
}
