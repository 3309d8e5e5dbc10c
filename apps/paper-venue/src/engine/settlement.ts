import type { Decimal } from '#libs/money';
import type { Balances } from './balances.js';
import { feeOn, type FeeSchedule } from './fees.js';
import type { Order } from './order.js';

/** One trade of one order: what changes hands, and who was there first. */
export interface Trade {
  readonly price: Decimal;
  readonly quantity: Decimal;
  readonly isMaker: boolean;
}

/** What is set aside for the open part of an order. */
export function lockOf(order: Pick<Order, 'side' | 'instrument' | 'quantity' | 'lockPrice'>): {
  asset: string;
  amount: Decimal;
} {
  return order.side === 'buy'
    ? { asset: order.instrument.quote, amount: order.quantity.times(order.lockPrice) }
    : { asset: order.instrument.base, amount: order.quantity };
}

/** Moves the funds of a trade and takes the fee from what comes in. */
export function settle(
  balances: Balances,
  order: Order,
  { price, quantity, isMaker, fees }: Trade & { fees: FeeSchedule },
): { fee: Decimal; feeAsset: string } {
  const { instrument, side, protocol } = order;
  const notional = price.times(quantity);
  const by = { instrument, protocol, isMaker, fees };
  if (side === 'buy') {
    const fee = feeOn(quantity, by);
    balances.spend(instrument.quote, { locked: quantity.times(order.lockPrice), amount: notional });
    balances.acquire(instrument.base, { quantity: quantity.minus(fee), cost: notional });
    return { fee, feeAsset: instrument.base };
  }
  const fee = feeOn(notional, by);
  balances.deliver(instrument.base, quantity);
  balances.earn(instrument.quote, notional.minus(fee));
  return { fee, feeAsset: instrument.quote };
}
