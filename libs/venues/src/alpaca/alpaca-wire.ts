import { z } from 'zod';
import type { Decimal } from '#libs/money';
import type { Balance, Candle, Fill, Order, OrderStatus, Position, Ticker } from '../order.js';
import type { SubmitRequest } from '../venue.js';
import { WireDecimal, WireInstant } from '../wire-value.js';

const Side = z.enum(['buy', 'sell']);
const maybeDecimal = WireDecimal.nullish();

/** What becomes of an order that stands: working means open, or partially filled once something is. */
const STATUS: Record<string, OrderStatus | 'working'> = {
  new: 'working',
  partially_filled: 'partially-filled',
  filled: 'filled',
  done_for_day: 'working',
  canceled: 'cancelled',
  expired: 'expired',
  replaced: 'replaced',
  pending_cancel: 'working',
  pending_replace: 'working',
  pending_review: 'pending',
  accepted: 'pending',
  pending_new: 'pending',
  accepted_for_bidding: 'pending',
  stopped: 'working',
  rejected: 'rejected',
  suspended: 'pending',
  calculated: 'working',
  held: 'pending',
};

const TYPE: Record<string, Order['type']> = {
  market: 'market',
  limit: 'limit',
  stop: 'stop',
  stop_limit: 'stop-limit',
};

const RawOrder = z.object({
  id: z.string().min(1),
  client_order_id: z.string(),
  symbol: z.string().min(1),
  asset_class: z.string().nullish(),
  side: Side,
  type: z.string(),
  qty: maybeDecimal,
  limit_price: maybeDecimal,
  stop_price: maybeDecimal,
  filled_qty: WireDecimal,
  filled_avg_price: maybeDecimal,
  status: z.string().refine((status) => status in STATUS, 'a status that nobody knows'),
  created_at: WireInstant,
  updated_at: WireInstant,
  submitted_at: WireInstant.nullish(),
});

export const WireOrder = RawOrder.transform(orderOf);

/** Lists are paged by the time of submission. */
export const WireListedOrder = RawOrder.transform((raw) => ({
  order: orderOf(raw),
  submittedAt: raw.submitted_at ?? raw.created_at,
}));

function orderOf(raw: z.output<typeof RawOrder>): Order {
  return {
    venueOrderId: raw.id,
    clientOrderId: raw.client_order_id,
    symbol: symbolOf(raw.symbol, raw.asset_class),
    side: raw.side,
    type: TYPE[raw.type] ?? 'other',
    quantity: raw.qty ?? raw.filled_qty,
    ...(raw.limit_price && { limitPrice: raw.limit_price }),
    ...(raw.stop_price && { stopPrice: raw.stop_price }),
    filledQuantity: raw.filled_qty,
    ...(raw.filled_avg_price && { averagePrice: raw.filled_avg_price }),
    status: statusOf(raw.status, raw.filled_qty),
    createdAt: raw.created_at,
    updatedAt: raw.updated_at,
  };
}

/** One execution in the list of activities. Its id is a time and, behind two colons, the id of the execution. */
export const WireActivity = z
  .object({
    id: z.string().min(1),
    order_id: z.string().min(1),
    symbol: z.string().min(1),
    side: z.enum(['buy', 'sell', 'sell_short']),
    qty: WireDecimal,
    price: WireDecimal,
    transaction_time: WireInstant,
  })
  .transform((raw) => ({
    activityId: raw.id,
    fill: {
      fillId: raw.id.split('::')[1] ?? raw.id,
      venueOrderId: raw.order_id,
      symbol: symbolOf(raw.symbol, undefined),
      side: raw.side === 'buy' ? 'buy' : 'sell',
      quantity: raw.qty,
      price: raw.price,
      happenedAt: raw.transaction_time,
    } satisfies Fill,
  }));

/** A frame of trade_updates: the order as it is now and, for executions, what happened. */
export const WireTradeUpdate = z.discriminatedUnion('kind', [
  z
    .object({
      kind: z.literal('fill'),
      order: WireOrder,
      execution_id: z.string().min(1),
      price: WireDecimal,
      qty: WireDecimal,
      timestamp: WireInstant,
    })
    .transform((raw) => ({
      order: raw.order,
      fill: {
        fillId: raw.execution_id,
        venueOrderId: raw.order.venueOrderId,
        clientOrderId: raw.order.clientOrderId,
        symbol: raw.order.symbol,
        side: raw.order.side,
        quantity: raw.qty,
        price: raw.price,
        happenedAt: raw.timestamp,
      } satisfies Fill,
    })),
  z.object({ kind: z.literal('change'), order: WireOrder }).transform((raw) => ({ order: raw.order, fill: undefined })),
]);

export const WirePosition = z
  .object({
    symbol: z.string().min(1),
    asset_class: z.string().nullish(),
    qty: WireDecimal,
    side: z.enum(['long', 'short']),
    avg_entry_price: WireDecimal,
  })
  .transform((raw): Position => ({
    symbol: symbolOf(raw.symbol, raw.asset_class),
    // Short positions come with a minus already; a venue that left it out would turn the position round.
    quantity: raw.side === 'short' ? raw.qty.abs().negated() : raw.qty,
    averagePrice: raw.avg_entry_price,
  }));

export const WireAccount = z
  .object({ currency: z.string().min(1), cash: WireDecimal, non_marginable_buying_power: WireDecimal })
  .transform((raw): Balance[] => [
    { asset: raw.currency, total: raw.cash, available: raw.non_marginable_buying_power },
  ]);

/** Whole crypto assets name their steps; stocks have the steps of the market. */
export const WireAsset = z.object({
  symbol: z.string().min(1),
  class: z.string(),
  min_order_size: maybeDecimal,
  min_trade_increment: maybeDecimal,
  price_increment: maybeDecimal,
});

/** Market data counts in JSON numbers, which parseExactJson leaves as texts. */
const WireBar = z
  .object({ t: WireInstant, o: WireDecimal, h: WireDecimal, l: WireDecimal, c: WireDecimal, v: WireDecimal })
  .transform((raw): Candle => ({ openedAt: raw.t, open: raw.o, high: raw.h, low: raw.l, close: raw.c, volume: raw.v }));

export const WireBars = z.object({
  bars: z.record(z.string(), z.array(WireBar)).nullable(),
  next_page_token: z.string().nullish(),
});

export const WireQuotes = z.object({
  quotes: z.record(z.string(), z.object({ t: WireInstant, bp: WireDecimal, ap: WireDecimal })),
});

export function tickerOf(symbol: string, quote: { t: Date; bp: Decimal; ap: Decimal }): Ticker {
  return { symbol, bid: quote.bp, ask: quote.ap, at: quote.t };
}

/** The body of a submission in the words of the client library. */
export function orderRequestOf(request: SubmitRequest): {
  symbol: string;
  qty: string;
  side: 'buy' | 'sell';
  type: 'market' | 'limit' | 'stop' | 'stop_limit';
  timeInForce: 'day' | 'gtc' | 'ioc' | 'fok';
  limitPrice?: string;
  stopPrice?: string;
  clientOrderId: string;
} {
  return {
    symbol: request.symbol,
    qty: request.quantity.toString(),
    side: request.side,
    type: request.type === 'stop-limit' ? 'stop_limit' : request.type,
    timeInForce: request.timeInForce,
    ...(request.limitPrice && { limitPrice: request.limitPrice.toString() }),
    ...(request.stopPrice && { stopPrice: request.stopPrice.toString() }),
    clientOrderId: request.clientOrderId,
  };
}

export function isCrypto(symbol: string): boolean {
  return symbol.includes('/');
}

function statusOf(status: string, filled: Decimal): OrderStatus {
  const known = STATUS[status];
  if (known === undefined) throw new Error(`Invariant: the schema lets no unknown status through, got ${status}.`);
  if (known !== 'working' && known !== 'pending') return known;
  if (filled.isPositive()) return 'partially-filled';
  return known === 'working' ? 'open' : 'pending';
}

const CRYPTO_QUOTES = ['USDT', 'USDC', 'USD', 'BTC'];

/** Positions and older activities write BTCUSD for BTC/USD; no stock's ticker is as long and ends like that. */
function symbolOf(symbol: string, assetClass: string | null | undefined): string {
  if (symbol.includes('/')) return symbol;
  const quote = CRYPTO_QUOTES.find((name) => symbol.endsWith(name) && symbol.length > name.length);
  const isPair = assetClass === 'crypto' || (assetClass == null && symbol.length >= 6);
  return quote !== undefined && isPair ? `${symbol.slice(0, -quote.length)}/${quote}` : symbol;
}
