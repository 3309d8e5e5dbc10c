import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Market } from './market.js';
import { INSTRUMENTS, type Instrument } from './instruments.js';
import { HISTORY_DAYS } from './candles.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const NOW = Date.UTC(2026, 5, 15, 12, 34, 56);

function instrument(id: string): Instrument {
  const found = INSTRUMENTS.find((candidate) => candidate.id === id);
  if (!found) throw new Error(`Expected ${id} to be traded.`);
  return found;
}

const bitcoin = instrument('BTC-USD');
const texts = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('candles', () => {
  it('of ended minutes are the same whoever asks, whenever', () => {
    const part = fc.record({ back: fc.integer({ min: 1, max: 129_600 }), count: fc.integer({ min: 1, max: 50 }) });
    fc.assert(
      fc.property(part, fc.nat({ max: 10 * DAY_MS }), ({ back, count }, later) => {
        const from = (Math.floor(NOW / MINUTE_MS) - back) * MINUTE_MS;
        const to = Math.min(from + count * MINUTE_MS, Math.floor(NOW / MINUTE_MS) * MINUTE_MS);
        const ask = { from, to, intervalMs: MINUTE_MS, limit: 1_000 };
        const first = new Market(7).candles(bitcoin, { ...ask, now: NOW });
        const again = new Market(7).candles(bitcoin, { ...ask, now: NOW + later });
        expect(texts(again)).toEqual(texts(first));
      }),
      { numRuns: 50 },
    );
  });

  it('reach back at least ninety days, without a gap', () => {
    const ask = { from: NOW - 90 * DAY_MS, to: NOW, intervalMs: DAY_MS, now: NOW, limit: 1_000 };
    expect(new Market(1).candles(bitcoin, ask)).toHaveLength(90);
    expect(HISTORY_DAYS).toBeGreaterThanOrEqual(90);
  });

  it('of an hour are made of its minutes', () => {
    const market = new Market(3);
    const from = Math.floor(NOW / HOUR_MS) * HOUR_MS - 5 * HOUR_MS;
    const [hour] = market.candles(bitcoin, { from, to: from + 1, intervalMs: HOUR_MS, now: NOW, limit: 1 });
    const minutes = market.candles(bitcoin, { from, to: from + HOUR_MS, intervalMs: MINUTE_MS, now: NOW, limit: 60 });
    const prices = minutes.flatMap(({ high, low }) => [high, low]).sort((a, b) => a.compare(b));
    expect(texts([hour?.open, hour?.high, hour?.low, hour?.close])).toEqual(
      texts([minutes[0]?.open, prices.at(-1), prices[0], minutes.at(-1)?.close]),
    );
  });

  it('hold the prices that were quoted while they ran', () => {
    const market = new Market(5);
    const from = Math.floor(NOW / MINUTE_MS) * MINUTE_MS - 10 * MINUTE_MS;
    const [candle] = market.candles(bitcoin, { from, to: from + 1, intervalMs: MINUTE_MS, now: NOW, limit: 1 });
    for (let second = 0; second < 60; second += 1) {
      const { last } = market.quote(bitcoin, from + second * 1_000);
      expect(last.compare(candle?.high ?? last)).toBeLessThanOrEqual(0);
      expect(last.compare(candle?.low ?? last)).toBeGreaterThanOrEqual(0);
    }
  });

  it('that still run tell only what has happened', () => {
    const market = new Market(5);
    const from = Math.floor(NOW / MINUTE_MS) * MINUTE_MS;
    const ask = { from, to: NOW + 1, intervalMs: MINUTE_MS, limit: 1 };
    const [now] = market.candles(bitcoin, { ...ask, now: NOW });
    expect(now?.close.toString()).toBe(market.quote(bitcoin, NOW).last.toString());
    expect(market.candles(bitcoin, { ...ask, from: from + MINUTE_MS, to: NOW + HOUR_MS, now: NOW })).toEqual([]);
  });

  it('differ from seed to seed and from one instrument to the next', () => {
    const ask = { from: NOW - HOUR_MS, to: NOW, intervalMs: MINUTE_MS, now: NOW, limit: 60 };
    const closes = [new Market(1), new Market(2)].map((market) => texts(market.candles(bitcoin, ask)));
    expect(closes[0]).not.toEqual(closes[1]);
  });
});

describe('the book of others', () => {
  it.each(INSTRUMENTS.map(({ id }) => id))('of %s has a bid below its ask, and better prices first', (id) => {
    const market = new Market(11);
    const levels = market.liquidity(instrument(id), NOW);
    const [bids, asks] = [levels.against('sell'), levels.against('buy')].map((side) => side.map(({ price }) => price));
    expect(bids?.[0]?.compare(asks?.[0] ?? bids[0])).toBe(-1);
    expect(asks).toEqual(asks?.toSorted((a, b) => a.compare(b)));
    expect(bids).toEqual(bids?.toSorted((a, b) => b.compare(a)));
  });
});
