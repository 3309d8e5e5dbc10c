import { Counter, Gauge, Histogram, register as processRegister, type Registry } from 'prom-client';
import type { Logger } from '#libs/telemetry';
import type { Correction } from './correction.js';
import type { CorrectionState } from './correction-records.js';
import type { ReconciliationObserver, Sweep, SweepStep } from './reconciliation-parts.js';
import { KINDS, RULES } from './rules.js';
import type { SweepFigures } from './run-records.js';
import type { LastSweep } from './sweep-turns.js';

const SWEEP_BUCKETS_S = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const OUTCOMES = ['clean', 'corrected', 'failed'] as const;

/** What /internal/health tells of the sweeps of a process. */
export interface ReconciliationFigures {
  /** When a sweep last ended well. */
  readonly lastRun: Date | undefined;
  readonly mismatchCount: number;
  readonly missingFromExchange: number;
  readonly missingInDb: number;
  readonly lockContentionCount: number;
}

/** Turns what sweeps do into log lines, metrics and figures. One per process. */
export class ReconciliationReport implements ReconciliationObserver {
  private readonly sweeps: Counter<'venue' | 'outcome'>;
  private readonly durations: Histogram<'venue'>;
  private readonly corrections: Counter<'venue' | 'kind' | 'action'>;
  private readonly contention: Counter;
  private readonly gauges: Record<
    'lastSweep' | Exclude<keyof SweepFigures, 'orders' | 'fills' | 'corrected' | 'leftAlone'>,
    Gauge<'venue'>
  >;
  private readonly last = new Map<string, LastSweep>();
  /** Venues whose last sweep failed, with why: told once. */
  private readonly failing = new Map<string, string>();
  private contentions = 0;

  constructor(
    private readonly logger: Logger,
    venues: readonly string[],
    register: Registry = processRegister,
  ) {
    const registers = [register];
    this.sweeps = new Counter({
      name: 'flotilla_reconciliation_sweeps_total',
      help: 'Sweeps of a venue by outcome.',
      labelNames: ['venue', 'outcome'],
      registers,
    });
    this.durations = new Histogram({
      name: 'flotilla_reconciliation_sweep_duration_seconds',
      help: 'Duration of a sweep.',
      labelNames: ['venue'],
      buckets: SWEEP_BUCKETS_S,
      registers,
    });
    this.corrections = new Counter({
      name: 'flotilla_reconciliation_corrections_total',
      help: 'Differences that were proved, by kind and by what was done about them.',
      labelNames: ['venue', 'kind', 'action'],
      registers,
    });
    this.contention = new Counter({
      name: 'flotilla_reconciliation_lock_contention_total',
      help: 'Sweeps and profiles that were found being swept by another.',
      registers,
    });
    const gauge = (name: string, help: string): Gauge<'venue'> =>
      new Gauge({ name, help, labelNames: ['venue'], registers });
    this.gauges = {
      lastSweep: gauge('flotilla_reconciliation_last_sweep_timestamp_seconds', 'When a sweep last ended well.'),
      mismatches: gauge('flotilla_reconciliation_mismatches', 'Differences that the last sweep found, or found open.'),
      missingFromExchange: gauge(
        'flotilla_reconciliation_missing_from_exchange',
        'Working orders that the venue did not have, at the last sweep.',
      ),
      missingInDb: gauge(
        'flotilla_reconciliation_missing_in_db',
        'Orders of ours at the venue that were not recorded, at the last sweep.',
      ),
      foreignOrders: gauge(
        'flotilla_reconciliation_foreign_orders',
        'Orders of others in the account, at the last sweep.',
      ),
      openQuestions: gauge('flotilla_reconciliation_open_questions', 'Differences that wait for a person.'),
    };
    // A counter that is there from the start lets an alert see its first step.
    for (const venue of venues) {
      for (const outcome of OUTCOMES) this.sweeps.inc({ venue, outcome }, 0);
      for (const kind of KINDS) this.corrections.inc({ venue, kind, action: actionOf(kind) }, 0);
    }
  }

  get figures(): ReconciliationFigures {
    const known = [...this.last.values()];
    const sum = (of: keyof SweepFigures): number => known.reduce((total, { figures }) => total + figures[of], 0);
    return {
      lastRun: known.length === 0 ? undefined : new Date(Math.min(...known.map(({ endedAt }) => endedAt))),
      mismatchCount: sum('mismatches'),
      missingFromExchange: sum('missingFromExchange'),
      missingInDb: sum('missingInDb'),
      lockContentionCount: this.contentions,
    };
  }

  reached(step: SweepStep): void {
    this.logger.trace({ step }, 'Reconciliation');
  }

  contended(): void {
    this.contentions += 1;
    this.contention.inc();
  }

  corrected(correction: Correction, state: CorrectionState): void {
    const { id, venue, kind, profileId, tradeId, orderId, symbol, recorded, reported } = correction;
    this.corrections.inc({ venue, kind, action: state });
    const about = { correction: id, kind, venue, profileId, tradeId, orderId, symbol, recorded, reported };
    const words = `At venue ${venue} ${RULES[kind].says}`;
    if (state === 'applied') this.logger.warn(about, `${words}; our tables follow`);
    else if (state === 'noted') this.logger.info(about, words);
    else {
      const halted = state === 'quarantined' ? 'it was corrected too often without an end; ' : '';
      this.logger.error(
        about,
        `${words}; ${halted}entries are halted. Compare both sides, then POST /api/reconciliation/corrections/${id}/resolve`,
      );
    }
  }

  swept(sweep: Sweep): void {
    const { venue, outcome, durationMs, reason = '', runId } = sweep;
    this.sweeps.inc({ venue, outcome });
    this.durations.observe({ venue }, durationMs / 1_000);
    if (outcome !== 'failed') {
      if (this.failing.delete(venue)) this.logger.info({ venue }, `The sweep of ${venue} works again`);
    } else if (this.failing.get(venue) !== reason) {
      this.failing.set(venue, reason);
      this.logger.warn({ venue, runId }, `The sweep of ${venue} failed and changed nothing: ${reason}`);
    }
  }

  informed(venue: string, last: LastSweep): void {
    const { figures, endedAt } = last;
    this.last.set(venue, last);
    this.gauges.lastSweep.set({ venue }, endedAt / 1_000);
    this.gauges.mismatches.set({ venue }, figures.mismatches);
    this.gauges.missingFromExchange.set({ venue }, figures.missingFromExchange);
    this.gauges.missingInDb.set({ venue }, figures.missingInDb);
    this.gauges.foreignOrders.set({ venue }, figures.foreignOrders);
    this.gauges.openQuestions.set({ venue }, figures.openQuestions);
  }
}

function actionOf(kind: (typeof KINDS)[number]): string {
  return { apply: 'applied', ask: 'asked', note: 'noted' }[RULES[kind].action];
}
