import type { Clock } from '#libs/clock';
import type { StreamObserver, StreamParts } from './stream-loop.js';
import type { VenueCalls } from './venue-calls.js';

/** What an adapter is given to work with. */
export interface VenueParts {
  readonly clock: Clock;
  readonly calls: VenueCalls;
  readonly streamObserver: StreamObserver;
  readonly streamBackoffMs: StreamParts['backoffMs'];
}
