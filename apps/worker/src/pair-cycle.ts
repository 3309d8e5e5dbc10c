import type { Clock } from '#libs/clock';
import type { Pair } from '#libs/fleet';
import type { Venue } from '#libs/venues';
import type { Acted, PairTrader } from './pair-trader.js';
import { MINUTE_MS, type Candle } from './pair/candle.js';
import type { PairStore } from './pair/pair-store.js';
import { candlesNeededBy, evaluate } from './pair/strategy.js';

interface Parts {
  readonly pair: Pair;
  readonly store: PairStore;
  readonly clock: Clock;
  readonly market: Pick<Venue, 'candles'>;
  readonly trader: Pick<PairTrader, 'act'>;
}

export interface CycleResult {
  readonly epoch: number;
  readonly decision: string;
  readonly ts: number;
  readonly acted: readonly Acted[];
}

/** One evaluation of the pair's strategy: fetch what the market did, decide, write the decision down, act on it. */
export class PairCycle {
  constructor(private readonly parts: Parts) {}

  async runOnce(): Promise<CycleResult> {
    const { pair, store, clock, trader } = this.parts;
    const ts = clock.now();
    const wish = evaluate(pair.strategy, await this.readCandles(ts), ts);
    const { epoch } = store.recordDecision({ ts, decision: wish.decision, reason: wish.reason });
    return { epoch, decision: wish.decision, ts, acted: await trader.act(wish) };
  }

  /** The minutes that are over. What the venue has forgotten may still be in our own store. */
  private async readCandles(ts: number): Promise<Candle[]> {
    const { pair, store, market } = this.parts;
    const limit = candlesNeededBy(pair.strategy);
    if (limit === 0) return [];
    const to = ts - (ts % MINUTE_MS);
    const from = to - limit * MINUTE_MS;
    const since = new Date(from);
    const candles = await market.candles({ symbol: pair.symbol, intervalMin: 1, since, countMax: limit });
    store.saveCandles(
      candles
        .map(({ openedAt, ...prices }) => ({ ...prices, ts: openedAt.getTime() }))
        .filter((candle) => candle.ts < to),
    );
    return store.readCandles({ from, to, limit });
  }
}
