import { LedgerWatchdog, LedgerWatchdogReport } from '#libs/ledger';
import type { Database } from '#libs/database';
import type { ProcessContext } from '#libs/process';

/** Has the ledger proved again and again, and knows how many profiles' books are wrong at the moment. */
export class LedgerKeeper {
  private readonly report: CountingReport;
  private readonly watchdog: LedgerWatchdog;

  constructor({ config, clock, logger }: ProcessContext, database: Database) {
    this.report = new CountingReport(logger);
    this.watchdog = new LedgerWatchdog({
      database,
      clock,
      observer: this.report,
      intervalMs: config.LEDGER_VERIFY_INTERVAL_MS,
      fullIntervalMs: config.LEDGER_FULL_VERIFY_INTERVAL_MS,
    });
  }

  get violations(): number {
    return this.report.violations;
  }

  start(): void {
    this.watchdog.start();
  }

  stop(): Promise<void> {
    return this.watchdog.stop();
  }
}

class CountingReport extends LedgerWatchdogReport {
  violations = 0;

  override passed(result: { proved: number; violations: number }): void {
    this.violations = result.violations;
    super.passed(result);
  }
}
