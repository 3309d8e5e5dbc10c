import type { Clock } from '#libs/clock';
import { FollowedOrders, totalOf, type FollowedOrder } from './followed-orders.js';
import type { Fill, Order } from './order.js';
import type { StreamEvent, Venue } from './venue.js';

export interface FollowerParts {
  readonly venue: Venue;
  readonly clock: Clock;
  readonly symbols: readonly string[];
  /** Orders created before, and closed by now, are not asked for. */
  readonly since: Date;
  /** Time between two comparisons with the lists: what bounds how long a lost event can stay lost. */
  readonly compareEveryMs: number;
  /** Fills and their order come one after the other; only what still disagrees after this time is a lost event. */
  readonly mismatchGraceMs: number;
  /** Called after each event and each comparison. */
  readonly changed: () => void;
  /** A comparison failed; it is tried again soon. */
  readonly failed: (error: unknown) => void;
}

const RETRY_MS = 1_000;
/** Ended orders are listed for this long, and then forgotten. */
const ENDED_KEPT_MS = 86_400_000;
/** Orders that were on their way into the venue's lists at the last comparison. */
const CLOSED_OVERLAP_MS = 60_000;

/**
 * Knows what a venue knows of its orders. The stream is quick and forgets; the lists are slow and whole. So events are
 * taken as they come, and the lists are asked after every gap, whenever fills and quantities disagree, and every so
 * often in any case, because a stream may lose events while it looks healthy.
 */
export class OrderFollower {
  private readonly known = new FollowedOrders();
  private readonly abort = new AbortController();
  private wake = new AbortController();
  private running: Promise<unknown> = Promise.resolve();
  private cursor: string | undefined;
  private closedSince: Date;
  private compareAt: number;
  private checkAt = Number.POSITIVE_INFINITY;
  private readonly suspects = new Set<string>();

  constructor(private readonly parts: FollowerParts) {
    this.closedSince = parts.since;
    this.compareAt = parts.clock.monotonic() + parts.compareEveryMs;
  }

  start(): void {
    const { signal } = this.abort;
    const stream = this.parts.venue.stream((event) => this.take(event), signal).catch(this.parts.failed);
    this.running = Promise.all([stream, this.keepComparing(signal)]);
  }

  async stop(): Promise<void> {
    this.abort.abort();
    await this.running;
  }

  list(): FollowedOrder[] {
    return this.known.list();
  }

  /** One comparison with the venue's lists. Throws when the venue cannot be read whole; then nothing is concluded. */
  async runOnce(): Promise<void> {
    const { venue, clock, symbols, since } = this.parts;
    const options = { signal: this.abort.signal };
    const startedAt = clock.now();
    this.known.forgetEndedBefore(new Date(startedAt - ENDED_KEPT_MS));
    const open = await venue.openOrders(options);
    const page = await venue.fills(
      { symbols, start: this.cursor === undefined ? { since } : { cursor: this.cursor } },
      options,
    );
    const closed = await venue.closedOrders({ since: this.closedSince, symbols }, options);
    for (const order of [...open, ...closed]) this.known.apply(order);
    for (const fill of page.fills) this.known.applyFill(fill);
    await this.lookUpUnlisted(new Set([...open, ...closed].map(({ venueOrderId }) => venueOrderId)));
    await this.mendFills(options);
    this.cursor = page.cursor;
    this.closedSince = new Date(startedAt - CLOSED_OVERLAP_MS);
    this.parts.changed();
  }

  private take(event: StreamEvent): void {
    const now = this.parts.clock.monotonic();
    switch (event.kind) {
      case 'gap':
        this.compareAt = Math.min(this.compareAt, now);
        break;
      case 'order':
        this.known.apply(event.order);
        this.suspect(event.order.venueOrderId);
        break;
      case 'fill':
        this.known.applyFill(event.fill);
        this.suspect(event.fill.venueOrderId);
        break;
    }
    this.wake.abort();
    this.parts.changed();
  }

  private suspect(venueOrderId: string): void {
    if (this.known.isWhole(venueOrderId)) return;
    if (this.suspects.size === 0) this.checkAt = this.parts.clock.monotonic() + this.parts.mismatchGraceMs;
    this.suspects.add(venueOrderId);
  }

  private async keepComparing(signal: AbortSignal): Promise<void> {
    const { clock } = this.parts;
    while (!signal.aborted) {
      const now = clock.monotonic();
      if (now >= this.compareAt) {
        await this.compareAndPlan();
      } else if (now >= this.checkAt) {
        if ([...this.suspects].some((id) => !this.known.isWhole(id))) this.compareAt = now;
        this.clearSuspects();
      } else {
        this.wake = new AbortController();
        await clock.sleep(Math.min(this.compareAt, this.checkAt) - now, AbortSignal.any([signal, this.wake.signal]));
      }
    }
  }

  private async compareAndPlan(): Promise<void> {
    const { clock, compareEveryMs } = this.parts;
    // A gap that opens while the lists are read asks for another comparison, which must not be lost.
    this.compareAt = Number.POSITIVE_INFINITY;
    this.clearSuspects();
    const delayMs = (await this.tryCompare()) ? compareEveryMs : Math.min(RETRY_MS, compareEveryMs);
    this.compareAt = Math.min(this.compareAt, clock.monotonic() + delayMs);
  }

  private clearSuspects(): void {
    this.suspects.clear();
    this.checkAt = Number.POSITIVE_INFINITY;
  }

  private async tryCompare(): Promise<boolean> {
    try {
      await this.runOnce();
      return true;
    } catch (error) {
      if (!this.abort.signal.aborted) this.parts.failed(error);
      return false;
    }
  }

  /** What we hold to be at work and no list shows any more has ended, and only a targeted question tells how. */
  private async lookUpUnlisted(listed: ReadonlySet<string>): Promise<void> {
    const gone = this.known.working().filter(({ venueOrderId }) => !listed.has(venueOrderId));
    for (const { venueOrderId, symbol } of [...gone, ...this.known.orphans()]) {
      const lookup = await this.parts.venue.findByVenueOrderId({ venueOrderId, symbol }, { signal: this.abort.signal });
      if (lookup.outcome === 'found') this.known.apply(lookup.order);
      if (lookup.outcome === 'unknown') throw new Error(`Order ${venueOrderId} cannot be looked up: ${lookup.message}`);
    }
  }

  /** Reads the fills of orders that do not add up from the order's beginning, and believes the list. */
  private async mendFills(options: { signal: AbortSignal }): Promise<void> {
    for (const order of this.known.mismatched()) {
      const fills = await this.fillsOf(order, options);
      if (totalOf(fills).equals(order.filledQuantity)) this.known.replaceFills(order.venueOrderId, fills);
    }
  }

  private async fillsOf({ venueOrderId, symbol, createdAt }: Order, options: { signal: AbortSignal }): Promise<Fill[]> {
    const { fills } = await this.parts.venue.fills({ symbols: [symbol], start: { since: createdAt } }, options);
    return fills.filter((fill) => fill.venueOrderId === venueOrderId);
  }
}
