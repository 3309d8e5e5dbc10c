import type { ExampleParams } from '#libs/fleet';
import { Decimal } from '#libs/money';
import type { Candle } from './candle.js';
import type { Decision } from './decision.js';

type Windows = Pick<ExampleParams, 'fast' | 'slow'>;

interface Outcome {
  readonly decision: Decision;
  readonly reason: string;
  /** Rounded, for people; absent while there are too few candles. */
  readonly indicators: { readonly fastAverage?: Decimal; readonly slowAverage?: Decimal };
}

/**
 * Enters when the last candle takes the fast moving average of the closes above the slow one, and leaves when it takes
 * it below. It compares with the candle before and remembers nothing else: averages that meet have not crossed yet, and
 * have when they part, to whichever side. Takes candles oldest first and looks at the last slow + 1 of them.
 */
export function decide(candles: readonly Candle[], { fast, slow }: Windows): Outcome {
  const needed = slow + 1;
  if (candles.length < needed) {
    return {
      decision: 'HOLD',
      reason: `There are ${candles.length} candles, and averages over ${fast} and ${slow} closes need ${needed}.`,
      indicators: {},
    };
  }
  const recent = candles.slice(-needed);
  assertOldestFirst(recent);
  const closes = recent.map(({ close }) => close);
  const sideBefore = sideOf(closes.slice(0, -1), { fast, slow });
  const side = sideOf(closes, { fast, slow });
  const fastAverage = averageOf(closes.slice(-fast));
  const slowAverage = averageOf(closes.slice(-slow));
  return {
    decision: decisionOf(sideBefore, side),
    reason: `The average of the last ${fast} closes, ${fastAverage.toString()}, ${course(sideBefore, side)} that of the last ${slow}, ${slowAverage.toString()}.`,
    indicators: { fastAverage, slowAverage },
  };
}

/** Where the fast average lies as seen from the slow one. */
type Side = 'above' | 'level' | 'below';

/** Exact: both averages times both lengths, so that nothing is divided. */
function sideOf(closes: readonly Decimal[], { fast, slow }: Windows): Side {
  const fastScaled = sumOf(closes.slice(-fast)).times(Decimal.fromInteger(BigInt(slow)));
  const slowScaled = sumOf(closes.slice(-slow)).times(Decimal.fromInteger(BigInt(fast)));
  const order = fastScaled.compare(slowScaled);
  return order === 0 ? 'level' : order > 0 ? 'above' : 'below';
}

function decisionOf(before: Side, now: Side): Decision {
  if (before === now || now === 'level') return 'HOLD';
  return now === 'above' ? 'ENTER' : 'LEAVE';
}

function course(before: Side, now: Side): string {
  if (now === 'level') return 'equals';
  return before === now ? `stays ${now}` : `crossed ${now}`;
}

function sumOf(values: readonly Decimal[]): Decimal {
  return values.reduce((sum, value) => sum.plus(value), Decimal.zero);
}

function averageOf(values: readonly Decimal[]): Decimal {
  return sumOf(values).dividedBy(Decimal.fromInteger(BigInt(values.length)), { scale: 8, rounding: 'half-even' });
}

/** In any other order the averages would be of something else, and the wish to trade with them. */
function assertOldestFirst(candles: readonly Candle[]): void {
  const misplaced = candles.find((candle, index) => candle.ts <= (candles[index - 1]?.ts ?? Number.NEGATIVE_INFINITY));
  if (misplaced)
    throw new RangeError(`Expected candles oldest first, each minute once; ${misplaced.ts} is out of order.`);
}
