import type { Decimal } from '#libs/money';
import { isDormant, isPriced, type Order, type Side } from './order.js';

interface Entry {
  readonly seq: number;
  readonly price: Decimal;
}

/** The account's open orders in one instrument, each list in the order in which it is served. */
export class OwnBook {
  /** Resting with a limit: best price first, then oldest. */
  private readonly resting: Record<Side, Entry[]> = { buy: [], sell: [] };
  /** Stops that wait: the one that the price reaches first, then oldest. */
  private readonly dormant: Record<Side, Entry[]> = { buy: [], sell: [] };
  /** Those that take whatever comes next: market orders and what must be filled at once. Oldest first. */
  private readonly takers: number[] = [];

  add(order: Order): void {
    if (isDormant(order) && order.stopPrice) {
      // A purchase is triggered by a rise, so the lowest stop comes first.
      insert(this.dormant[order.side], { seq: order.seq, price: order.stopPrice }, order.side === 'buy' ? 1 : -1);
    } else if (isTaker(order) || !isPriced(order)) {
      this.takers.push(order.seq);
      this.takers.sort((a, b) => a - b);
    } else {
      insert(this.resting[order.side], { seq: order.seq, price: order.limitPrice }, order.side === 'buy' ? -1 : 1);
    }
  }

  remove(order: Order): void {
    const lists = [this.resting[order.side], this.dormant[order.side]];
    for (const list of lists) {
      const index = list.findIndex(({ seq }) => seq === order.seq);
      if (index >= 0) list.splice(index, 1);
    }
    const index = this.takers.indexOf(order.seq);
    if (index >= 0) this.takers.splice(index, 1);
  }

  /** Those on this side of the book that rest with a limit, in the order in which they are served. */
  restingOn(side: Side): readonly Entry[] {
    return this.resting[side];
  }

  /** The stops that a price reaches, oldest first. */
  reachedBy(quote: { bid: Decimal | undefined; ask: Decimal | undefined }): number[] {
    const { bid, ask } = quote;
    const buys = ask ? takeWhile(this.dormant.buy, ({ price }) => price.compare(ask) <= 0) : [];
    const sells = bid ? takeWhile(this.dormant.sell, ({ price }) => price.compare(bid) >= 0) : [];
    return [...buys, ...sells].map(({ seq }) => seq).sort((a, b) => a - b);
  }

  takersInOrder(): readonly number[] {
    return [...this.takers];
  }

  isEmpty(): boolean {
    const lists = [this.resting.buy, this.resting.sell, this.dormant.buy, this.dormant.sell, this.takers];
    return lists.every(({ length }) => length === 0);
  }
}

/** Never waits for a better price. */
export function isTaker(order: Pick<Order, 'limitPrice' | 'timeInForce'>): boolean {
  return !isPriced(order) || order.timeInForce === 'ioc' || order.timeInForce === 'fok';
}

function insert(list: Entry[], entry: Entry, direction: 1 | -1): void {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = list[middle];
    const isBehind = other !== undefined && (direction * other.price.compare(entry.price) || other.seq - entry.seq) < 0;
    if (isBehind) low = middle + 1;
    else high = middle;
  }
  list.splice(low, 0, entry);
}

function takeWhile<T>(list: readonly T[], holds: (item: T) => boolean): T[] {
  const end = list.findIndex((item) => !holds(item));
  return end < 0 ? [...list] : list.slice(0, end);
}
