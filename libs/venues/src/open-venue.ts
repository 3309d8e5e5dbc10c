import type { Clock } from '#libs/clock';
import type { Redis } from '#libs/redis';
import { AlpacaVenue, alpacaLimits } from './alpaca/alpaca-venue.js';
import { CcxtVenue, ccxtLimits } from './ccxt/ccxt-venue.js';
import { observed } from './observed-venue.js';
import { RateBudget } from './rate-budget.js';
import { cleaned } from './secret.js';
import type { StreamParts } from './stream-loop.js';
import { VenueCalls } from './venue-calls.js';
import type { VenueMetrics } from './venue-metrics.js';
import type { Venue } from './venue.js';
import type { VenueSettings } from './venues-file.js';

export interface VenueContext {
  readonly config: {
    readonly KEY_PREFIX: string;
    readonly SUBMIT_TIMEOUT_MS: number;
    readonly VENUE_QUERY_TIMEOUT_MS: number;
    readonly VENUE_BUDGET_WAIT_MS: number;
  };
  readonly clock: Clock;
  readonly redis: Redis | undefined;
  readonly metrics: VenueMetrics;
  /** Told once for each lost connection of the stream and each unreadable event. */
  readonly streamLost: (venue: string, reason: string) => void;
  readonly streamBackoffMs?: StreamParts['backoffMs'];
}

const STREAM_BACKOFF_MS = { base: 250, max: 30_000 };

/** A venue, ready to be called. Nothing is sent, and no client library loaded, before its first verb. */
export function openVenue(settings: VenueSettings, context: VenueContext): Venue {
  const { config, clock, redis, metrics } = context;
  const budget = new RateBudget({
    redis,
    clock,
    keyPrefix: config.KEY_PREFIX,
    venue: settings.id,
    account: settings.key.fingerprint(),
    limits: settings.adapter === 'alpaca' ? alpacaLimits(settings) : ccxtLimits(settings),
    fleetShare: settings.fleetShare,
  });
  metrics.add(settings.id, budget);
  const venue = settings.id;
  const parts = {
    clock,
    calls: new VenueCalls(clock, budget, {
      orderTimeoutMs: config.SUBMIT_TIMEOUT_MS,
      queryTimeoutMs: config.VENUE_QUERY_TIMEOUT_MS,
      budgetWaitMs: config.VENUE_BUDGET_WAIT_MS,
    }),
    streamObserver: {
      reconnected: () => metrics.reconnects.inc({ venue }),
      gap: () => metrics.gaps.inc({ venue }),
      lost: (reason: string) => context.streamLost(venue, cleaned(reason, [settings.key, settings.secret])),
    },
    streamBackoffMs: context.streamBackoffMs ?? STREAM_BACKOFF_MS,
  };
  const adapter = settings.adapter === 'alpaca' ? new AlpacaVenue(settings, parts) : new CcxtVenue(settings, parts);
  return observed(adapter, metrics, clock);
}
