import fc from 'fast-check';
import { Decimal } from '#libs/money';
import type { Fill, Order, OrderStatus, Side } from '#libs/venues';
import type { Report } from '../report.js';
import { fillOf, orderOf } from './setup.js';

/** What truly happens to one order at the venue: how it is filled, and how it ends. */
export interface OrderStory {
  readonly slices: readonly Slice[];
  readonly end: 'filled' | 'cancelled' | 'expired';
  /** What is never filled of it, unless it is filled whole. */
  readonly rest: Decimal;
}

interface Slice {
  readonly quantity: Decimal;
  readonly price: Decimal;
  readonly fee: 'none' | 'quote' | 'base';
}

/** One thing that is told of an order: how it stood after so many fills, one fill alone, or both with all fills so far. */
export interface Message {
  readonly kind: 'order' | 'fill' | 'both';
  /** From 0 to 1: when in its life. */
  readonly at: number;
  readonly source: 'submit' | 'lookup' | 'stream' | 'poll' | 'sweep';
}

const hundredths = (min: number, max: number): fc.Arbitrary<Decimal> =>
  fc.integer({ min, max }).map((count) => Decimal.parse('0.01').times(Decimal.fromInteger(BigInt(count))));

const slices = fc.array(
  fc.record<Slice>({
    quantity: hundredths(1, 300),
    price: hundredths(9_000, 11_000),
    fee: fc.constantFrom('none', 'quote', 'base'),
  }),
  { minLength: 1, maxLength: 5 },
);

export const stories: fc.Arbitrary<OrderStory> = fc.record({
  slices,
  end: fc.constantFrom('filled', 'cancelled', 'expired'),
  rest: hundredths(1, 500),
});

export const messages: fc.Arbitrary<readonly Message[]> = fc.array(
  fc.record<Message>({
    kind: fc.constantFrom('order', 'fill', 'both'),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    source: fc.constantFrom('submit', 'lookup', 'stream', 'poll', 'sweep'),
  }),
  { maxLength: 14 },
);

const sum = (all: readonly Decimal[]): Decimal => all.reduce((total, each) => total.plus(each), Decimal.zero);
const BEGUN_MS = Date.parse('2026-01-01T00:00:00Z');
const time = (position: number): Date => new Date(BEGUN_MS + position * 1_000);

export function quantityOf({ slices: parts, end, rest }: OrderStory): Decimal {
  const filled = sum(parts.map(({ quantity }) => quantity));
  return end === 'filled' ? filled : filled.plus(rest);
}

/** The whole of a quantity in one fill. */
export function soldWhole(quantity: Decimal): OrderStory {
  const slice = { quantity, price: Decimal.parse('101.5'), fee: 'quote' } as const;
  return { slices: [slice], end: 'filled', rest: Decimal.zero };
}

/** A story of the same shape for what there is to sell: equal parts of it, of which the last is not sold or takes all. */
export function scaledTo(quantity: Decimal, { slices: parts, end }: OrderStory): OrderStory {
  const shares = Decimal.fromInteger(BigInt(parts.length + (end === 'filled' ? 0 : 1)));
  const share = quantity.dividedBy(shares, { scale: 6, rounding: 'down' });
  const equal = parts.map((slice) => ({ ...slice, quantity: share }));
  const rest = quantity.minus(sum(equal.map((slice) => slice.quantity)));
  if (end !== 'filled') return { slices: equal, end, rest };
  const last = equal.pop() as Slice;
  return { slices: [...equal, { ...last, quantity: share.plus(rest) }], end, rest: Decimal.zero };
}

/** What the venue would tell of the order of a story, at any time of its life. */
export class ToldOrder {
  constructor(
    private readonly story: OrderStory,
    private readonly clientOrderId: string,
    private readonly side: Side,
  ) {}

  tell({ kind, at }: Message): Report {
    const count = Math.round(at * this.story.slices.length);
    if (kind === 'fill') return { fills: [this.fill(Math.max(count - 1, 0))] };
    return kind === 'order' ? { order: this.order(count) } : { order: this.order(count), fills: this.fills(count) };
  }

  /** All of it, as whoever asks in the end is told. */
  whole(): Report {
    return this.tell({ kind: 'both', at: 1, source: 'poll' });
  }

  private order(count: number): Order {
    const filled = this.story.slices.slice(0, count);
    const filledQuantity = sum(filled.map(({ quantity }) => quantity));
    const notional = sum(filled.map(({ quantity, price }) => quantity.times(price)));
    const averagePrice =
      count === 0 ? {} : { averagePrice: notional.dividedBy(filledQuantity, { scale: 8, rounding: 'down' }) };
    return orderOf(this.clientOrderId, {
      ...{ side: this.side, quantity: quantityOf(this.story), filledQuantity, status: this.status(count) },
      ...averagePrice,
      updatedAt: time(count),
    });
  }

  private status(count: number): OrderStatus {
    if (count === this.story.slices.length) return this.story.end;
    return count === 0 ? 'open' : 'partially-filled';
  }

  private fills(count: number): Fill[] {
    return this.story.slices.slice(0, count).map((_, index) => this.fill(index));
  }

  private fill(index: number): Fill {
    const { quantity, price, fee } = this.story.slices[index] as Slice;
    const amount = fee === 'base' ? quantity : quantity.times(price);
    return fillOf(this.clientOrderId, `f${index}`, {
      ...{ side: this.side, quantity, price, happenedAt: time(index) },
      ...(fee !== 'none' && {
        fee: { amount: amount.times(Decimal.parse('0.0025')), asset: fee === 'base' ? 'BTC' : 'USD' },
      }),
    });
  }
}
