import { Counter, Gauge } from 'prom-client';
import type { Logger } from '#libs/telemetry';
import type { LedgerPass, LedgerViolation, LedgerWatchdogObserver } from './watchdog.js';

/** Tells what the watchdog finds: to people through the log, to alerts through metrics. One for each process. */
export class LedgerWatchdogReport implements LedgerWatchdogObserver {
  private readonly found = new Counter({
    name: 'flotilla_ledger_violations_total',
    help: 'Distinct problems found in the capital ledger.',
  });
  private readonly standing = new Gauge({
    name: 'flotilla_ledger_violations',
    help: 'Profiles whose ledger has a problem now.',
  });
  private readonly proofs = new Counter({
    name: 'flotilla_ledger_proofs_total',
    help: 'Journals proved, in whole or in part.',
  });
  private readonly failures = new Counter({
    name: 'flotilla_ledger_verify_failures_total',
    help: 'Passes over the journals that could not be made.',
  });

  constructor(private readonly logger: Logger) {}

  violated({ profileId, sequence, problem }: LedgerViolation): void {
    this.found.inc();
    const entry = sequence === undefined ? undefined : String(sequence);
    this.logger.fatal(
      { profileId, entry, problem },
      `The ledger of profile ${profileId} is wrong${entry ? ` at entry ${entry}` : ''}: ${problem}. ` +
        'Its entries are halted. Find the cause, correct it, and lift the halt; see docs/ledger.md.',
    );
  }

  haltFailed({ profileId, problem }: LedgerViolation, error: unknown): void {
    this.logger.fatal(
      { err: error, profileId, problem },
      `Profile ${profileId} could not be halted. Halt it by hand; the watchdog tries again.`,
    );
  }

  passed({ proved, violations }: LedgerPass): void {
    this.proofs.inc(proved);
    this.standing.set(violations);
  }

  failed(error: unknown): void {
    this.failures.inc();
    this.logger.error({ err: error }, 'The journals could not be proved in this pass; the next one follows.');
  }
}
