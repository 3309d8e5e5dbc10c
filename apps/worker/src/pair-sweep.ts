import type { Pair, ReconciliationFigures } from '#libs/fleet';
import type { Reconciliation, ReconciliationReport } from '#libs/reconciliation';

/** The worker's part in the sweeps of its venue: of all workers there, one at a time makes them. */
export class PairSweep {
  constructor(
    private readonly pair: Pick<Pair, 'venue'>,
    private readonly reconciliation: Reconciliation,
    private readonly report: ReconciliationReport,
  ) {}

  /** A sweep that failed is a run that failed: nobody knows whether both sides agree. */
  async runOnce(signal: AbortSignal): Promise<void> {
    const { venue } = this.pair;
    const sweep = await this.reconciliation.sweepIfDue({ venue, signal });
    if (sweep?.outcome === 'failed') throw new Error(`The sweep of ${venue} failed: ${sweep.reason}`);
  }

  /** Of the last sweep of the venue, whoever made it. */
  figures(): ReconciliationFigures {
    const { lastRun, ...counts } = this.report.figures;
    return { ...counts, lastRun: lastRun?.toISOString() ?? null };
  }
}
