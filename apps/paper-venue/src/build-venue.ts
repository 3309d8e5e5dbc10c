import type { DatabaseSync } from 'node:sqlite';
import type { Clock } from '#libs/clock';
import { MatchingEngine } from './engine/matching-engine.js';
import { Identifiers } from './identifiers.js';
import { Market } from './market/market.js';
import { Archive } from './store/archive.js';
import { GroupCommit } from './store/group-commit.js';
import { VenueStore } from './store/venue-store.js';
import { Venue } from './venue.js';
import { VenueClock } from './venue-clock.js';

/** The venue as it was when it last ended, or a new one. */
export function buildVenue(
  database: DatabaseSync,
  options: { seed: number; clock: Clock; commits: ConstructorParameters<typeof GroupCommit>[1] },
): Venue {
  const store = new VenueStore(database);
  const state = store.load();
  return new Venue({
    engine: new MatchingEngine(state, { isMatching: state.isMatching, fees: state.fees }),
    market: new Market(options.seed, state.pins),
    store,
    archive: new Archive(database),
    commit: new GroupCommit(database, options.commits),
    clock: new VenueClock(options.clock),
    identifiers: new Identifiers(state.identity),
  });
}
