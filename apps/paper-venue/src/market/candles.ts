import { Decimal } from '#libs/money';
import { MINUTE_MS, type Walk } from './walk.js';

export interface Candle {
  /** Start of the interval, Unix ms. */
  readonly ts: number;
  readonly open: Decimal;
  readonly high: Decimal;
  readonly low: Decimal;
  readonly close: Decimal;
  /** In the base asset. */
  readonly volume: Decimal;
}

/** How far back the history goes; whoever asks for earlier candles gets none. */
export const HISTORY_DAYS = 400;

/** Bounds what one question costs: a thousand candles of a day each. */
export const CANDLES_MAX = 1_000;

const DAY_MS = 86_400_000;
const SECOND_MS = 1_000;
const VOLUME_SCALE = 4;

/**
 * Candles of the walk that start at `from` or later and before `to`, oldest first. A candle that has ended is a
 * function of seed, instrument and time; the one that `now` lies in shows what has happened of it so far.
 */
export function candlesOf(
  walk: Walk,
  ask: { from: number; to: number; intervalMs: number; now: number; limit: number },
): Candle[] {
  const earliest = ask.now - HISTORY_DAYS * DAY_MS;
  const first = Math.ceil(Math.max(ask.from, earliest) / ask.intervalMs) * ask.intervalMs;
  const end = Math.min(ask.to, ask.now + 1);
  const limit = Math.min(ask.limit, CANDLES_MAX);
  const candles: Candle[] = [];
  for (let ts = first; ts < end && candles.length < limit; ts += ask.intervalMs) {
    candles.push(candleAt(walk, { ts, intervalMs: ask.intervalMs, now: ask.now }));
  }
  return candles;
}

function candleAt(walk: Walk, { ts, intervalMs, now }: { ts: number; intervalMs: number; now: number }): Candle {
  const first = walk.minute(ts / MINUTE_MS);
  const sum = { open: first.open, high: first.open, low: first.open, close: first.open, volume: 0 };
  for (let start = ts; start < ts + intervalMs && start <= now; start += MINUTE_MS) {
    const part = start + MINUTE_MS <= now ? walk.minute(start / MINUTE_MS) : minuteSoFar(walk, start, now);
    sum.high = Math.max(sum.high, part.high);
    sum.low = Math.min(sum.low, part.low);
    sum.close = part.close;
    sum.volume += part.volume;
  }
  return {
    ts,
    open: walk.toPrice(sum.open),
    high: walk.toPrice(sum.high),
    low: walk.toPrice(sum.low),
    close: walk.toPrice(sum.close),
    volume: Decimal.parse(sum.volume.toFixed(VOLUME_SCALE)),
  };
}

/** Without a look ahead: only the seconds that have passed count. */
function minuteSoFar(walk: Walk, start: number, now: number): ReturnType<Walk['minute']> {
  const { open, volume } = walk.minute(start / MINUTE_MS);
  let [high, low, close] = [open, open, open];
  for (let second = start; second <= now; second += SECOND_MS) {
    close = walk.at(second);
    high = Math.max(high, close);
    low = Math.min(low, close);
  }
  return { open, high, low, close, volume: (volume * (now - start)) / MINUTE_MS };
}
