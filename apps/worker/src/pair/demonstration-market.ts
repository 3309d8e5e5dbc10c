import { Decimal } from '#libs/money';
import { MINUTE_MS, type Candle } from './candle.js';

/** More minutes than a worker ever keeps. */
const CANDLES_MAX = 200_000;

const SEED = 1;

/**
 * Invented prices for demonstration pairs, and for nothing else: they stand in until a venue delivers candles.
 *
 * A candle is a function of symbol, seed and minute alone. Whoever asks, whenever, for whichever part of an interval,
 * gets the same one, and the year 2100 costs no more than 1970. Gives the candles that start at `from` or later and
 * before `to`; it does not know the time, so whoever wants ended minutes only ends the interval there.
 */
export function candlesBetween(interval: { symbol: string; from: number; to: number; seed?: number }): Candle[] {
  const { symbol, from, to, seed = SEED } = interval;
  const first = Math.ceil(from / MINUTE_MS);
  const end = Math.ceil(to / MINUTE_MS);
  if (!(from >= 0 && end - first <= CANDLES_MAX)) {
    throw new RangeError(`Expected at most ${CANDLES_MAX} minutes from 1970 on, got ${from} to ${to}.`);
  }
  const market = marketOf(symbol, seed);
  const candles: Candle[] = [];
  let open = priceAfter(market, first - 1);
  for (let minute = first; minute < end; minute += 1) {
    const close = priceAfter(market, minute);
    candles.push(toCandle(market, minute, { open, close }));
    open = close;
  }
  return candles;
}

const USUAL_PRICES: ReadonlyMap<string, number> = new Map([
  ['BTC-USD', 60_000],
  ['ETH-USD', 3_000],
]);
const USUAL_PRICE_OF_OTHERS = 100;

/** What is traded in a minute on average, in the currency of the price. */
const USUAL_TURNOVER = 500_000;

/** How far high and low may lie beyond open and close, as a share of the price. */
const WICK_MAX = 0.0002;

/**
 * Waves of noise over each other: each is four times as long as the one before and twice as high, which is how a
 * random walk looks from close up and from afar. The longest lasts 45 days. Together they sway by at most 15.4 % of
 * the usual price, so that the price always comes back to it and stays above zero.
 */
const WAVES = Array.from({ length: 9 }, (_, index) => ({ minutes: 1 << (2 * index), height: 0.0003 * (1 << index) }));

interface Market {
  readonly usualPrice: number;
  /** One source of noise for each wave, and for what is drawn anew in every minute. */
  readonly waves: readonly { readonly minutes: number; readonly height: number; readonly source: number }[];
  readonly highSource: number;
  readonly lowSource: number;
  readonly volumeSource: number;
}

function marketOf(symbol: string, seed: number): Market {
  let source = mixed(mixed(0, seed), highWord(seed));
  for (let index = 0; index < symbol.length; index += 1) source = mixed(source, symbol.charCodeAt(index));
  return {
    usualPrice: USUAL_PRICES.get(symbol) ?? USUAL_PRICE_OF_OTHERS,
    waves: WAVES.map((wave, index) => ({ ...wave, source: mixed(source, index) })),
    highSource: mixed(source, 100),
    lowSource: mixed(source, 101),
    volumeSource: mixed(source, 102),
  };
}

/**
 * The price at the end of a minute. Sums and products only: IEEE 754 gives them one result on every machine, which it
 * does not for exp or sin.
 */
function priceAfter({ usualPrice, waves }: Market, minute: number): number {
  const sway = waves.reduce((sum, wave) => sum + wave.height * waveAt(wave, minute), 0);
  return usualPrice * (1 + sway);
}

/** Between -1 and 1: random at each multiple of the wave's length, and smooth in between. */
function waveAt({ minutes, source }: Market['waves'][number], minute: number): number {
  const step = Math.floor(minute / minutes);
  const share = minute / minutes - step;
  const left = 2 * noise(source, step) - 1;
  const right = 2 * noise(source, step + 1) - 1;
  return left + (right - left) * share * share * (3 - 2 * share);
}

function toCandle(market: Market, minute: number, { open, close }: { open: number; close: number }): Candle {
  const high = Math.max(open, close) * (1 + WICK_MAX * noise(market.highSource, minute));
  const low = Math.min(open, close) * (1 - WICK_MAX * noise(market.lowSource, minute));
  const volume = (USUAL_TURNOVER / market.usualPrice) * (0.5 + noise(market.volumeSource, minute));
  return {
    ts: minute * MINUTE_MS,
    open: toDecimal(open),
    high: toDecimal(high),
    low: toDecimal(low),
    close: toDecimal(close),
    volume: toDecimal(volume),
  };
}

/** The one place where a number becomes exact. It keeps the order of values, so high and low stay on their sides. */
function toDecimal(value: number): Decimal {
  return Decimal.parse(value.toFixed(2));
}

/** From 0 to just below 1, without any pattern in the index. */
function noise(source: number, index: number): number {
  let bits = mixed(mixed(source, index), highWord(index));
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32;
}

/** A round of MurmurHash3, which takes 32 bits of the word; noise() ends with its finish. */
function mixed(state: number, word: number): number {
  const scrambled = Math.imul(rotated(Math.imul(word, 0xcc9e2d51), 15), 0x1b873593);
  return (Math.imul(rotated(state ^ scrambled, 13), 5) + 0xe6546b64) | 0;
}

function rotated(bits: number, by: number): number {
  return (bits << by) | (bits >>> (32 - by));
}

function highWord(value: number): number {
  return Math.floor(value / 2 ** 32);
}
