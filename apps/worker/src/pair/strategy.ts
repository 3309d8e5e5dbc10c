import type { Strategy } from '#libs/fleet';
import type { Candle } from './candle.js';
import { decide } from './example-strategy.js';
import { beat } from './metronome.js';
import type { Wish } from './wish.js';

/** One candle more than the slow average needs, to see it cross. */
const CANDLES_BEYOND_SLOW = 1;

/** How many of the last minutes a strategy looks at. */
export function candlesNeededBy(strategy: Strategy): number {
  return strategy.name === 'example' ? strategy.params.slow + CANDLES_BEYOND_SLOW : 0;
}

/** What the strategy makes of the candles, oldest first, and of the time. */
export function evaluate(strategy: Strategy, candles: readonly Candle[], ts: number): Wish {
  switch (strategy.name) {
    case 'example': {
      const { decision, reason } = decide(candles, strategy.params);
      return { decision, reason, signalId: `candle-${candles.at(-1)?.ts ?? ts}` };
    }
    case 'metronome':
      return beat(ts, strategy.params);
  }
}
