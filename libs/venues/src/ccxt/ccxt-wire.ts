import { z } from 'zod';
import { type Decimal } from '#libs/money';
import type { Balance, Candle, Fill, Order, OrderStatus, Ticker } from '../order.js';
import type { Instrument, SubmitRequest } from '../venue.js';
import { WireDecimal, WireMillis } from '../wire-value.js';

/** ccxt knows no fewer digits than this for a quotient that the exchange does not give itself. */
const AVERAGE_SCALE = 18;

const maybeDecimal = WireDecimal.nullish();

const TYPE: Record<string, Order['type']> = {
  market: 'market',
  limit: 'limit',
  limit_maker: 'limit',
  stop: 'stop',
  stop_loss: 'stop',
  stop_market: 'stop',
  stop_limit: 'stop-limit',
  stop_loss_limit: 'stop-limit',
};

export const WireOrder = z
  .object({
    id: z.string().min(1),
    clientOrderId: z.string().nullish(),
    symbol: z.string().min(1),
    side: z.enum(['buy', 'sell']),
    type: z.string(),
    amount: WireDecimal,
    price: maybeDecimal,
    triggerPrice: maybeDecimal,
    filled: WireDecimal,
    cost: maybeDecimal,
    status: z.enum(['open', 'closed', 'canceled', 'cancelled', 'canceling', 'expired', 'rejected']),
    timestamp: WireMillis,
    lastTradeTimestamp: WireMillis.nullish(),
    lastUpdateTimestamp: WireMillis.nullish(),
  })
  .transform((raw): Order => {
    const type = TYPE[raw.type] ?? 'other';
    const isPriced = type === 'limit' || type === 'stop-limit';
    return {
      venueOrderId: raw.id,
      clientOrderId: raw.clientOrderId ?? '',
      symbol: raw.symbol,
      side: raw.side,
      type,
      quantity: raw.amount,
      ...(isPriced && raw.price && { limitPrice: raw.price }),
      ...(raw.triggerPrice?.isPositive() && { stopPrice: raw.triggerPrice }),
      filledQuantity: raw.filled,
      ...(raw.cost?.isPositive() &&
        raw.filled.isPositive() && {
          averagePrice: raw.cost.dividedBy(raw.filled, { scale: AVERAGE_SCALE, rounding: 'half-even' }),
        }),
      status: statusOf(raw.status, raw.filled, raw.amount),
      createdAt: raw.timestamp,
      updatedAt: raw.lastUpdateTimestamp ?? raw.lastTradeTimestamp ?? raw.timestamp,
    };
  });

function statusOf(status: string, filled: Decimal, amount: Decimal): OrderStatus {
  switch (status) {
    case 'closed':
      // Some exchanges close what is left of an order without a word; it was not filled then.
      return filled.compare(amount) >= 0 ? 'filled' : 'cancelled';
    case 'expired':
    case 'rejected':
      return status;
    case 'canceled':
    case 'cancelled':
      return 'cancelled';
    default:
      return filled.isPositive() ? 'partially-filled' : 'open';
  }
}

export const WireFill = z
  .object({
    id: z.string().min(1),
    order: z.string().min(1),
    symbol: z.string().min(1),
    side: z.enum(['buy', 'sell']),
    amount: WireDecimal,
    price: WireDecimal,
    fee: z.object({ cost: maybeDecimal, currency: z.string().nullish() }).nullish(),
    timestamp: WireMillis,
  })
  .transform((raw): Fill => {
    const { cost, currency } = raw.fee ?? {};
    return {
      fillId: raw.id,
      venueOrderId: raw.order,
      symbol: raw.symbol,
      side: raw.side,
      quantity: raw.amount,
      price: raw.price,
      ...(cost && currency != null && { fee: { amount: cost, asset: currency } }),
      happenedAt: raw.timestamp,
    };
  });

const Amounts = z.record(z.string(), maybeDecimal);

/** Exchanges list every asset they know; those of which there is nothing say nothing. */
export const WireBalances = z.object({ total: Amounts, free: Amounts }).transform(({ total, free }): Balance[] =>
  Object.entries(total).flatMap(([asset, amount]) => {
    const available = free[asset];
    return amount && available && !amount.isZero() ? [{ asset, total: amount, available }] : [];
  }),
);

export const WireCandle = z
  .tuple([WireMillis, WireDecimal, WireDecimal, WireDecimal, WireDecimal, WireDecimal])
  .transform(([openedAt, open, high, low, close, volume]): Candle => ({ openedAt, open, high, low, close, volume }));

export const WireTicker = z
  .object({ symbol: z.string(), bid: WireDecimal, ask: WireDecimal, timestamp: WireMillis })
  .transform(({ symbol, bid, ask, timestamp: at }): Ticker => ({ symbol, bid, ask, at }));

/** Steps as ccxt gives them where it counts in ticks. */
export const WireMarket = z
  .object({
    symbol: z.string(),
    precision: z.object({ amount: WireDecimal, price: WireDecimal }),
    limits: z.object({
      amount: z.object({ min: maybeDecimal }),
      cost: z.object({ min: maybeDecimal }),
    }),
  })
  .transform(({ symbol, precision, limits }): Instrument => ({
    symbol,
    quantityStep: precision.amount,
    priceTick: precision.price,
    ...(limits.amount.min && { quantityMin: limits.amount.min }),
    ...(limits.cost.min && { notionalMin: limits.cost.min }),
  }));

/** A sentence about what ccxt would silently change on the way, or undefined. */
export function mismatchOf(request: SubmitRequest, instrument: Instrument): string | undefined {
  const { quantity, limitPrice, stopPrice } = request;
  if (!isMultiple(quantity, instrument.quantityStep)) {
    return `the quantity ${quantity.toString()} is no multiple of ${instrument.quantityStep.toString()}`;
  }
  const off = [limitPrice, stopPrice].find((price) => price && !isMultiple(price, instrument.priceTick));
  return off && `the price ${off.toString()} is no multiple of ${instrument.priceTick.toString()}`;
}

function isMultiple(value: Decimal, step: Decimal): boolean {
  if (!step.isPositive()) return true;
  return value.dividedBy(step, { scale: 0, rounding: 'down' }).times(step).equals(value);
}
