import type { PairConfigs } from '#libs/fleet';
import { listUnfinished, openLifecycle, type Lifecycle, type LifecycleReport, type Unfinished } from '#libs/lifecycle';
import type { ProcessContext, Services } from '#libs/process';
import { Supervisor } from '#libs/supervision';
import type { Venue, VenueSettings } from '#libs/venues';

const UNFINISHED_MAX = 1_000;

interface Surroundings {
  readonly services: Services;
  readonly venues: readonly VenueSettings[];
  readonly configs: PairConfigs;
}

/**
 * The orchestrator's own hand in trades: what people ask for through the API. It also looks after orders and intents
 * of symbols that no pair works on; an enabled pair has a worker that looks after its own.
 */
export class LifecycleKeeper {
  readonly lifecycle: Lifecycle;
  /** Throws UnknownVenue. */
  readonly venueOf: (id: string) => Venue;
  private readonly report: LifecycleReport;
  private readonly supervisor: Supervisor;
  private workedOn: ReadonlySet<string> = new Set();
  private unfinished: readonly Unfinished[] = [];

  /** Closing the venues is left on the stack. */
  constructor(
    private readonly context: ProcessContext,
    private readonly around: Surroundings,
    undo: AsyncDisposableStack,
  ) {
    const { lifecycle, venueOf, report } = openLifecycle(context, around, undo);
    this.report = report;
    this.lifecycle = lifecycle;
    this.venueOf = venueOf;
    const { config, clock, logger } = context;
    this.supervisor = new Supervisor({
      clock,
      settings: { restartsMax: Infinity, stopGraceMs: config.SHUTDOWN_GRACE_MS },
      observer: (notice) => {
        if (notice.event === 'failed') logger.error({ err: notice.error }, `The task ${notice.task} failed`);
      },
    });
    this.supervisor.addTask('order-sync', (signal) => this.runUntil(signal));
  }

  get lockContentionCount(): number {
    return this.report.lockContentionCount;
  }

  start(): void {
    this.supervisor.start();
  }

  async stop(): Promise<void> {
    await this.supervisor.shutdown();
  }

  /** One look at everything that is unfinished. What fails is told, and is tried again with the next. */
  async runOnce(signal?: AbortSignal): Promise<void> {
    const { database } = this.around.services;
    await this.attempt('read which pairs have a worker', async () => {
      const pairs = await this.around.configs.list();
      this.workedOn = new Set(pairs.filter(({ enabled }) => enabled).map(nameOf));
    });
    await this.attempt('read what is unfinished', async () => {
      const unfinished = await database.statement((tx) => listUnfinished(tx, { limit: UNFINISHED_MAX }));
      // What was unfinished before is looked into once more, so that what is told of it ends with it.
      const before = this.unfinished.filter((each) => !unfinished.some((other) => nameOf(other) === nameOf(each)));
      this.unfinished = unfinished;
      for (const each of [...unfinished, ...before]) {
        if (signal?.aborted) return;
        if (!this.workedOn.has(nameOf(each))) await this.lookAfter(each, signal);
      }
    });
  }

  private async lookAfter({ venue, symbol }: Unfinished, signal: AbortSignal | undefined): Promise<void> {
    await this.attempt(`read the orders of ${symbol} at ${venue}`, () =>
      this.lifecycle.orderSync({ venue, symbol }).runOnce({ ...(signal && { signal }) }),
    );
    await this.attempt(`resolve the intents of ${symbol} at ${venue}`, () =>
      this.lifecycle.resolveIntents({ venue, symbol }),
    );
  }

  private async runUntil(signal: AbortSignal): Promise<void> {
    const { clock, config } = this.context;
    while (!signal.aborted) {
      await this.runOnce(signal);
      await clock.sleep(config.ORDER_SYNC_INTERVAL_MS, signal);
    }
  }

  private async attempt(what: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.context.logger.error({ err: error }, `The orchestrator could not ${what}; it is tried again`);
    }
  }
}

function nameOf({ venue, symbol }: { readonly venue: string; readonly symbol: string }): string {
  return JSON.stringify([venue, symbol]);
}
