import { Decimal } from '#libs/money';
import type { Candle } from '../market/candles.js';
import { assetIn, type Instrument } from '../market/instruments.js';
import type { MarketTrade } from '../market/market.js';
import type { Venue } from '../venue.js';
import { amount } from './order-json.js';
import { ORDER_TYPES } from './order-request.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const PERCENT_SCALE = 3;
const HUNDRED = Decimal.fromInteger(100n);
const TWO = Decimal.fromInteger(2n);
const QUANTITY_MAX = '9000000.00000000';

type Json = Record<string, unknown>;

export const INTERVALS_MS: ReadonlyMap<string, number> = new Map([
  ...[1, 3, 5, 15, 30].map((count): [string, number] => [`${count}m`, count * MINUTE_MS]),
  ...[1, 2, 4, 6, 8, 12].map((count): [string, number] => [`${count}h`, count * HOUR_MS]),
  ...[1, 3].map((count): [string, number] => [`${count}d`, count * DAY_MS]),
  ['1w', 7 * DAY_MS],
]);

export function exchangeJson(instruments: readonly Instrument[], now: number): Json {
  return {
    timezone: 'UTC',
    serverTime: now,
    rateLimits: [],
    exchangeFilters: [],
    symbols: instruments.map(symbolJson),
  };
}

function symbolJson(instrument: Instrument): Json {
  const { quantityStep, priceTick, notionalMin } = instrument.rules.binance;
  const lot = { minQty: amount(quantityStep), maxQty: QUANTITY_MAX, stepSize: amount(quantityStep) };
  return {
    symbol: instrument.names.binance,
    status: 'TRADING',
    baseAsset: instrument.base,
    baseAssetPrecision: 8,
    quoteAsset: assetIn('binance', instrument.quote),
    quotePrecision: 8,
    quoteAssetPrecision: 8,
    baseCommissionPrecision: 8,
    quoteCommissionPrecision: 8,
    orderTypes: ORDER_TYPES,
    icebergAllowed: false,
    ocoAllowed: false,
    quoteOrderQtyMarketAllowed: true,
    allowTrailingStop: false,
    cancelReplaceAllowed: false,
    isSpotTradingAllowed: true,
    isMarginTradingAllowed: false,
    filters: [
      {
        filterType: 'PRICE_FILTER',
        minPrice: amount(priceTick),
        maxPrice: '1000000.00000000',
        tickSize: amount(priceTick),
      },
      { filterType: 'LOT_SIZE', ...lot },
      { filterType: 'MARKET_LOT_SIZE', ...lot },
      { filterType: 'NOTIONAL', minNotional: amount(notionalMin), applyMinToMarket: true, maxNotional: QUANTITY_MAX },
    ],
    permissions: [],
    permissionSets: [['SPOT']],
    defaultSelfTradePreventionMode: 'NONE',
    allowedSelfTradePreventionModes: ['NONE'],
  };
}

export function klineJson({ ts, open, high, low, close, volume }: Candle, intervalMs: number): unknown[] {
  const turnover = volume.times(close);
  const [half, halfTurnover] = [volume, turnover].map((whole) => whole.dividedBy(TWO, { scale: 8, rounding: 'down' }));
  const trades = Math.round(intervalMs / 1_000);
  const prices = [open, high, low, close, volume].map(amount);
  return [ts, ...prices, ts + intervalMs - 1, amount(turnover), trades, amount(half), amount(halfTurnover), '0'];
}

/** The last 24 hours, in whole hours but for the one that runs. */
export function dayTickerJson(venue: Venue, instrument: Instrument): Json {
  const now = venue.parts.clock.now();
  const { bid, ask, last } = venue.quote(instrument);
  const day = venue.parts.market.candles(instrument, {
    from: now - DAY_MS,
    to: now + 1,
    intervalMs: HOUR_MS,
    now,
    limit: 25,
  });
  const open = day[0]?.open ?? last;
  const highest = day.reduce((high, candle) => (candle.high.compare(high) > 0 ? candle.high : high), last);
  const lowest = day.reduce((low, candle) => (candle.low.compare(low) < 0 ? candle.low : low), last);
  const volume = day.reduce((sum, candle) => sum.plus(candle.volume), Decimal.zero);
  const change = last.minus(open);
  const levels = venue.parts.market.liquidity(instrument, now);
  return {
    symbol: instrument.names.binance,
    priceChange: amount(change),
    priceChangePercent: change
      .times(HUNDRED)
      .dividedBy(open, { scale: PERCENT_SCALE, rounding: 'half-even' })
      .toString(),
    weightedAvgPrice: amount(last),
    prevClosePrice: amount(open),
    lastPrice: amount(last),
    lastQty: amount(venue.parts.market.tradeAt(instrument, now).quantity),
    bidPrice: amount(bid),
    bidQty: amount(levels.against('sell')[0]?.quantity),
    askPrice: amount(ask),
    askQty: amount(levels.against('buy')[0]?.quantity),
    openPrice: amount(open),
    highPrice: amount(highest),
    lowPrice: amount(lowest),
    volume: amount(volume),
    quoteVolume: amount(volume.times(last)),
    openTime: now - DAY_MS,
    closeTime: now,
    firstId: Math.floor((now - DAY_MS) / 1_000),
    lastId: Math.floor(now / 1_000),
    count: DAY_MS / 1_000,
  };
}

export function bookTickerJson(venue: Venue, instrument: Instrument): Json {
  const levels = venue.parts.market.liquidity(instrument, venue.parts.clock.now());
  const [bid, ask] = [levels.against('sell')[0], levels.against('buy')[0]];
  return {
    symbol: instrument.names.binance,
    bidPrice: amount(bid?.price),
    bidQty: amount(bid?.quantity),
    askPrice: amount(ask?.price),
    askQty: amount(ask?.quantity),
  };
}

export function depthJson(venue: Venue, instrument: Instrument, limit: number): Json {
  const now = venue.parts.clock.now();
  const levels = venue.parts.market.liquidity(instrument, now);
  const rows = (side: 'buy' | 'sell'): string[][] =>
    levels
      .against(side)
      .slice(0, limit)
      .map(({ price, quantity }) => [amount(price), amount(quantity)]);
  return { lastUpdateId: Math.floor(now / 1_000), bids: rows('sell'), asks: rows('buy') };
}

export function tradeJson({ id, at, price, quantity, isBuyerMaker }: MarketTrade): Json {
  return {
    id,
    price: amount(price),
    qty: amount(quantity),
    quoteQty: amount(price.times(quantity)),
    time: at,
    isBuyerMaker,
    isBestMatch: true,
  };
}
