import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decimal } from '#libs/money';
import { MINUTE_MS } from './candle.js';
import { candlesBetween } from './demonstration-market.js';

const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 0, 1);

const symbols = fc.oneof(fc.constantFrom('BTC-USD', 'ETH-USD', 'ABC-EUR'), fc.string());
const seeds = fc.maxSafeInteger();
const times = fc.oneof(fc.nat({ max: 10 * MINUTE_MS }), fc.integer({ min: START, max: Date.UTC(2500, 0, 1) }));
/** Up to four hours, with bounds anywhere inside a minute. */
const lengths = fc.nat({ max: 240 * MINUTE_MS });

const intervals = fc
  .record({ symbol: symbols, seed: seeds, from: times, lengthMs: lengths })
  .map(({ lengthMs, ...rest }) => ({ ...rest, to: rest.from + lengthMs }));

describe('The demonstration market', () => {
  it('gives the same candles in every process, on every machine', () => {
    const figures = ['BTC-USD', 'ETH-USD', 'XYZ-USD'].flatMap((symbol) =>
      candlesBetween({ symbol, from: START, to: START + 2 * MINUTE_MS }).map(({ open, high, low, close, volume }) =>
        [open, high, low, close, volume].join(' '),
      ),
    );
    expect(figures).toMatchInlineSnapshot(`
      [
        "61853.44 61864.72 61829.64 61838.24 4.44",
        "61838.24 61845.68 61833.26 61833.43 11.57",
        "3180.1 3180.94 3179.97 3180.89 239.35",
        "3180.89 3180.97 3179.64 3180.09 230.83",
        "100.72 100.77 100.71 100.75 5628.42",
        "100.75 100.76 100.68 100.7 6888.81",
      ]
    `);
  });

  it('gives one candle for each minute that starts in the interval, the end not included', () => {
    const startsOf = (from: number, to: number): number[] =>
      candlesBetween({ symbol: 'BTC-USD', from: START + from, to: START + to }).map(({ ts }) => ts - START);
    expect(startsOf(0, 120_000)).toEqual([0, 60_000]);
    expect(startsOf(1, 120_001)).toEqual([60_000, 120_000]);
    expect(startsOf(1, 59_999)).toEqual([]);
    expect(startsOf(0, 0)).toEqual([]);
    expect(startsOf(60_000, 0)).toEqual([]);
  });

  it('gives the same candles however the interval is split', () => {
    fc.assert(
      fc.property(intervals, fc.double({ min: 0, max: 1, noNaN: true }), (interval, share) => {
        const middle = interval.from + Math.floor((interval.to - interval.from) * share);
        expect([
          ...candlesBetween({ ...interval, to: middle }),
          ...candlesBetween({ ...interval, from: middle }),
        ]).toEqual(candlesBetween(interval));
      }),
    );
  });

  it('opens each minute where the one before closed', () => {
    fc.assert(
      fc.property(intervals, (interval) => {
        const candles = candlesBetween(interval);
        for (const [index, { open }] of candles.entries()) {
          const before = candles[index - 1];
          if (before) expect(open).toEqual(before.close);
        }
      }),
    );
  });

  it('keeps high at the top, low at the bottom and above zero, with two decimals at most', () => {
    fc.assert(
      fc.property(intervals, (interval) => {
        for (const { open, high, low, close, volume } of candlesBetween(interval)) {
          expect(Math.min(high.compare(open), high.compare(close))).toBeGreaterThanOrEqual(0);
          expect(Math.max(low.compare(open), low.compare(close))).toBeLessThanOrEqual(0);
          expect(low.isPositive() && volume.isPositive()).toBe(true);
          expect(Math.max(...[open, high, low, close].map(({ scale }) => scale))).toBeLessThanOrEqual(2);
        }
      }),
    );
  });

  it.each([
    ['BTC-USD', '51000', '69000'],
    ['ETH-USD', '2550', '3450'],
    ['XYZ-USD', '85', '115'],
    ['constructor', '85', '115'],
  ])('keeps %s between %s and %s for a quarter of a year, and moves on both sides', (symbol, least, most) => {
    const [floor, ceiling] = [Decimal.parse(least), Decimal.parse(most)];
    const middle = floor.plus(ceiling).dividedBy(Decimal.fromInteger(2n), { scale: 2, rounding: 'down' });
    const candles = candlesBetween({ symbol, from: START, to: START + 90 * DAY_MS });
    expect(candles).toHaveLength(90 * 1_440);
    expect(candles.every(({ low, high }) => low.compare(floor) > 0 && high.compare(ceiling) < 0)).toBe(true);
    const above = candles.filter(({ close }) => close.compare(middle) > 0).length;
    expect(Math.min(above, candles.length - above)).toBeGreaterThan(1_440);
  });

  it('moves in nearly every minute, and by less than half a percent', () => {
    const candles = candlesBetween({ symbol: 'BTC-USD', from: START, to: START + DAY_MS });
    const moves = candles.map(({ open, close }) => close.minus(open).abs());
    expect(moves.filter((move) => move.isPositive()).length).toBeGreaterThan(1_400);
    expect(moves.every((move) => move.compare(Decimal.parse('300')) < 0)).toBe(true);
  });

  it.each([
    ['symbols', { symbol: 'AAA-USD' }, { symbol: 'BBB-USD' }],
    ['seeds', { symbol: 'AAA-USD', seed: 2 }, { symbol: 'AAA-USD', seed: 3 }],
    ['large seeds', { symbol: 'AAA-USD', seed: 2 }, { symbol: 'AAA-USD', seed: 2 + 2 ** 32 }],
  ])('gives different %s different prices', (_name, one, other) => {
    const closes = (market: { symbol: string; seed?: number }): string[] =>
      candlesBetween({ ...market, from: START, to: START + 60 * MINUTE_MS }).map(({ close }) => close.toString());
    expect(closes(one)).not.toEqual(closes(other));
  });

  it('does not repeat itself after 2^32 minutes', () => {
    const closes = (from: number): string[] =>
      candlesBetween({ symbol: 'BTC-USD', from, to: from + 60 * MINUTE_MS }).map(({ close }) => close.toString());
    expect(closes(0)).not.toEqual(closes(2 ** 32 * MINUTE_MS));
  });

  it.each([
    [-1, 0],
    [0, Number.POSITIVE_INFINITY],
    [0, 200_001 * MINUTE_MS],
    [Number.NaN, 0],
  ])('refuses the interval from %d to %d', (from, to) => {
    expect(() => candlesBetween({ symbol: 'BTC-USD', from, to })).toThrow(RangeError);
  });
});
