import { Counter, Gauge } from 'prom-client';
import type { Pair } from '#libs/fleet';
import type { CapitalViolation, Problem, ProblemObserver } from '#libs/ledger';
import type { LifecycleViolation, TradeCounts } from '#libs/lifecycle';
import type { Logger } from '#libs/telemetry';

/** Tells what the monitor finds: to people through the log, to alerts through metrics. One for each process. */
export class MonitorReport {
  readonly capital: ProblemObserver<CapitalViolation>;
  readonly lifecycle: ProblemObserver<LifecycleViolation>;
  private readonly capitalGauge = new Gauge({
    name: 'flotilla_capital_invariant_violations',
    help: 'Profiles whose capital is not as it must be, now.',
  });
  private readonly lifecycleGauge = new Gauge({
    name: 'flotilla_lifecycle_violations',
    help: 'Problems in the trades of the pair, now.',
  });
  private readonly open = gaugeOfPair('flotilla_open_trades', 'Trades of the pair that hold a position.');
  private readonly working = gaugeOfPair('flotilla_working_orders', 'Orders of the pair that may still be filled.');
  private readonly disputed = gaugeOfPair('flotilla_disputed_trades', 'Trades of the pair that a person must look at.');

  constructor(
    private readonly pair: Pair,
    private readonly logger: Logger,
  ) {
    const capitalFound = new Counter({
      name: 'flotilla_capital_invariant_violations_total',
      help: "Distinct problems found in the capital of the pair's profiles.",
    });
    const lifecycleFound = new Counter({
      name: 'flotilla_lifecycle_violations_total',
      help: 'Distinct problems found in the trades of the pair.',
    });
    this.capital = this.observer(capitalFound, (violation) => {
      const { profileId, problem, detail } = violation;
      const words = `The capital of profile ${profileId} is wrong: ${problem} (${detail}).`;
      this.logger.fatal({ ...violation }, `${words} ${WHAT_TO_DO}; see docs/ledger.md.`);
    });
    this.lifecycle = this.observer(lifecycleFound, (violation) => {
      const words = `The trades of profile ${violation.profileId} are wrong: ${violation.problem}.`;
      this.logger.fatal({ ...violation }, `${words} ${WHAT_TO_DO}; see docs/lifecycle.md.`);
    });
    this.counted({ open: 0, workingOrders: 0, disputed: 0 });
  }

  capitalViolations(profiles: number): void {
    this.capitalGauge.set(profiles);
  }

  lifecycleViolations(problems: number): void {
    this.lifecycleGauge.set(problems);
  }

  counted({ open, workingOrders, disputed }: TradeCounts): void {
    const { venue, symbol } = this.pair;
    this.open.set({ venue, symbol }, open);
    this.working.set({ venue, symbol }, workingOrders);
    this.disputed.set({ venue, symbol }, disputed);
  }

  private observer<Kind extends Problem>(found: Counter, tell: (violation: Kind) => void): ProblemObserver<Kind> {
    return {
      violated: (violation) => {
        found.inc();
        tell(violation);
      },
      haltFailed: ({ profileId, problem }, error) =>
        this.logger.fatal(
          { err: error, profileId, problem },
          `Profile ${profileId} could not be halted. Halt it by hand; the monitor tries again.`,
        ),
    };
  }
}

const WHAT_TO_DO = 'Its entries are halted. Find the cause, correct it, and lift the halt';

function gaugeOfPair(name: string, help: string): Gauge<'venue' | 'symbol'> {
  return new Gauge({ name, help, labelNames: ['venue', 'symbol'] });
}
