export { clientOrderIdFor, matchesClientOrderId, parseClientOrderId, type OrderOwner } from './src/client-order-id.js';
export type { FollowedOrder } from './src/followed-orders.js';
export { openVenue, type VenueContext } from './src/open-venue.js';
export { OpenVenues, UnknownVenue } from './src/open-venues.js';
export { OrderFollower, type FollowerParts } from './src/order-follower.js';
export {
  isTerminal,
  type Balance,
  type Candle,
  type Fill,
  type Order,
  type OrderStatus,
  type OrderType,
  type Position,
  type Side,
  type Ticker,
  type TimeInForce,
} from './src/order.js';
export type {
  CancelOutcome,
  Lookup,
  RefusalReason,
  Refused,
  SubmitOutcome,
  Unknown,
  UnknownReason,
} from './src/outcome.js';
export { Secret } from './src/secret.js';
export { VenueUnavailable } from './src/venue-error.js';
export { VenueMetrics } from './src/venue-metrics.js';
export type {
  CallOptions,
  ClientOrderIdRules,
  FillPage,
  Instrument,
  StreamEvent,
  SubmitRequest,
  Venue,
  VenueCapabilities,
} from './src/venue.js';
export {
  findDemonstrationVenue,
  paperVenueSettings,
  readVenueSettings,
  type VenueSettings,
} from './src/venues-file.js';
