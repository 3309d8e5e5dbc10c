import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ManualClock } from '#libs/clock';
import { Decimal } from '#libs/money';
import { MINUTE_MS, type Candle } from './candle.js';
import type { Decision } from './decision.js';
import { PairStore, RETENTION_DAYS, type DecisionRecord } from './pair-store.js';

const START = Date.UTC(2026, 0, 1);
const EVER = { from: 0, to: Number.MAX_SAFE_INTEGER, limit: 10_000 };

function setup() {
  const folder = mkdtempSync(join(tmpdir(), 'pair-store-'));
  const clock = new ManualClock(START);
  const opened: PairStore[] = [];
  const open = (): PairStore => {
    const store = PairStore.open(join(folder, 'BTC-USD.sqlite'), { clock });
    opened.push(store);
    return store;
  };
  onTestFinished(() => {
    for (const store of opened) store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { clock, open, store: open() };
}

/** Every figure differs from the others and changes with the close, so that none can stand in for another. */
function candle(minute: number, close = '100.5'): Candle {
  const above = (cents: string): Decimal => Decimal.parse(close).plus(Decimal.parse(cents));
  return {
    ts: START + minute * MINUTE_MS,
    open: above('0.02'),
    high: above('0.03'),
    low: above('-0.01'),
    close: above('0'),
    volume: above('0.04'),
  };
}

function holdAt(ts: number): Omit<DecisionRecord, 'epoch'> {
  return { ts, decision: 'HOLD', reason: 'nothing happened' };
}

describe('Candles', () => {
  it('come back exactly as they were saved, whatever their digits', () => {
    const { store } = setup();
    const saved: Candle = {
      ts: START,
      open: Decimal.parse('60000.1'),
      high: Decimal.parse('123456789012345678901234567890.123456789012345678'),
      low: Decimal.parse('0.000000000000000001'),
      close: Decimal.parse('60000'),
      volume: Decimal.zero,
    };
    store.saveCandles([saved]);
    expect(store.readCandles(EVER)).toEqual([saved]);
  });

  it('take the place of an earlier candle of their minute', () => {
    const { store } = setup();
    store.saveCandles([candle(0, '1'), candle(1, '2')]);
    store.saveCandles([candle(1, '3')]);
    expect(store.readCandles(EVER)).toEqual([candle(0, '1'), candle(1, '3')]);
  });

  it('are read oldest first, in whichever order they were saved', () => {
    const { store } = setup();
    store.saveCandles([candle(2), candle(0), candle(1)]);
    expect(store.readCandles(EVER)).toEqual([candle(0), candle(1), candle(2)]);
  });

  it('are read from the start of an interval up to its end, which is not part of it', () => {
    const { store } = setup();
    store.saveCandles([candle(0), candle(1), candle(2), candle(3)]);
    expect(store.readCandles({ from: candle(1).ts, to: candle(3).ts, limit: 10 })).toEqual([candle(1), candle(2)]);
  });

  it('are the newest of the interval when there are more than the limit', () => {
    const { store } = setup();
    store.saveCandles([candle(0), candle(1), candle(2), candle(3)]);
    expect(store.readCandles({ ...EVER, to: candle(3).ts, limit: 2 })).toEqual([candle(1), candle(2)]);
  });

  it.each([30_000, 0.5, Number.NaN])(
    'are saved all or none: a start of %d ms, within no minute, keeps out the others',
    (ts) => {
      const { store } = setup();
      expect(() => store.saveCandles([candle(0), { ...candle(1), ts }, candle(2)])).toThrow();
      expect(store.readCandles(EVER)).toEqual([]);
      store.saveCandles([candle(0)]);
      expect(store.readCandles(EVER)).toHaveLength(1);
    },
  );
});

describe('Decisions', () => {
  it('are numbered from 1 on', () => {
    const { store } = setup();
    expect(store.latestEpoch()).toBe(0);
    expect([holdAt(1), holdAt(2), holdAt(3)].map((decision) => store.recordDecision(decision).epoch)).toEqual([
      1, 2, 3,
    ]);
    expect(store.latestEpoch()).toBe(3);
  });

  it('are numbered on by a restarted worker', () => {
    const { store, open } = setup();
    store.recordDecision(holdAt(START));
    store.close();
    const restarted = open();
    expect(restarted.latestEpoch()).toBe(1);
    expect(restarted.recordDecision(holdAt(START))).toEqual({ epoch: 2 });
  });

  it('never take a number again, even when all decisions are pruned', async () => {
    const { store, clock, open } = setup();
    store.recordDecision(holdAt(START));
    store.recordDecision(holdAt(START));
    await clock.advance(1);
    expect(store.prune({ olderThanMs: 0 })).toEqual({ candles: 0, decisions: 2 });
    expect(store.latestEpoch()).toBe(2);
    store.close();
    expect(open().recordDecision(holdAt(START))).toEqual({ epoch: 3 });
  });

  it('are read newest first, up to the limit', () => {
    const { store } = setup();
    store.recordDecision({ ts: 30, decision: 'ENTER', reason: 'up' });
    store.recordDecision({ ts: 20, decision: 'HOLD', reason: 'still' });
    store.recordDecision({ ts: 10, decision: 'LEAVE', reason: 'down' });
    expect(store.readDecisions({ limit: 2 })).toEqual([
      { epoch: 3, ts: 10, decision: 'LEAVE', reason: 'down' },
      { epoch: 2, ts: 20, decision: 'HOLD', reason: 'still' },
    ]);
  });

  it('that the table refuses use up no number', () => {
    const { store } = setup();
    expect(() => store.recordDecision({ ...holdAt(START), decision: 'SELL' as Decision })).toThrow('decision_is_known');
    expect(store.recordDecision(holdAt(START))).toEqual({ epoch: 1 });
  });
});

describe('Pruning', () => {
  it('removes what is older than the age, keeps what is exactly as old, and counts both', async () => {
    const { store, clock } = setup();
    store.saveCandles([candle(0), candle(1), candle(2)]);
    for (const minute of [0, 0, 1, 2]) store.recordDecision(holdAt(candle(minute).ts));
    await clock.advance(3 * MINUTE_MS);
    expect(store.prune({ olderThanMs: 2 * MINUTE_MS })).toEqual({ candles: 1, decisions: 2 });
    expect(store.readCandles(EVER)).toEqual([candle(1), candle(2)]);
    expect(store.readDecisions({ limit: 10 }).map(({ epoch }) => epoch)).toEqual([4, 3]);
  });

  it('keeps 90 days when the caller asks for the retention', async () => {
    const { store, clock } = setup();
    const retentionMs = RETENTION_DAYS * 86_400_000;
    store.saveCandles([candle(0), candle(1)]);
    await clock.advance(90 * 86_400_000 + MINUTE_MS);
    expect(store.prune({ olderThanMs: retentionMs })).toEqual({ candles: 1, decisions: 0 });
  });

  it.each([-1, Number.NaN])('refuses an age of %d', (olderThanMs) => {
    const { store } = setup();
    store.saveCandles([candle(0)]);
    expect(() => store.prune({ olderThanMs })).toThrow(RangeError);
    expect(store.readCandles(EVER)).toHaveLength(1);
  });
});

describe('A store', () => {
  it.each([0, -1, 1.5, 10_001, Number.NaN])('refuses a limit of %d', (limit) => {
    const { store } = setup();
    expect(() => store.readCandles({ ...EVER, limit })).toThrow(RangeError);
    expect(() => store.readDecisions({ limit })).toThrow(RangeError);
  });

  it('may be closed twice', () => {
    const { store } = setup();
    store.close();
    store.close();
  });
});

type Step =
  | { act: 'save'; minutes: number[]; close: number }
  | { act: 'decide'; minute: number; decision: Decision }
  | { act: 'prune'; minutes: number }
  | { act: 'advance'; minutes: number }
  | { act: 'reopen' };

const minutes = fc.nat({ max: 30 });
const steps: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ act: fc.constant('save'), minutes: fc.array(minutes, { maxLength: 8 }), close: fc.nat() }),
  fc.record({ act: fc.constant('decide'), minute: minutes, decision: fc.constantFrom('ENTER', 'LEAVE', 'HOLD') }),
  fc.record({ act: fc.constant('prune'), minutes }),
  fc.record({ act: fc.constant('advance'), minutes: fc.nat({ max: 10 }) }),
  fc.record({ act: fc.constant('reopen') }),
);

/** What the store should hold, in plain arrays. */
class Model {
  private candles = new Map<number, Candle>();
  private decisions: DecisionRecord[] = [];
  private epoch = 0;
  private now = START;

  apply(step: Step): unknown {
    switch (step.act) {
      case 'save':
        for (const minute of step.minutes) this.candles.set(candle(minute).ts, candle(minute, String(step.close)));
        return undefined;
      case 'decide':
        this.epoch += 1;
        this.decisions.unshift({ ...decisionOf(step), epoch: this.epoch });
        return { epoch: this.epoch };
      case 'prune': {
        const kept = ({ ts }: { ts: number }): boolean => ts >= this.now - step.minutes * MINUTE_MS;
        const before = { candles: this.candles.size, decisions: this.decisions.length };
        this.candles = new Map([...this.candles].filter(([, value]) => kept(value)));
        this.decisions = this.decisions.filter(kept);
        return { candles: before.candles - this.candles.size, decisions: before.decisions - this.decisions.length };
      }
      case 'advance':
        this.now += step.minutes * MINUTE_MS;
        return undefined;
      case 'reopen':
        return undefined;
    }
  }

  read({ from, to, limit }: { from: number; to: number; limit: number }) {
    const candles = [...this.candles.values()].sort((a, b) => a.ts - b.ts).filter(({ ts }) => ts >= from && ts < to);
    return { candles: candles.slice(-limit), decisions: this.decisions.slice(0, limit), epoch: this.epoch };
  }
}

function decisionOf({ minute, decision }: Step & { act: 'decide' }): Omit<DecisionRecord, 'epoch'> {
  return { ts: candle(minute).ts, decision, reason: `minute ${minute}` };
}

describe('After any sequence of saves, decisions, prunes and restarts', () => {
  const reads = fc.record({
    from: minutes.map((minute) => candle(minute).ts),
    to: minutes.map((minute) => candle(minute).ts),
    limit: fc.integer({ min: 1, max: 40 }),
  });

  it('reads give what a model of plain arrays gives', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { maxLength: 25 }), reads, async (script, interval) => {
        const { clock, open, ...first } = setup();
        let { store } = first;
        const model = new Model();
        const act = async (step: Step): Promise<unknown> => {
          if (step.act === 'save') return store.saveCandles(step.minutes.map((m) => candle(m, String(step.close))));
          if (step.act === 'decide') return store.recordDecision(decisionOf(step));
          if (step.act === 'prune') return store.prune({ olderThanMs: step.minutes * MINUTE_MS });
          if (step.act === 'advance') return clock.advance(step.minutes * MINUTE_MS);
          store.close();
          store = open();
          return undefined;
        };
        for (const step of script) expect(await act(step)).toEqual(model.apply(step));
        for (const read of [EVER, interval]) {
          const { candles, decisions, epoch } = model.read(read);
          expect(store.readCandles(read)).toEqual(candles);
          expect(store.readDecisions(read)).toEqual(decisions);
          expect(store.latestEpoch()).toBe(epoch);
        }
      }),
    );
  });
});
