import { OperatorError } from '#libs/operator';
import { openVenue, type VenueContext } from './open-venue.js';
import type { Venue } from './venue.js';
import type { VenueSettings } from './venues-file.js';

/** Somebody named a venue that is not configured. */
export class UnknownVenue extends OperatorError {
  constructor(
    readonly venue: string,
    known: readonly string[],
  ) {
    super(`No venue "${venue}" is configured; there ${known.length === 1 ? 'is' : 'are'} ${known.join(', ')}.`);
  }
}

/** The configured venues of a process, each opened when it is first asked for. */
export class OpenVenues {
  private readonly settings: ReadonlyMap<string, VenueSettings>;
  private readonly open = new Map<string, Venue>();

  constructor(
    settings: readonly VenueSettings[],
    private readonly context: VenueContext,
  ) {
    this.settings = new Map(settings.map((each) => [each.id, each]));
  }

  get ids(): string[] {
    return [...this.settings.keys()];
  }

  get(id: string): Venue {
    const opened = this.open.get(id);
    if (opened) return opened;
    const settings = this.settings.get(id);
    if (!settings) throw new UnknownVenue(id, this.ids);
    const venue = openVenue(settings, this.context);
    this.open.set(id, venue);
    return venue;
  }

  async close(): Promise<void> {
    await Promise.all([...this.open.values()].map((venue) => venue.close()));
  }
}
