import type { PairConfigs } from '#libs/fleet';
import type { ProcessContext, Services } from '#libs/process';
import { openReconciliation, type Reconciliation, type ReconciliationReport } from '#libs/reconciliation';
import { Supervisor } from '#libs/supervision';
import type { Venue } from '#libs/venues';

interface Surroundings {
  readonly services: Services;
  readonly configs: PairConfigs;
  readonly venueIds: readonly string[];
  readonly venueOf: (id: string) => Venue;
}

/**
 * Sweeps what people ask for through the API. On schedule it sweeps only venues that no enabled pair works at: the
 * workers of pairs sweep their own.
 */
export class ReconciliationKeeper {
  readonly reconciliation: Reconciliation;
  readonly report: ReconciliationReport;
  private readonly supervisor: Supervisor;

  constructor(
    private readonly context: ProcessContext,
    private readonly around: Surroundings,
  ) {
    const { venueIds: ids, venueOf, services } = around;
    const { reconciliation, report } = openReconciliation(context, services, { ids, venueOf });
    this.reconciliation = reconciliation;
    this.report = report;
    const { config, clock, logger } = context;
    this.supervisor = new Supervisor({
      clock,
      settings: { restartsMax: Infinity, stopGraceMs: config.SHUTDOWN_GRACE_MS },
      observer: (notice) => {
        if (notice.event === 'failed') logger.error({ err: notice.error }, `The task ${notice.task} failed`);
      },
    });
    this.supervisor.addTask('reconciliation', (signal) => this.runUntil(signal));
  }

  get venueIds(): readonly string[] {
    return this.around.venueIds;
  }

  start(): void {
    this.supervisor.start();
  }

  async stop(): Promise<void> {
    await this.supervisor.shutdown();
  }

  /** Learns what the workers' sweeps found. */
  async inform(): Promise<void> {
    for (const venue of this.venueIds) await this.reconciliation.inform(venue);
  }

  private async runOnce(signal: AbortSignal): Promise<void> {
    const pairs = await this.around.configs.list();
    const workedAt = new Set(pairs.filter(({ enabled }) => enabled).map(({ venue }) => venue));
    for (const venue of this.venueIds) {
      if (!workedAt.has(venue) && !signal.aborted) await this.reconciliation.sweepIfDue({ venue, signal });
    }
  }

  private async runUntil(signal: AbortSignal): Promise<void> {
    const { clock, config, logger } = this.context;
    while (!signal.aborted) {
      await this.runOnce(signal).catch((error: unknown) => {
        if (!signal.aborted) logger.error({ err: error }, 'The orchestrator could not sweep; it is tried again');
      });
      await clock.sleep(config.RECONCILIATION_INTERVAL_MS, signal);
    }
  }
}
