import { Counter, Gauge, Histogram, register as processRegister, type Registry } from 'prom-client';
import type { RateBudget } from './rate-budget.js';

const DURATION_BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** One per process; every venue reports to it under its id. */
export class VenueMetrics {
  readonly calls: Counter<'venue' | 'verb' | 'outcome'>;
  readonly duration: Histogram<'venue' | 'verb'>;
  readonly gaps: Counter<'venue'>;
  readonly reconnects: Counter<'venue'>;
  private readonly budgets = new Map<string, RateBudget>();

  constructor(register: Registry = processRegister) {
    const registers = [register];
    this.calls = new Counter({
      name: 'flotilla_venue_calls_total',
      help: 'Calls of a venue by verb and outcome.',
      labelNames: ['venue', 'verb', 'outcome'],
      registers,
    });
    this.duration = new Histogram({
      name: 'flotilla_venue_call_duration_seconds',
      help: 'Duration of a call of a venue, the wait for its rate budget included.',
      labelNames: ['venue', 'verb'],
      buckets: DURATION_BUCKETS_S,
      registers,
    });
    this.gaps = new Counter({
      name: 'flotilla_venue_stream_gaps_total',
      help: 'Times in which events of the stream of orders may have been missed.',
      labelNames: ['venue'],
      registers,
    });
    this.reconnects = new Counter({
      name: 'flotilla_venue_stream_reconnects_total',
      help: 'Connections of the stream of orders that replaced a lost one.',
      labelNames: ['venue'],
      registers,
    });
    const budgets = this.budgets;
    new Gauge({
      name: 'flotilla_venue_budget_left',
      help: 'Requests left in the rate budget of a venue, as this process last saw it.',
      labelNames: ['venue'],
      registers,
      collect() {
        for (const [venue, budget] of budgets) this.set({ venue }, budget.left());
      },
    });
  }

  add(venue: string, budget: RateBudget): void {
    this.budgets.set(venue, budget);
    // A counter that is there from the start lets an alert see its first step.
    this.gaps.inc({ venue }, 0);
    this.reconnects.inc({ venue }, 0);
  }
}
