import { VenueUnavailable, type Fill, type Order, type StreamEvent, type Venue } from '#libs/venues';
import type { LifecycleParts } from './lifecycle-parts.js';
import { isWorking } from './order-status.js';
import { applyReport, type Applied, type Report, type ReportSource } from './report.js';
import { listUnsettled, type TradeOrder } from './trade-orders.js';

export interface SyncScope {
  readonly venue: string;
  /** All symbols, unless one is named. */
  readonly symbol?: string;
  /** Which of them are ours to follow; all, where it is not said. */
  readonly concerns?: (symbol: string) => boolean;
}

const UNSETTLED_MAX = 1_000;
/** From this many on, one list of all open orders costs less than a question for each. */
const LIST_FROM = 4;
/** Venues stamp a fill before or after its order by a little. */
const STAMP_SLACK_MS = 1_000;

/**
 * Brings what the venue knows of our orders into the tables. The stream is quick and may lose anything; the poll asks
 * for each order that is not settled, and is what ends every doubt. Both go through one function, so it does not matter
 * which of them, or of several processes, was first.
 */
export class OrderSync {
  private readonly venue: Venue;
  private tail: Promise<void> = Promise.resolve();

  constructor(
    private readonly parts: LifecycleParts,
    private readonly scope: SyncScope,
  ) {
    this.venue = parts.venueOf(scope.venue);
  }

  /**
   * One poll of every unsettled order. An order that cannot be read is told and left for the next time; when the venue
   * does not answer a list, the pass ends with that.
   */
  async runOnce(options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const { venue, symbol } = this.scope;
    const listed = await this.parts.database.statement((tx) =>
      listUnsettled(tx, { venue, symbol, limit: UNSETTLED_MAX }),
    );
    const unsettled = listed.filter((order) => this.concerns(order.symbol));
    if (unsettled.length === 0) return;
    const open = unsettled.length < LIST_FROM ? [] : await this.venue.openOrders(options);
    const openById = new Map(open.map((order) => [order.venueOrderId, order]));
    const seen = new Map<TradeOrder, Order>();
    for (const order of unsettled) {
      if (options.signal?.aborted) return;
      const current = openById.get(order.orderId) ?? (await this.lookUp(order, options));
      if (current) seen.set(order, current);
    }
    const fills = await this.missingFills(seen, options);
    for (const [order, current] of seen) {
      const own = fills.filter(({ venueOrderId }) => venueOrderId === order.orderId);
      await this.apply({ order: current, fills: own }, 'poll');
      if (order.isCancelRequested && isWorking(current.status)) await cancelOrder(this.parts, order);
    }
  }

  /** Applies what the stream tells until the signal; asks the lists whenever it may have missed something. */
  async follow(signal: AbortSignal): Promise<void> {
    await this.venue.stream((event) => this.enqueue(event, signal), signal);
    await this.tail;
  }

  /** One after the other: events of one order arrive in order, and Postgres is asked for one at a time. */
  private enqueue(event: StreamEvent, signal: AbortSignal): void {
    this.tail = this.tail
      .then(() => this.take(event, signal))
      .catch((error: unknown) => this.parts.observer.failed('apply what the stream told', error));
  }

  private async take(event: StreamEvent, signal: AbortSignal): Promise<void> {
    switch (event.kind) {
      case 'gap':
        return this.runOnce({ signal });
      case 'order':
        if (this.concerns(event.order.symbol)) await this.apply({ order: event.order }, 'stream');
        return;
      case 'fill':
        if (this.concerns(event.fill.symbol)) await this.apply({ fills: [event.fill] }, 'stream');
        return;
    }
  }

  private concerns(symbol: string): boolean {
    if (this.scope.symbol !== undefined && this.scope.symbol !== symbol) return false;
    return this.scope.concerns?.(symbol) ?? true;
  }

  private apply(report: Report, source: ReportSource): Promise<Applied> {
    return applyObserved(this.parts, { venue: this.scope.venue, source }, report);
  }

  private async lookUp(order: TradeOrder, options: { readonly signal?: AbortSignal }): Promise<Order | undefined> {
    const { orderId, symbol } = order;
    const lookup = await this.venue.findByVenueOrderId({ venueOrderId: orderId, symbol }, options);
    if (lookup.outcome === 'found') return lookup.order;
    const why = lookup.outcome === 'unknown' ? lookup.message : 'the venue knows no such order';
    this.parts.observer.failed(`read order ${orderId}`, new Error(why));
    return undefined;
  }

  /** One list for all orders that were filled further than is booked. */
  private async missingFills(
    seen: ReadonlyMap<TradeOrder, Order>,
    options: { readonly signal?: AbortSignal },
  ): Promise<readonly Fill[]> {
    const lacking = [...seen].filter(([order, current]) => current.filledQuantity.compare(order.bookedQuantity) > 0);
    if (lacking.length === 0) return [];
    return fillsSince(
      this.venue,
      lacking.map(([, current]) => current),
      options,
    );
  }
}

/** Reads one order and its fills from the venue, and records both. */
export async function syncOrder(parts: LifecycleParts, order: TradeOrder): Promise<Order | undefined> {
  const venue = parts.venueOf(order.venue);
  const lookup = await venue.findByVenueOrderId({ venueOrderId: order.orderId, symbol: order.symbol });
  if (lookup.outcome !== 'found') return undefined;
  await recordOrder(parts, { venue, source: 'lookup' }, lookup.order);
  return lookup.order;
}

/** Asks for the cancellation of one order, and records what is known after the answer. */
export async function cancelOrder(parts: LifecycleParts, order: TradeOrder): Promise<Order | undefined> {
  const venue = parts.venueOf(order.venue);
  const outcome = await venue.cancel({ venueOrderId: order.orderId, symbol: order.symbol });
  await parts.observer.reached('cancel:answered');
  if (outcome.outcome !== 'already-terminal') return syncOrder(parts, order);
  await recordOrder(parts, { venue, source: 'lookup' }, outcome.order);
  return outcome.order;
}

async function recordOrder(
  parts: LifecycleParts,
  from: { readonly venue: Venue; readonly source: ReportSource },
  order: Order,
): Promise<void> {
  const fills = order.filledQuantity.isZero() ? [] : await fillsOrNone(parts, from.venue, order);
  await applyObserved(parts, { venue: from.venue.id, source: from.source }, { order, fills });
}

/** The order is recorded without its fills rather than not at all; the next poll asks for them again. */
async function fillsOrNone(parts: LifecycleParts, venue: Venue, order: Order): Promise<readonly Fill[]> {
  const fills = await fillsSince(venue, [order]).catch((error: unknown) => {
    if (!(error instanceof VenueUnavailable)) throw error;
    parts.observer.failed(`read the fills of order ${order.venueOrderId}`, error);
    return [];
  });
  return fills.filter(({ venueOrderId }) => venueOrderId === order.venueOrderId);
}

async function fillsSince(
  venue: Venue,
  orders: readonly Order[],
  options: { readonly signal?: AbortSignal } = {},
): Promise<readonly Fill[]> {
  const since = new Date(Math.min(...orders.map(({ createdAt }) => createdAt.getTime())) - STAMP_SLACK_MS);
  const symbols = [...new Set(orders.map(({ symbol }) => symbol))];
  return (await venue.fills({ symbols, start: { since } }, options)).fills;
}

async function applyObserved(
  parts: LifecycleParts,
  from: { readonly venue: string; readonly source: ReportSource },
  report: Report,
): Promise<Applied> {
  await parts.observer.reached('report:received');
  const applied = await applyReport(parts.database, from, report);
  parts.observer.applied(from.source, applied);
  await parts.observer.reached('report:applied');
  return applied;
}
