import type { MetronomeParams } from '#libs/fleet';
import type { Wish } from './wish.js';

/**
 * Enters and leaves by the clock: in for the first half of every period, out for the second. It earns nothing; it shows
 * that everything works. The period is part of the wish, so that the same one is wished for after a restart.
 */
export function beat(ts: number, { periodSec }: Pick<MetronomeParams, 'periodSec'>): Wish {
  const periodMs = periodSec * 1000;
  const period = Math.floor(ts / periodMs);
  const isFirstHalf = ts % periodMs < periodMs / 2;
  return {
    decision: isFirstHalf ? 'ENTER' : 'LEAVE',
    reason: `It is the ${isFirstHalf ? 'first' : 'second'} half of a period of ${periodSec} seconds.`,
    signalId: `period-${period}`,
  };
}
