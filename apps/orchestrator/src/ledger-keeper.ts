import { LedgerWatchdog, LedgerWatchdogReport, type LedgerPass, type LedgerViolation } from '#libs/ledger';
import type { Database } from '#libs/database';
import type { ProcessContext } from '#libs/process';

/** Has the ledger proved again and again, and knows which profiles' books are wrong at the moment. */
export class LedgerKeeper {
  private readonly report: RememberingReport;
  private readonly watchdog: LedgerWatchdog;

  constructor({ config, clock, logger }: ProcessContext, database: Database) {
    this.report = new RememberingReport(logger);
    this.watchdog = new LedgerWatchdog({
      database,
      clock,
      observer: this.report,
      intervalMs: config.LEDGER_VERIFY_INTERVAL_MS,
      fullIntervalMs: config.LEDGER_FULL_VERIFY_INTERVAL_MS,
    });
  }

  /** One for each profile that has any. */
  get violations(): readonly LedgerViolation[] {
    return this.report.violations;
  }

  start(): void {
    this.watchdog.start();
  }

  stop(): Promise<void> {
    return this.watchdog.stop();
  }
}

class RememberingReport extends LedgerWatchdogReport {
  violations: readonly LedgerViolation[] = [];

  override passed(result: LedgerPass): void {
    this.violations = result.violated;
    super.passed(result);
  }
}
