import type { Clock } from '#libs/clock';
import type { Database } from '#libs/database';
import type { Pair } from '#libs/fleet';
import { CapitalWatchdog, listHaltsInForce, type CapitalViolation, type Halt } from '#libs/ledger';
import { countTrades, LifecycleWatchdog, type LifecycleViolation } from '#libs/lifecycle';
import type { MonitorReport } from './monitor-report.js';

interface Parts {
  readonly pair: Pair;
  readonly database: Database;
  readonly clock: Clock;
  readonly report: MonitorReport;
}

/** Looks at what must hold for the pair's profiles, and at what is going on. What it saw last can be read at any time. */
export class PairMonitor {
  capitalViolations: readonly CapitalViolation[] = [];
  lifecycleViolations: readonly LifecycleViolation[] = [];
  halts: readonly Halt[] = [];
  private readonly capital: CapitalWatchdog;
  private readonly lifecycle: LifecycleWatchdog;

  constructor(private readonly parts: Parts) {
    const { pair, database, clock, report } = parts;
    const { venue, symbol, profiles } = pair;
    this.capital = new CapitalWatchdog({ database, profiles, observer: report.capital });
    this.lifecycle = new LifecycleWatchdog({ database, clock, venue, symbol, profiles, observer: report.lifecycle });
  }

  /** The capital first: what comes later may fail without keeping it from being looked at. */
  async runOnce(): Promise<void> {
    const { pair, database, report } = this.parts;
    this.capitalViolations = await this.capital.runOnce();
    report.capitalViolations(this.violatedProfiles.length);
    this.lifecycleViolations = await this.lifecycle.runOnce();
    report.lifecycleViolations(this.lifecycleViolations.length);
    this.halts = await database.statement((tx) => listHaltsInForce(tx, pair));
    report.counted(await database.statement((tx) => countTrades(tx, pair)));
  }

  get violatedProfiles(): string[] {
    return [...new Set(this.capitalViolations.map(({ profileId }) => profileId))];
  }
}
