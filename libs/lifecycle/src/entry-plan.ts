import { Decimal } from '#libs/money';
import type { Instrument, Ticker } from '#libs/venues';
import type { Signal } from './signal.js';

/** How much more than its notional is reserved for an order, in hundredths of a percent. */
export interface Buffers {
  /** For orders whose price the market makes. */
  readonly marketBps: number;
  /** For the fee, so that a fill of an order that took everything does not go below zero. */
  readonly feeBps: number;
}

export type EntryPlan =
  | { readonly quantity: Decimal; readonly amount: Decimal }
  | { readonly refusal: 'quantity_off_step' | 'below_minimum' | 'no_price'; readonly detail: string };

const BPS = Decimal.fromInteger(10_000n);
/** As many decimals as the ledger keeps. */
const AMOUNT_SCALE = 18;
const QUANTITY_SCALE = 18;

/**
 * What is ordered and what is reserved for it. A quantity is taken as it was asked for or refused; money buys as many
 * whole steps as it can. Only a limit bounds what a buyer pays; what a seller gets has no bound, so a short position and
 * a market order are reserved at the market's price and a buffer.
 */
export function planEntry(
  { side, size, order }: Pick<Signal, 'side' | 'size' | 'order'>,
  market: { readonly instrument: Instrument; readonly ticker: Ticker | undefined },
  buffers: Buffers,
): EntryPlan {
  const { instrument, ticker } = market;
  const quoted = side === 'buy' ? ticker?.ask : ticker?.bid;
  const limit = order.type === 'limit' ? order.limitPrice : undefined;
  const isBounded = side === 'buy' && limit !== undefined;
  const price = isBounded ? limit : higher(limit, quoted);
  if (!price?.isPositive()) return { refusal: 'no_price', detail: `${instrument.symbol} has no price to reserve by` };

  const quantity = 'quantity' in size ? size.quantity : wholeSteps(size.notional, limit ?? price, instrument);
  if (!wholeStepsOf(quantity, instrument).equals(quantity)) {
    return { refusal: 'quantity_off_step', detail: `the step is ${instrument.quantityStep.toString()}` };
  }
  const minimum = minimumOf(quantity, limit ?? price, instrument);
  if (minimum !== undefined) return { refusal: 'below_minimum', detail: minimum };
  const bps = buffers.feeBps + (isBounded ? 0 : buffers.marketBps);
  const factor = BPS.plus(Decimal.fromInteger(BigInt(bps))).dividedBy(BPS, { scale: 4, rounding: 'up' });
  return { quantity, amount: quantity.times(price).times(factor).rounded({ scale: AMOUNT_SCALE, rounding: 'up' }) };
}

/** As many pieces as are whole steps. */
export function wholeStepsOf(quantity: Decimal, { quantityStep }: Instrument): Decimal {
  return quantity.dividedBy(quantityStep, { scale: 0, rounding: 'down' }).times(quantityStep);
}

function wholeSteps(notional: Decimal, price: Decimal, instrument: Instrument): Decimal {
  return wholeStepsOf(notional.dividedBy(price, { scale: QUANTITY_SCALE, rounding: 'down' }), instrument);
}

function minimumOf(quantity: Decimal, price: Decimal, instrument: Instrument): string | undefined {
  const { quantityMin, notionalMin } = instrument;
  if (!quantity.isPositive()) return 'the quantity comes to nothing';
  if (quantityMin && quantity.compare(quantityMin) < 0) return `the least quantity is ${quantityMin.toString()}`;
  if (notionalMin && quantity.times(price).compare(notionalMin) < 0) {
    return `the least notional is ${notionalMin.toString()}`;
  }
  return undefined;
}

function higher(a: Decimal | undefined, b: Decimal | undefined): Decimal | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a.compare(b) > 0 ? a : b;
}
