import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { beat } from './metronome.js';

const moments = fc.integer({ min: 0, max: 4_102_444_800_000 });
const periods = fc.integer({ min: 2, max: 86_400 });

describe('The metronome', () => {
  it('enters in the first half of a period and leaves in the second', () => {
    const decisions = [0, 14_999, 15_000, 29_999, 30_000].map((ts) => beat(ts, { periodSec: 30 }).decision);
    expect(decisions).toEqual(['ENTER', 'ENTER', 'LEAVE', 'LEAVE', 'ENTER']);
  });

  it('has one signal for the whole of a period, and another for the next', () => {
    fc.assert(
      fc.property(moments, periods, fc.nat(), (ts, periodSec, offset) => {
        const periodMs = periodSec * 1000;
        const start = ts - (ts % periodMs);
        const { signalId } = beat(ts, { periodSec });
        expect(beat(start + (offset % periodMs), { periodSec }).signalId).toBe(signalId);
        expect(beat(start + periodMs, { periodSec }).signalId).not.toBe(signalId);
      }),
    );
  });
});
