import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decimal } from '#libs/money';
import { MINUTE_MS, type Candle } from './candle.js';
import type { Decision } from './decision.js';
import { ExampleParams } from '#libs/fleet';
import { decide } from './example-strategy.js';

function candlesOf(closes: readonly (string | number)[]): Candle[] {
  return closes.map((text, index) => {
    const close = Decimal.parse(String(text));
    return { ts: index * MINUTE_MS, open: close, high: close, low: close, close, volume: Decimal.zero };
  });
}

const params = { fast: 1, slow: 2 };

describe('The example strategy', () => {
  it.each<[Decision, string, number[]]>([
    ['ENTER', 'the fast average comes from below and is above', [3, 2, 4]],
    ['ENTER', 'the averages were level and the fast one is above', [2, 2, 4]],
    ['LEAVE', 'the fast average comes from above and is below', [2, 3, 1]],
    ['LEAVE', 'the averages were level and the fast one is below', [2, 2, 1]],
    ['HOLD', 'the fast average stays above', [1, 2, 3]],
    ['HOLD', 'the fast average stays below', [3, 2, 1]],
    ['HOLD', 'the averages stay level', [2, 2, 2]],
    ['HOLD', 'the averages meet from below', [3, 2, 2]],
    ['HOLD', 'the averages meet from above', [1, 2, 2]],
  ])('decides %s when %s', (decision, _when, closes) => {
    expect(decide(candlesOf(closes), params).decision).toBe(decision);
  });

  it.each([
    [[3, 2, 4], 'The average of the last 1 closes, 4, crossed above that of the last 2, 3.'],
    [[2, 3, 1], 'The average of the last 1 closes, 1, crossed below that of the last 2, 2.'],
    [[1, 2, 3], 'The average of the last 1 closes, 3, stays above that of the last 2, 2.5.'],
    [[3, 2, 1], 'The average of the last 1 closes, 1, stays below that of the last 2, 1.5.'],
    [[1, 2, 2], 'The average of the last 1 closes, 2, equals that of the last 2, 2.'],
  ])('gives its reason with figures for %j', (closes, reason) => {
    expect(decide(candlesOf(closes), params).reason).toBe(reason);
  });

  it('holds and says why while there are too few candles', () => {
    expect(decide(candlesOf(Array<number>(20).fill(1)), { fast: 5, slow: 20 })).toEqual({
      decision: 'HOLD',
      reason: 'There are 20 candles, and averages over 5 and 20 closes need 21.',
      indicators: {},
    });
    expect(decide([], params).decision).toBe('HOLD');
  });

  it('shows both averages, rounded to eight decimals', () => {
    const { indicators } = decide(candlesOf([5, 1, 1, 2]), { fast: 2, slow: 3 });
    expect(indicators).toEqual({ fastAverage: Decimal.parse('1.5'), slowAverage: Decimal.parse('1.33333333') });
  });

  it('decides by the exact averages, not by what is left of them after rounding', () => {
    const above = decide(candlesOf(['2', '2', '2.000000000000000001']), params);
    expect(above.decision).toBe('ENTER');
    expect(above.indicators.fastAverage).toEqual(above.indicators.slowAverage);
  });

  it.each([
    ['newest first', [2, 1, 0]],
    ['a minute twice', [0, 1, 1]],
  ])('refuses candles with %s', (_name, minutes) => {
    const candles = candlesOf([1, 1, 1]).map((candle, index) => ({ ...candle, ts: (minutes[index] ?? 0) * MINUTE_MS }));
    expect(() => decide(candles, params)).toThrow(RangeError);
  });
});

const windows = fc
  .tuple(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 6 }))
  .map(([fast, more]) => ({ fast, slow: fast + more }));
/** Few different prices, so that averages often meet and cross. */
const closes = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 13, maxLength: 30 });

/** In floating point, which tells averages of a few small whole numbers apart without fail. */
function naiveDecision(values: readonly number[], { fast, slow }: Pick<ExampleParams, 'fast' | 'slow'>): Decision {
  const average = (end: number, length: number): number =>
    values.slice(end - length, end).reduce((sum, value) => sum + value, 0) / length;
  const gap = (end: number): number => average(end, fast) - average(end, slow);
  const [before, now] = [gap(values.length - 1), gap(values.length)];
  if (before <= 0 && now > 0) return 'ENTER';
  return before >= 0 && now < 0 ? 'LEAVE' : 'HOLD';
}

describe('For any closes and windows, the example strategy', () => {
  it('agrees with a naive reckoning', () => {
    const seen = new Set<Decision>();
    fc.assert(
      fc.property(closes, windows, (values, window) => {
        const { decision } = decide(candlesOf(values), window);
        seen.add(decision);
        expect(decision).toBe(naiveDecision(values, window));
      }),
      { numRuns: 1_000 },
    );
    expect(seen).toEqual(new Set(['ENTER', 'LEAVE', 'HOLD']));
  });

  it('decides the same when all prices are multiplied by a factor', () => {
    const factors = fc
      .tuple(fc.bigInt({ min: 1n, max: 10n ** 12n }), fc.nat({ max: 12 }))
      .map(([whole, scale]) =>
        Decimal.fromInteger(whole).times(Decimal.parse(scale === 0 ? '1' : `0.${'0'.repeat(scale - 1)}1`)),
      );
    fc.assert(
      fc.property(closes, windows, factors, (values, window, factor) => {
        const candles = candlesOf(values);
        const multiplied = candles.map((candle) => ({ ...candle, close: candle.close.times(factor) }));
        expect(decide(multiplied, window).decision).toBe(decide(candles, window).decision);
      }),
    );
  });

  it('wishes the opposite when rise and fall are exchanged', () => {
    const opposite = { ENTER: 'LEAVE', LEAVE: 'ENTER', HOLD: 'HOLD' } as const;
    fc.assert(
      fc.property(closes, windows, (values, window) => {
        const mirrored = decide(candlesOf(values.map((value) => 7 - value)), window);
        expect(mirrored.decision).toBe(opposite[decide(candlesOf(values), window).decision]);
      }),
    );
  });

  it('looks at no more than the candles it needs', () => {
    fc.assert(
      fc.property(closes, windows, (values, window) => {
        const candles = candlesOf(values);
        expect(decide(candles.slice(-window.slow - 1), window)).toEqual(decide(candles, window));
      }),
    );
  });
});

describe('ExampleParams', () => {
  it('are 5 and 20 unless told otherwise', () => {
    expect(ExampleParams.parse({})).toEqual({ fast: 5, slow: 20, notional: '100' });
    expect(ExampleParams.parse({ slow: 50 })).toEqual({ fast: 5, slow: 50, notional: '100' });
  });

  it.each([
    { fast: 20, slow: 20 },
    { fast: 21 },
    { slow: 5 },
    { fast: 0 },
    { fast: 1.5 },
    { fast: '5' },
    { slow: 1_001 },
    { fast: 5, slow: 20, medium: 10 },
  ])('refuse %j', (input) => {
    expect(ExampleParams.safeParse(input).success).toBe(false);
  });

  it('say that fast must be the smaller one', () => {
    expect(ExampleParams.safeParse({ fast: 9, slow: 3 }).error?.issues).toMatchObject([
      { path: ['fast'], message: 'Expected fast to be smaller than slow' },
    ]);
  });
});
