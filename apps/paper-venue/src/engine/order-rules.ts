import { Decimal } from '#libs/money';
import type { OrderRequest } from './order.js';

/** Why the venue does not take an order. Each protocol has its own words for it. */
export type Refusal =
  | { readonly reason: 'duplicate-client-order-id' }
  | { readonly reason: 'quantity-step' | 'price-tick'; readonly step: Decimal }
  | { readonly reason: 'quantity-missing' | 'quantity-range' }
  | { readonly reason: 'notional-min'; readonly min: Decimal; readonly notional: Decimal }
  | { readonly reason: 'no-market' }
  | { readonly reason: 'insufficient-funds'; readonly asset: string; readonly needed: Decimal; readonly free: Decimal };

const QUANTITY_MAX = Decimal.fromInteger(1_000_000_000n);

/** How far beyond the best price a market order may be filled; a buyer's funds are locked at that. */
const COLLAR = { buy: Decimal.parse('1.05'), sell: Decimal.parse('0.95') };

/** Checks the numbers of an order against the rules of the protocol it came through. */
export function findRuleBreach(
  request: OrderRequest & { quantity: Decimal },
  referencePrice: Decimal,
): Refusal | undefined {
  const { quantityStep, priceTick, notionalMin } = request.instrument.rules[request.protocol];
  const { quantity, limitPrice, stopPrice } = request;
  if (!quantity.isPositive() || quantity.compare(QUANTITY_MAX) > 0) return { reason: 'quantity-range' };
  if (!isMultiple(quantity, quantityStep)) return { reason: 'quantity-step', step: quantityStep };
  for (const price of [limitPrice, stopPrice]) {
    if (price && !(price.isPositive() && isMultiple(price, priceTick)))
      return { reason: 'price-tick', step: priceTick };
  }
  const notional = quantity.times(limitPrice ?? stopPrice ?? referencePrice);
  return notional.compare(notionalMin) < 0 ? { reason: 'notional-min', min: notionalMin, notional } : undefined;
}

/** The worst price that an order may be filled at. */
export function worstPriceOf(request: OrderRequest, referencePrice: Decimal): Decimal {
  if (request.limitPrice) return request.limitPrice;
  const scale = request.instrument.rules.binance.priceTick.scale;
  const rounding = request.side === 'buy' ? 'up' : 'down';
  return (request.stopPrice ?? referencePrice).times(COLLAR[request.side]).rounded({ scale, rounding });
}

function isMultiple(value: Decimal, step: Decimal): boolean {
  return value.dividedBy(step, { scale: 0, rounding: 'down' }).times(step).equals(value);
}
