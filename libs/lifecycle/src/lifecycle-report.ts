import { Counter, Gauge, register as processRegister, type Registry } from 'prom-client';
import type { Logger } from '#libs/telemetry';
import type { UndecidedIntent } from './intents.js';
import type { LifecycleObserver, Step } from './lifecycle-parts.js';
import type { Applied, ReportSource } from './report.js';
import type { Outcome } from './signal.js';

interface Undecided {
  readonly count: number;
  readonly oldestMs: number;
}

/** Turns what the lifecycle does into log lines and metrics. One per process. */
export class LifecycleReport implements LifecycleObserver {
  private readonly orders: Counter<'purpose' | 'outcome' | 'reason'>;
  private readonly reports: Counter<'source' | 'applied'>;
  private readonly contention: Counter;
  private readonly unknown: Gauge<'venue'>;
  private readonly oldest: Gauge<'venue'>;
  /** Those that were told of already. */
  private readonly overdueIds = new Set<string>();
  private readonly undecidedIntents = new Map<string, Map<string, Undecided>>();
  private contentions = 0;

  constructor(
    private readonly logger: Logger,
    register: Registry = processRegister,
  ) {
    const registers = [register];
    this.orders = new Counter({
      name: 'flotilla_orders_total',
      help: 'Entries and exits by what came of them; the reason is empty when submitted.',
      labelNames: ['purpose', 'outcome', 'reason'],
      registers,
    });
    this.reports = new Counter({
      name: 'flotilla_order_reports_total',
      help: "Venues' reports of orders and fills by source, and whether they changed anything.",
      labelNames: ['source', 'applied'],
      registers,
    });
    this.contention = new Counter({
      name: 'flotilla_lock_contention_total',
      help: 'Entry locks that were found held by another.',
      registers,
    });
    this.unknown = new Gauge({
      name: 'flotilla_unknown_intents',
      help: 'Intents that no venue has proved or disproved yet, as this process last saw them.',
      labelNames: ['venue'],
      registers,
    });
    this.oldest = new Gauge({
      name: 'flotilla_oldest_unknown_intent_seconds',
      help: 'Age of the oldest such intent; 0 when there is none.',
      labelNames: ['venue'],
      registers,
    });
  }

  get lockContentionCount(): number {
    return this.contentions;
  }

  contended(): void {
    this.contentions += 1;
    this.contention.inc();
  }

  reached(step: Step): void {
    this.logger.trace({ step }, 'Lifecycle');
  }

  concluded(purpose: 'entry' | 'exit', outcome: Outcome['outcome'], reason: string | undefined): void {
    this.orders.inc({ purpose, outcome, reason: reason ?? '' });
  }

  applied(source: ReportSource, applied: Applied): void {
    this.reports.inc({ source, applied });
  }

  resolved(intent: UndecidedIntent, as: 'confirmed' | 'rejected'): void {
    this.overdueIds.delete(intent.clientOrderId);
    const { tradeId, clientOrderId, ageMs } = intent;
    this.logger.warn({ tradeId, clientOrderId, ageMs }, `An intent that was left open is ${as}`);
  }

  overdue(intent: UndecidedIntent): void {
    if (this.overdueIds.has(intent.clientOrderId)) return;
    this.overdueIds.add(intent.clientOrderId);
    const { profileId, tradeId, venue, clientOrderId, evidence } = intent;
    this.logger.error(
      { profileId, tradeId, venue, clientOrderId, evidence },
      `Venue ${venue} has not said what became of ${clientOrderId}. Look it up there; GET /api/intents tells what is known, and POST /api/profiles/${profileId}/trades/${tradeId}/reject gives its capital back.`,
    );
  }

  /** Symbols are looked into one after the other; the gauges are of the whole venue. */
  undecided({ venue, symbol = '' }: Parameters<LifecycleObserver['undecided']>[0], intents: Undecided): void {
    const ofVenue = this.undecidedIntents.get(venue) ?? new Map<string, Undecided>();
    this.undecidedIntents.set(venue, ofVenue.set(symbol, intents));
    const all = [...ofVenue.values()];
    this.unknown.set(
      { venue },
      all.reduce((sum, { count }) => sum + count, 0),
    );
    this.oldest.set({ venue }, Math.max(...all.map(({ oldestMs }) => oldestMs)) / 1000);
  }

  failed(what: string, error: unknown): void {
    this.logger.warn({ err: error }, `The lifecycle could not ${what}; it is tried again`);
  }
}
