import { Decimal } from '#libs/money';
import type { Level } from '../market/liquidity.js';
import type { Side } from './order.js';

/** One step of a match. Without a maker the other side is the market. */
export interface PlannedTrade {
  readonly price: Decimal;
  readonly quantity: Decimal;
  readonly maker?: number;
}

export interface Resting {
  readonly seq: number;
  readonly price: Decimal;
  readonly remaining: Decimal;
}

/**
 * What an order that takes would get now: the better price first, whoever offers it; at the same price the market
 * before our own, and of our own the older first. Never beyond the worst price. Changes nothing.
 */
export function planTaking(
  taker: { side: Side; quantity: Decimal; worstPrice: Decimal },
  offers: { own: Iterable<Resting>; market: readonly Level[] },
): PlannedTrade[] {
  const isBetter = (a: Decimal, b: Decimal): boolean => (taker.side === 'buy' ? a.compare(b) <= 0 : a.compare(b) >= 0);
  const trades: PlannedTrade[] = [];
  let left = taker.quantity;
  const market = offers.market[Symbol.iterator]();
  const own = offers.own[Symbol.iterator]();
  let level = market.next();
  let resting = own.next();
  while (left.isPositive() && !(level.done && resting.done)) {
    const takesLevel = !level.done && (resting.done || isBetter(level.value.price, resting.value.price));
    const offer = takesLevel
      ? { price: (level.value as Level).price, quantity: (level.value as Level).quantity }
      : { price: (resting.value as Resting).price, quantity: (resting.value as Resting).remaining };
    if (!isBetter(offer.price, taker.worstPrice)) break;
    const quantity = smaller(left, offer.quantity);
    trades.push({ price: offer.price, quantity, ...(!takesLevel && { maker: (resting.value as Resting).seq }) });
    left = left.minus(quantity);
    if (takesLevel) level = market.next();
    else resting = own.next();
  }
  return trades;
}

/** What a resting order gets when the market comes to its price: at its own price, as the one who was there first. */
export function planServing(
  resting: { side: Side; price: Decimal; remaining: Decimal },
  market: readonly Level[],
): PlannedTrade[] {
  const reaches = (price: Decimal): boolean =>
    resting.side === 'buy' ? price.compare(resting.price) <= 0 : price.compare(resting.price) >= 0;
  let quantity = Decimal.zero;
  for (const level of market) {
    if (!reaches(level.price)) break;
    quantity = smaller(resting.remaining, quantity.plus(level.quantity));
  }
  return quantity.isPositive() ? [{ price: resting.price, quantity }] : [];
}

/** How much of the base asset an amount of the quote asset buys or sells, in whole steps. */
export function quantityFor(notional: Decimal, levels: readonly Level[], step: Decimal): Decimal {
  let [left, quantity] = [notional, Decimal.zero];
  for (const [index, level] of levels.entries()) {
    const worth = level.price.times(level.quantity);
    const isLast = index === levels.length - 1;
    if (worth.compare(left) <= 0 && !isLast) {
      left = left.minus(worth);
      quantity = quantity.plus(level.quantity);
    } else {
      quantity = quantity.plus(left.dividedBy(level.price, { scale: step.scale, rounding: 'down' }));
      break;
    }
  }
  return quantity.dividedBy(step, { scale: 0, rounding: 'down' }).times(step);
}

export function totalOf(trades: readonly PlannedTrade[]): Decimal {
  return trades.reduce((sum, { quantity }) => sum.plus(quantity), Decimal.zero);
}

function smaller(a: Decimal, b: Decimal): Decimal {
  return a.compare(b) <= 0 ? a : b;
}
