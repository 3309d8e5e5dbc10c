import { describe, expect, it } from 'vitest';
import { Decimal } from '#libs/money';
import { MINUTE_MS, type Candle } from './candle.js';
import { candlesNeededBy, evaluate } from './strategy.js';

const EXAMPLE = { name: 'example', params: { fast: 1, slow: 2, notional: '100' } } as const;
const METRONOME = { name: 'metronome', params: { periodSec: 30, notional: '100' } } as const;

const candles = (...closes: number[]): Candle[] =>
  closes.map((close, minute) => {
    const price = Decimal.parse(String(close));
    return { ts: minute * MINUTE_MS, open: price, high: price, low: price, close: price, volume: price };
  });

describe('A strategy', () => {
  it('asks for as many candles as it looks at', () => {
    expect([candlesNeededBy(EXAMPLE), candlesNeededBy(METRONOME)]).toEqual([3, 0]);
  });

  it('wishes for the same trade as long as its last candle is the same', () => {
    const crossing = candles(10, 10, 20);
    expect(evaluate(EXAMPLE, crossing, 200_000)).toMatchObject({ decision: 'ENTER', signalId: 'candle-120000' });
    expect(evaluate(EXAMPLE, crossing, 230_000).signalId).toBe('candle-120000');
  });

  it('that goes by the clock looks at no candle', () => {
    expect(evaluate(METRONOME, [], 31_000)).toMatchObject({ decision: 'ENTER', signalId: 'period-1' });
  });
});
