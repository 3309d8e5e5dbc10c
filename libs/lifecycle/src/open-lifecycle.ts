import { EntryLocks } from '#libs/locks';
import type { ProcessContext, Services } from '#libs/process';
import { OpenVenues, VenueMetrics, type Venue, type VenueSettings } from '#libs/venues';
import { LifecycleReport } from './lifecycle-report.js';
import { Lifecycle } from './lifecycle.js';

export interface OpenedLifecycle {
  readonly lifecycle: Lifecycle;
  readonly venueOf: (id: string) => Venue;
  readonly report: LifecycleReport;
}

/** The lifecycle of a process and the way to its venues, each opened at its first use; closing is left on the stack. */
export function openLifecycle(
  { config, clock, logger }: ProcessContext,
  { services: { database, redis }, venues }: { services: Services; venues: readonly VenueSettings[] },
  undo: AsyncDisposableStack,
): OpenedLifecycle {
  const report = new LifecycleReport(logger);
  const open = new OpenVenues(venues, {
    ...{ config, clock, redis, metrics: new VenueMetrics() },
    streamLost: (venue, reason) => logger.warn({ venue, reason }, 'Lost the stream of orders; connecting again'),
  });
  undo.defer(() => open.close());
  const venueOf = (id: string): Venue => open.get(id);
  const lifecycle = new Lifecycle({
    ...{ database, clock, venueOf, observer: report },
    locks: new EntryLocks(database, { ttlMs: config.ENTRY_LOCK_TTL_MS, contended: () => report.contended() }),
    settings: {
      clientOrderIdPrefix: config.CLIENT_ORDER_ID_PREFIX,
      entryLockTtlMs: config.ENTRY_LOCK_TTL_MS,
      submitTimeoutMs: config.SUBMIT_TIMEOUT_MS,
      submitWindowMs: config.SUBMIT_WINDOW_MS,
      unknownAlertMs: config.UNKNOWN_ALERT_MS,
      buffers: { marketBps: config.MARKET_BUFFER_BPS, feeBps: config.FEE_BUFFER_BPS },
    },
  });
  return { lifecycle, venueOf, report };
}
