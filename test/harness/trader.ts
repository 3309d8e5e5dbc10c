/**
 * A process that trades, as a worker would, and can be stopped at any boundary of a recipe. Told by lines of JSON, each a
 * Command; answers each with "done <its number> <JSON>" or "failed <its number> <why>". At the step that a command names
 * it says "at <step>" and waits for the line "go", which may never come.
 */
import { createInterface } from 'node:readline';
import { Registry } from 'prom-client';
import { SystemClock } from '#libs/clock';
import { Database } from '#libs/database';
import { Lifecycle, type LifecycleObserver, type LifecycleSettings, type OrderTerms, type Step } from '#libs/lifecycle';
import { EntryLocks, ReconciliationLocks } from '#libs/locks';
import { Decimal } from '#libs/money';
import {
  Reconciliation,
  SweepTurns,
  type ReconciliationObserver,
  type ReconciliationSettings,
  type SweepStep,
} from '#libs/reconciliation';
import { openRedis } from '#libs/redis';
import { openVenue, paperVenueSettings, VenueMetrics } from '#libs/venues';

export interface TraderSetup {
  readonly databaseUrl: string;
  /** Without it the budget of requests is this process' own, and it cannot sweep. */
  readonly redisUrl?: string;
  readonly keyPrefix: string;
  readonly port: number;
  readonly adapter: 'alpaca' | 'ccxt';
  readonly queryTimeoutMs: number;
  readonly settings: LifecycleSettings;
  readonly sweeps?: Partial<ReconciliationSettings>;
}

export interface TraderSignal {
  readonly profileId: string;
  readonly symbol: string;
  readonly side: 'buy' | 'sell';
  readonly quantity: string;
  readonly limitPrice: string;
  readonly signalId: string;
}

export type Command = { readonly pauseAt?: Step | SweepStep } & (
  | { readonly do: 'enter'; readonly signal: TraderSignal; readonly times?: number }
  | { readonly do: 'exit'; readonly profileId: string; readonly tradeId: string; readonly limitPrice: string }
  | { readonly do: 'cancel'; readonly profileId: string; readonly tradeId: string }
  | { readonly do: 'report'; readonly symbol: string }
  | { readonly do: 'follow'; readonly symbol: string }
  | { readonly do: 'resolve'; readonly symbol: string }
  | { readonly do: 'sweep' }
  | { readonly do: 'rebuild'; readonly symbol: string; readonly profiles: readonly string[] }
);

const VENUE = 'paper';
/** Long, so that a busy machine does not end one. */
const SWEEP_LOCK_TTL_MS = 60_000;
const setup = JSON.parse(process.argv[2] ?? '') as TraderSetup;
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const clock = new SystemClock();
const database = await Database.open(
  {
    ...{ url: setup.databaseUrl, applicationName: 'trader', poolSize: 8 },
    ...{ connectTimeoutMs: 10_000, statementTimeoutMs: 30_000, lockTimeoutMs: 30_000 },
  },
  { lost: () => undefined },
);
const redis =
  setup.redisUrl === undefined
    ? undefined
    : await openRedis(setup.redisUrl, { lost: () => undefined, restored: () => undefined });
const venue = openVenue(
  {
    ...paperVenueSettings(setup.port, setup.adapter),
    ...{ requestsPerMinute: 1_000_000, ordersPer10Seconds: 1_000_000, fleetShare: 1 },
  },
  {
    ...{ clock, redis, metrics: new VenueMetrics(new Registry()) },
    config: {
      KEY_PREFIX: setup.keyPrefix,
      SUBMIT_TIMEOUT_MS: setup.settings.submitTimeoutMs,
      VENUE_QUERY_TIMEOUT_MS: setup.queryTimeoutMs,
      VENUE_BUDGET_WAIT_MS: 0,
    },
    streamLost: (_, reason) => say(`stream lost: ${reason}`),
    streamBackoffMs: { base: 20, max: 200 },
  },
);

/** Said before the gap with which a stream begins is looked into: from here on the stream misses nothing. */
const stream = venue.stream.bind(venue);
venue.stream = (listener, signal) =>
  stream((event) => {
    if (event.kind === 'gap') say('stream live');
    listener(event);
  }, signal);

let pauseAt: Step | SweepStep | undefined;
let goOn = Promise.withResolvers<void>();
async function reached(step: Step | SweepStep): Promise<void> {
  if (step !== pauseAt) return;
  pauseAt = undefined;
  say(`at ${step}`);
  await goOn.promise;
}
const observer: LifecycleObserver = {
  reached,
  concluded: () => undefined,
  applied: (source, applied) => say(`applied ${source} ${applied}`),
  resolved: (intent, as) => say(`resolved ${intent.clientOrderId} ${as}`),
  overdue: () => undefined,
  undecided: () => undefined,
  failed: (what, error) => say(`could not ${what}: ${String(error)}`),
};
const lifecycle = new Lifecycle({
  ...{ database, clock, observer, settings: setup.settings },
  locks: new EntryLocks(database, { ttlMs: setup.settings.entryLockTtlMs }),
  venueOf: () => venue,
});

const sweepObserver: ReconciliationObserver = {
  reached,
  corrected: ({ kind }, state) => say(`corrected ${kind} ${state}`),
  swept: () => undefined,
  informed: () => undefined,
  contended: () => say('contended'),
};
const reconciliation =
  redis &&
  new Reconciliation({
    ...{ database, clock, observer: sweepObserver, venueOf: () => venue },
    locks: new ReconciliationLocks(database, { ttlMs: SWEEP_LOCK_TTL_MS, contended: () => say('contended') }),
    turns: new SweepTurns({ redis, clock, keyPrefix: setup.keyPrefix, lockTtlMs: SWEEP_LOCK_TTL_MS }),
    settings: {
      clientOrderIdPrefix: setup.settings.clientOrderIdPrefix,
      submitWindowMs: setup.settings.submitWindowMs,
      feeBps: setup.settings.buffers.feeBps,
      ...{ settleMs: 0, lookbackMs: 3_600_000, intervalMs: 0 },
      ...setup.sweeps,
    },
  });

function limit(price: string): OrderTerms {
  return { type: 'limit', limitPrice: Decimal.parse(price) };
}

function enter({ quantity, limitPrice, ...signal }: TraderSignal): Promise<unknown> {
  return lifecycle.enter({
    ...signal,
    ...{ venue: VENUE, strategy: 'example', actor: 'trader' },
    size: { quantity: Decimal.parse(quantity) },
    order: limit(limitPrice),
  });
}

async function perform(command: Command): Promise<unknown> {
  switch (command.do) {
    case 'enter':
      return command.times === undefined
        ? enter(command.signal)
        : Promise.all(Array.from({ length: command.times }, () => enter(command.signal)));
    case 'exit': {
      const { profileId, tradeId, limitPrice } = command;
      return lifecycle.exit({ profileId, tradeId, order: limit(limitPrice), actor: 'trader' });
    }
    case 'cancel':
      return lifecycle.cancel(command);
    case 'report':
      return lifecycle.orderSync({ venue: VENUE, symbol: command.symbol }).runOnce();
    case 'follow':
      return lifecycle.orderSync({ venue: VENUE, symbol: command.symbol }).follow(new AbortController().signal);
    case 'resolve':
      return lifecycle.resolveIntents({ venue: VENUE, symbol: command.symbol });
    case 'sweep':
      return reconciliation?.sweepIfDue({ venue: VENUE });
    case 'rebuild':
      return lifecycle.rebuild({ venue: VENUE, symbol: command.symbol, profiles: command.profiles });
  }
}

say('ready');
let count = 0;
for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'go') {
    goOn.resolve();
    goOn = Promise.withResolvers();
    continue;
  }
  const command = JSON.parse(line) as Command;
  const number = (count += 1);
  pauseAt = command.pauseAt;
  perform(command).then(
    (answer) => say(`done ${number} ${JSON.stringify(answer ?? null)}`),
    (error: unknown) => say(`failed ${number} ${String(error)}`),
  );
}
