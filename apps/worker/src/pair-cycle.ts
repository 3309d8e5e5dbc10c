import type { Clock } from '#libs/clock';
import type { ExampleParams, Pair } from '#libs/fleet';
import { MINUTE_MS } from './pair/candle.js';
import { candlesBetween } from './pair/demonstration-market.js';
import { decide } from './pair/example-strategy.js';
import type { PairStore } from './pair/pair-store.js';

/** One candle more than the slow average needs, to see it cross. */
const CANDLES_BEYOND_SLOW = 1;

/** One evaluation of the pair's strategy: fetch what the market did, decide, write the decision down. */
export class PairCycle {
  private readonly params: ExampleParams;

  constructor(
    private readonly pair: Pair,
    private readonly store: PairStore,
    private readonly clock: Clock,
  ) {
    this.params = pair.strategy.params;
  }

  runOnce(): { epoch: number; decision: string; ts: number } {
    const ts = this.clock.now();
    const to = ts - (ts % MINUTE_MS);
    const from = to - (this.params.slow + CANDLES_BEYOND_SLOW) * MINUTE_MS;
    this.store.saveCandles(candlesBetween({ symbol: this.pair.id, from, to }));
    const candles = this.store.readCandles({ from, to, limit: this.params.slow + CANDLES_BEYOND_SLOW });
    const { decision, reason } = decide(candles, this.params);
    const { epoch } = this.store.recordDecision({ ts, decision, reason });
    return { epoch, decision, ts };
  }
}
