import {
  healthFields,
  LOOP_NAMES,
  loopProbeName,
  policies,
  type HealthFields,
  type ReconciliationFigures,
} from '#libs/fleet';
import type { HealthProbe } from '#libs/http';
import { describeHalt, listHalts, sumLedgers, type CapitalTotals, type Halt } from '#libs/ledger';
import type { ProcessContext, Services } from '#libs/process';
import { Loop, messageOf, Supervisor } from '#libs/supervision';
import { FleetHealth } from './fleet-health.js';
import type { FleetKeeper } from './fleet-keeper.js';
import type { LedgerKeeper } from './ledger-keeper.js';
import type { LifecycleKeeper } from './lifecycle-keeper.js';
import type { ReconciliationKeeper } from './reconciliation-keeper.js';

/** More often is of no use: workers publish with every run, and nothing is decided by this. */
const FLEET_INTERVAL_MS = 1_000;
const CAPITAL_INTERVAL_MS = 5_000;

interface Sources {
  readonly services: Services;
  readonly keeper: FleetKeeper;
  readonly ledger: LedgerKeeper;
  readonly lifecycle: LifecycleKeeper;
  readonly reconciliation: ReconciliationKeeper;
}

/** Why the capital of a profile is not as it must be, by what the proof or a worker found. */
interface Violation {
  readonly profileId: string;
  readonly problem: string;
}

/**
 * What the orchestrator says of the health of everything. Two loops of its own read it, one the states of the workers,
 * the other capital and halts; whoever asks is told what they read last, and waits for nobody.
 */
export class HealthKeeper {
  halts: readonly Halt[] = [];
  private readonly fleet: FleetHealth;
  private readonly loops: readonly Loop[];
  private readonly supervisor: Supervisor;
  private totals: CapitalTotals | undefined;

  constructor(
    private readonly context: ProcessContext,
    private readonly sources: Sources,
  ) {
    const { config, clock } = context;
    const fleetIntervalMs = Math.min(config.HEALTH_CHECK_INTERVAL_MS, FLEET_INTERVAL_MS);
    const capitalIntervalMs = Math.min(config.MONITOR_INTERVAL_MS, CAPITAL_INTERVAL_MS);
    const { silenceMsMax } = policies(config).pair;
    this.fleet = new FleetHealth(clock, { silenceMsMax, lagMs: 2 * fleetIntervalMs });
    const observer = new FirstFailure(context);
    this.loops = [
      new Loop({ name: 'fleet', intervalMs: fleetIntervalMs, runOnce: () => this.readFleet() }, { clock, observer }),
      new Loop(
        { name: 'capital', intervalMs: capitalIntervalMs, runOnce: () => this.readCapital() },
        { clock, observer },
      ),
    ];
    this.supervisor = new Supervisor({
      clock,
      settings: { restartsMax: Infinity, stopGraceMs: config.SHUTDOWN_GRACE_MS },
    });
    for (const loop of this.loops) this.supervisor.addTask(loop.name, loop.task);
  }

  start(): void {
    this.supervisor.start();
  }

  async stop(): Promise<void> {
    await this.supervisor.shutdown();
  }

  fields(): HealthFields {
    const { fleet } = this;
    return healthFields({
      loops: Object.fromEntries(LOOP_NAMES.map((name) => [name, fleet.loop(name)])),
      reconciliation: this.reconciliation(),
      lockContentionCount: fleet.lockContentionCount() + this.sources.lifecycle.lockContentionCount,
      capitalInvariantViolations: this.violations().length,
      degraded: this.degraded(),
      now: this.context.clock.now(),
    });
  }

  /** Each loop over all pairs, and the capital of all profiles. */
  probes(): HealthProbe[] {
    const ledger: HealthProbe = {
      name: 'ledger',
      check: async () => {
        const [first, ...others] = this.violations();
        if (!first) return {};
        const { profileId, problem } = first;
        throw new Error(`The capital of profile ${profileId} is wrong: ${problem}.${more(others)} See docs/ledger.md.`);
      },
    };
    const loops = LOOP_NAMES.map((name) => ({
      name: loopProbeName(name),
      check: async () => {
        const [first, ...others] = this.fleet.faults(name);
        if (first !== undefined) throw new Error(first + more(others));
        return {};
      },
    }));
    return [ledger, ...loops];
  }

  /** Each profile once, whoever found it. */
  violations(): Violation[] {
    const own = this.sources.ledger.violations;
    const known = new Set(own.map(({ profileId }) => profileId));
    const told = this.fleet.violatedProfiles().filter((profileId) => !known.has(profileId));
    return [...own, ...told.map((profileId) => ({ profileId, problem: "its worker's log says what" }))];
  }

  /** Why entries are not made as they should be; nothing when all is well. */
  degraded(): string[] {
    return [
      ...this.halts.map(describeHalt),
      ...this.violations().map(({ profileId, problem }) => `capital of profile ${profileId}: ${problem}`),
      ...this.fleet.reasons(),
      ...this.loops.flatMap((loop) => {
        const { error } = loop.state();
        return error === undefined ? [] : [`the orchestrator cannot ${WORDS[loop.name]}: ${messageOf(error)}`];
      }),
    ];
  }

  /** Undefined while they cannot be read: an old figure would look like a quiet market. */
  capital(): CapitalTotals | undefined {
    return this.loops.some((loop) => loop.name === 'capital' && loop.state().isHealthy) ? this.totals : undefined;
  }

  /** Of the last sweep of every venue, whoever made it; how often sweeps met is counted by each process. */
  private reconciliation(): ReconciliationFigures {
    const { lastRun, lockContentionCount, ...counts } = this.sources.reconciliation.report.figures;
    return {
      ...counts,
      lastRun: lastRun?.toISOString() ?? null,
      lockContentionCount: lockContentionCount + this.fleet.sweepContentionCount(),
    };
  }

  private async readFleet(): Promise<void> {
    const { fleet, board } = this.sources.keeper;
    const givenUp = new Set(
      fleet
        .list()
        .filter(({ hasGivenUp }) => hasGivenUp)
        .map(({ id }) => id),
    );
    const expected = fleet.listDesired().map(({ id }) => ({ id, hasGivenUp: givenUp.has(id) }));
    this.fleet.expect(expected);
    this.fleet.observe(await board.report(expected.map(({ id }) => id)));
    await this.sources.reconciliation.inform();
  }

  private async readCapital(): Promise<void> {
    const { database } = this.sources.services;
    this.halts = await database.statement((tx) => listHalts(tx));
    this.totals = await database.statement(sumLedgers);
  }
}

const WORDS: Record<string, string> = {
  fleet: 'read the states of the workers',
  capital: 'read capital and halts',
};

function more(others: readonly unknown[]): string {
  return others.length === 0 ? '' : ` And ${others.length} more.`;
}

/** Tells the first failure in a row: these loops are quick, and whatever ails them is told elsewhere as well. */
class FirstFailure {
  private readonly failing = new Set<string>();

  constructor(private readonly context: ProcessContext) {}

  ran(loop: string, { error }: { readonly error?: unknown }): void {
    if (error === undefined) this.failing.delete(loop);
    else if (!this.failing.has(loop)) {
      this.failing.add(loop);
      this.context.logger.warn({ err: error }, `The orchestrator could not ${WORDS[loop]}; it tries again`);
    }
  }
}
