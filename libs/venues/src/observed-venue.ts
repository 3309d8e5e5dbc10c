import type { Clock } from '#libs/clock';
import type { VenueMetrics } from './venue-metrics.js';
import { VenueUnavailable } from './venue-error.js';
import type { Venue } from './venue.js';

type Verb = Exclude<keyof Venue, 'id' | 'capabilities' | 'stream' | 'close'>;

const VERBS: readonly Verb[] = [
  'submit',
  'cancel',
  'findByClientOrderId',
  'findByVenueOrderId',
  'openOrders',
  'closedOrders',
  'fills',
  'positions',
  'balances',
  'candles',
  'ticker',
  'instrument',
];

/** The same venue, with every call counted and timed. */
export function observed(venue: Venue, metrics: VenueMetrics, clock: Clock): Venue {
  const measured = Object.fromEntries(VERBS.map((verb) => [verb, measure(verb)])) as Pick<Venue, Verb>;
  return {
    id: venue.id,
    capabilities: venue.capabilities,
    ...measured,
    stream: (listener, signal) => venue.stream(listener, signal),
    close: () => venue.close(),
  };

  function measure(verb: Verb): (...args: unknown[]) => Promise<unknown> {
    const method = venue[verb].bind(venue) as (...args: unknown[]) => Promise<unknown>;
    return async (...args) => {
      const startedAt = clock.monotonic();
      let outcome = 'failed';
      try {
        const answer = await method(...args);
        outcome = outcomeOf(answer);
        return answer;
      } catch (error) {
        if (error instanceof VenueUnavailable) outcome = 'unavailable';
        throw error;
      } finally {
        metrics.calls.inc({ venue: venue.id, verb, outcome });
        metrics.duration.observe({ venue: venue.id, verb }, (clock.monotonic() - startedAt) / 1000);
      }
    };
  }
}

function outcomeOf(answer: unknown): string {
  const has = typeof answer === 'object' && answer !== null && 'outcome' in answer;
  return has && typeof answer.outcome === 'string' ? answer.outcome : 'answered';
}
