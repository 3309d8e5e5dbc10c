import { findInstrument, type Instrument } from '../market/instruments.js';
import type { Venue } from '../venue.js';
import { bookTickerJson, dayTickerJson, depthJson, INTERVALS_MS } from './market-json.js';
import { amount } from './order-json.js';

const SECOND_MS = 1_000;

type Json = Record<string, unknown>;

/** Whether a stream such as btcusdt@ticker exists. */
export function isKnownStream(name: string): boolean {
  const { instrument, channel } = read(name);
  const [kind = '', interval = ''] = channel.split('_');
  if (!instrument) return false;
  return kind === 'kline' ? INTERVALS_MS.has(interval) : /^(ticker|miniTicker|bookTicker|trade|depth)$/.test(kind);
}

function read(name: string): { instrument: Instrument | undefined; channel: string } {
  const [symbol = '', channel = ''] = name.split('@');
  return { instrument: findInstrument('binance', symbol.toUpperCase()), channel };
}

/** What the subscribers of a stream hear now. */
export function marketUpdate(name: string, venue: Venue): Json {
  const { instrument, channel } = read(name);
  if (!instrument) return {};
  if (channel === 'ticker') return tickerUpdate(instrument, venue);
  if (channel === 'miniTicker') return miniTickerUpdate(instrument, venue);
  if (channel === 'bookTicker') return bookTickerUpdate(instrument, venue);
  if (channel === 'trade') return tradeUpdate(instrument, venue);
  if (channel === 'depth') return depthUpdate(instrument, venue);
  return klineUpdate(instrument, venue, channel.split('_')[1] ?? '');
}

function tickerUpdate(instrument: Instrument, venue: Venue): Json {
  const day = dayTickerJson(venue, instrument);
  return {
    e: '24hrTicker',
    E: venue.parts.clock.now(),
    s: instrument.names.binance,
    p: day['priceChange'],
    P: day['priceChangePercent'],
    w: day['weightedAvgPrice'],
    x: day['prevClosePrice'],
    c: day['lastPrice'],
    Q: day['lastQty'],
    b: day['bidPrice'],
    B: day['bidQty'],
    a: day['askPrice'],
    A: day['askQty'],
    o: day['openPrice'],
    h: day['highPrice'],
    l: day['lowPrice'],
    v: day['volume'],
    q: day['quoteVolume'],
    O: day['openTime'],
    C: day['closeTime'],
    F: day['firstId'],
    L: day['lastId'],
    n: day['count'],
  };
}

function miniTickerUpdate(instrument: Instrument, venue: Venue): Json {
  const { E, s, c, o, h, l, v, q } = tickerUpdate(instrument, venue);
  return { e: '24hrMiniTicker', E, s, c, o, h, l, v, q };
}

function bookTickerUpdate(instrument: Instrument, venue: Venue): Json {
  const best = bookTickerJson(venue, instrument);
  const second = Math.floor(venue.parts.clock.now() / SECOND_MS);
  return {
    u: second,
    s: best['symbol'],
    b: best['bidPrice'],
    B: best['bidQty'],
    a: best['askPrice'],
    A: best['askQty'],
  };
}

function tradeUpdate(instrument: Instrument, venue: Venue): Json {
  const trade = venue.parts.market.tradeAt(instrument, venue.parts.clock.now());
  return {
    e: 'trade',
    E: venue.parts.clock.now(),
    s: instrument.names.binance,
    t: trade.id,
    p: amount(trade.price),
    q: amount(trade.quantity),
    T: trade.at,
    m: trade.isBuyerMaker,
    M: true,
  };
}

/** The whole book each time: levels that are gone come with a quantity of zero. */
function depthUpdate(instrument: Instrument, venue: Venue): Json {
  const now = venue.parts.clock.now();
  const book = depthJson(venue, instrument, 100) as { lastUpdateId: number; bids: string[][]; asks: string[][] };
  const before = venue.parts.market.liquidity(instrument, now - SECOND_MS);
  const gone = (side: 'buy' | 'sell', rows: string[][]): string[][] =>
    before
      .against(side)
      .map(({ price }) => amount(price))
      .filter((price) => !rows.some(([known]) => known === price))
      .map((price) => [price, amount(undefined)]);
  return {
    e: 'depthUpdate',
    E: now,
    s: instrument.names.binance,
    U: book.lastUpdateId,
    u: book.lastUpdateId,
    b: [...book.bids, ...gone('sell', book.bids)],
    a: [...book.asks, ...gone('buy', book.asks)],
  };
}

function klineUpdate(instrument: Instrument, venue: Venue, interval: string): Json {
  const intervalMs = INTERVALS_MS.get(interval) ?? SECOND_MS;
  const now = venue.parts.clock.now();
  const from = Math.floor(now / intervalMs) * intervalMs;
  const [candle] = venue.parts.market.candles(instrument, { from, to: from + 1, intervalMs, now, limit: 1 });
  return {
    e: 'kline',
    E: now,
    s: instrument.names.binance,
    k: candle && {
      t: from,
      T: from + intervalMs - 1,
      s: instrument.names.binance,
      i: interval,
      f: Math.floor(from / SECOND_MS),
      L: Math.floor(now / SECOND_MS),
      o: amount(candle.open),
      c: amount(candle.close),
      h: amount(candle.high),
      l: amount(candle.low),
      v: amount(candle.volume),
      n: Math.floor((now - from) / SECOND_MS),
      x: false,
      q: amount(candle.volume.times(candle.close)),
      V: amount(undefined),
      Q: amount(undefined),
      B: '0',
    },
  };
}
