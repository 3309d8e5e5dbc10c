import type { RefusalReason, UnknownReason } from './outcome.js';

/** A list could not be read to its end, so nothing of it is given: half a list looks like a venue that forgot. */
export class VenueUnavailable extends Error {
  constructor(
    readonly venue: string,
    readonly verb: string,
    readonly reason: UnknownReason | RefusalReason,
    detail: string,
  ) {
    super(`Venue ${venue} did not answer ${verb} (${reason}): ${detail}`);
    this.name = 'VenueUnavailable';
  }
}

/** The venue cannot do this at all; see its capabilities. */
export class VenueUnsupported extends Error {
  constructor(
    readonly venue: string,
    readonly verb: string,
  ) {
    super(`Venue ${venue} has no ${verb}; look at its capabilities before asking.`);
    this.name = 'VenueUnsupported';
  }
}

/** Thrown inside an adapter where what the venue sent is not what its own documents promise. */
export class UnreadableAnswer extends Error {
  constructor(detail: string, options?: ErrorOptions) {
    super(detail, options);
    this.name = 'UnreadableAnswer';
  }
}
