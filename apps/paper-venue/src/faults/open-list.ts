import type { Order } from '../engine/order.js';
import type { OrderQuery } from '../store/archive.js';
import type { Venue } from '../venue.js';
import type { Fault } from './fault.js';
import type { FaultBox } from './fault-box.js';

/** The list of open orders as clients get it: true and whole, unless a fault says otherwise. */
export class OpenList {
  /** What was open when a fault was set, by its id. */
  private readonly asItWas = new Map<number, readonly Order[]>();

  constructor(
    private readonly box: FaultBox,
    private readonly venue: Venue,
  ) {}

  /** A list gets stale from the moment on at which the fault is set. */
  remember({ id, fault }: Fault): void {
    if (fault === 'stale-list') this.asItWas.set(id, this.openOrders());
  }

  forget(): void {
    this.asItWas.clear();
  }

  async read(query: Omit<OrderQuery, 'status'>): Promise<Order[]> {
    const fault = this.box.drawForList();
    const orders = await this.venue.read((archive) => archive.listOrders({ ...query, status: 'open' }));
    if (!fault) return orders;
    return select(
      fault.fault === 'stale-list' ? (this.asItWas.get(fault.id) ?? []) : oldestHalf(this.openOrders()),
      query,
    );
  }

  private openOrders(): Order[] {
    return [...this.venue.parts.engine.openOrders()].sort((a, b) => a.seq - b.seq);
  }
}

function oldestHalf(orders: readonly Order[]): Order[] {
  return orders.slice(0, Math.floor(orders.length / 2));
}

/** As the archive would, of orders that are not in it any more. */
function select(orders: readonly Order[], query: Omit<OrderQuery, 'status'>): Order[] {
  const { instruments, side, createdAfter, createdBefore, afterSeq, beforeSeq, newestFirst, limit } = query;
  const selected = orders.filter(
    (order) =>
      (instruments?.includes(order.instrument) ?? true) &&
      (side === undefined || order.side === side) &&
      (createdAfter === undefined || order.createdAt > createdAfter) &&
      (createdBefore === undefined || order.createdAt <= createdBefore) &&
      (afterSeq === undefined || order.seq > afterSeq) &&
      (beforeSeq === undefined || order.seq < beforeSeq),
  );
  return (newestFirst ? selected.reverse() : selected).slice(0, limit);
}
