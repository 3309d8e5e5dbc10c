import { Decimal } from '#libs/money';
import { isTerminal, type Fill, type Order, type OrderStatus } from './order.js';

export interface FollowedOrder {
  readonly order: Order;
  readonly fills: readonly Fill[];
}

/** How far an order has come, for statuses that are not the end. */
const RANK: Partial<Record<OrderStatus, number>> = { pending: 0, open: 1, 'partially-filled': 2 };

/**
 * The further of two reports of one order. Reports come late, twice and out of order, but an order itself only moves
 * forward: what is filled stays filled, and what has ended stays ended.
 */
export function furtherOf(known: Order, seen: Order): Order {
  return isFurther(seen, known) ? seen : known;
}

function isFurther(a: Order, b: Order): boolean {
  if (isTerminal(a) !== isTerminal(b)) return isTerminal(a);
  const filled = a.filledQuantity.compare(b.filledQuantity);
  if (filled !== 0) return filled > 0;
  const rank = (RANK[a.status] ?? 0) - (RANK[b.status] ?? 0);
  return rank === 0 ? a.updatedAt > b.updatedAt : rank > 0;
}

/** What is known of a venue's orders and fills. Applying anything twice, or in another order, gives the same. */
export class FollowedOrders {
  private readonly orders = new Map<string, Order>();
  private readonly fills = new Map<string, Map<string, Fill>>();

  apply(order: Order): void {
    const known = this.orders.get(order.venueOrderId);
    this.orders.set(order.venueOrderId, known ? furtherOf(known, order) : order);
  }

  applyFill(fill: Fill): void {
    const fills = this.fills.get(fill.venueOrderId) ?? new Map<string, Fill>();
    // The first report stays: a later one of the same fill says the same, or less.
    if (!fills.has(fill.fillId)) fills.set(fill.fillId, fill);
    this.fills.set(fill.venueOrderId, fills);
  }

  /** The venue's list of one order's fills, in place of what the stream told. */
  replaceFills(venueOrderId: string, fills: readonly Fill[]): void {
    this.fills.set(venueOrderId, new Map(fills.map((fill) => [fill.fillId, fill])));
  }

  find(venueOrderId: string): FollowedOrder | undefined {
    const order = this.orders.get(venueOrderId);
    return order && { order, fills: this.fillsOf(venueOrderId) };
  }

  list(): FollowedOrder[] {
    return [...this.orders.values()].map((order) => ({ order, fills: this.fillsOf(order.venueOrderId) }));
  }

  working(): Order[] {
    return [...this.orders.values()].filter((order) => !isTerminal(order));
  }

  /** Whether the fills of an order add up to what the venue says is filled; else an event is missing. */
  isWhole(venueOrderId: string): boolean {
    const order = this.orders.get(venueOrderId);
    return order !== undefined && totalOf(this.fillsOf(venueOrderId)).equals(order.filledQuantity);
  }

  mismatched(): Order[] {
    return [...this.orders.values()].filter(({ venueOrderId }) => !this.isWhole(venueOrderId));
  }

  /** Orders that are known by a fill alone. */
  orphans(): Fill[] {
    return [...this.fills]
      .filter(([venueOrderId]) => !this.orders.has(venueOrderId))
      .flatMap(([, fills]) => [...fills.values()].slice(0, 1));
  }

  /** Lets go of what ended before, so that a follower does not grow for as long as it lives. */
  forgetEndedBefore(time: Date): void {
    for (const [venueOrderId, order] of this.orders) {
      if (!isTerminal(order) || order.updatedAt >= time) continue;
      this.orders.delete(venueOrderId);
      this.fills.delete(venueOrderId);
    }
    for (const { venueOrderId, happenedAt } of this.orphans()) {
      if (happenedAt < time) this.fills.delete(venueOrderId);
    }
  }

  private fillsOf(venueOrderId: string): Fill[] {
    return [...(this.fills.get(venueOrderId)?.values() ?? [])];
  }
}

export function totalOf(fills: readonly Fill[]): Decimal {
  return fills.reduce((total, { quantity }) => total.plus(quantity), Decimal.zero);
}
