/** A private Postgres and Redis, a paper venue, and the lifecycle of a worker process between them. */
import { randomInt, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { Pool, type Client } from 'pg';
import { SystemClock } from '#libs/clock';
import { Database } from '#libs/database';
import { EmbeddedServers } from '#libs/embedded';
import { Lifecycle, type LifecycleObserver, type Signal } from '#libs/lifecycle';
import { EntryLocks } from '#libs/locks';
import { Decimal } from '#libs/money';
import { clientOrderIdFor, type Venue } from '#libs/venues';
import { addProfiles, openStage, PROFILES } from '../ledger/stage.ts';
import { control, openPaperVenue, withPaperVenue } from '../paper.ts';

const SYMBOL = 'BTC/USD';
const PREFIX = 'bench';
const QUANTITY = Decimal.parse('0.0002');
const LIMIT_PRICE = Decimal.parse('40000');
/** As many as a worker has. */
const POOL_SIZE = 8;
const TTL_MS = 30_000;
const clock = new SystemClock();
const silent = (): void => undefined;

export interface EntryStage {
  readonly admin: Client;
  readonly fsyncMs: number;
  /** Each of a profile of its own, so that none stands in the way of another. */
  newSignals(count: number): Promise<Signal[]>;
  enter(signal: Signal): Promise<void>;
  /** The same call of the venue, one bare read and four bare writes. */
  bare(): Promise<void>;
}

export async function withEntryStage(work: (stage: EntryStage) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-bench-'));
  const servers = new EmbeddedServers(folder, clock, { progress: silent, died: silent, failed: silent });
  const postgres = await openStage({ connectionsMax: 0, roundMs: 0 });
  try {
    const redis = new Redis(await servers.startRedis());
    await withPaperVenue(join(folder, 'paper'), async (paperUrl) => {
      await control(`${paperUrl}/paper/mode`, { fills: 'manual' });
      await control(`${paperUrl}/paper/balances`, { asset: 'USD', free: '1000000000' });
      const venue = openPaperVenue('alpaca', paperUrl, redis);
      const database = await openDatabase(postgres.url);
      const pool = new Pool({ connectionString: postgres.url, max: POOL_SIZE, options: '-c role=flotilla_app' });
      const lifecycle = openLifecycle(database, venue);
      await work({
        ...{ admin: postgres.admin, fsyncMs: postgres.fsyncMs },
        newSignals: async (count) => (await addProfiles(postgres.admin, count)).map(signalOf),
        enter: (signal) => enter(lifecycle, signal),
        bare: () => bare(pool, venue),
      });
      await Promise.all([venue.close(), database.close(), pool.end()]);
    });
    redis.disconnect();
  } finally {
    await Promise.all([postgres.close(), servers.stop()]);
    rmSync(folder, { recursive: true, force: true });
  }
}

function openDatabase(url: string): Promise<Database> {
  return Database.open(
    {
      ...{ url, applicationName: 'bench', poolSize: POOL_SIZE },
      ...{ connectTimeoutMs: 10_000, statementTimeoutMs: 30_000, lockTimeoutMs: 30_000 },
    },
    { lost: silent },
  );
}

function openLifecycle(database: Database, venue: Venue): Lifecycle {
  const observer: LifecycleObserver = {
    ...{ reached: silent, concluded: silent, applied: silent, resolved: silent, overdue: silent, undecided: silent },
    failed: (what, error) => process.stderr.write(`Could not ${what}: ${String(error)}\n`),
  };
  return new Lifecycle({
    ...{ database, clock, observer, venueOf: () => venue },
    locks: new EntryLocks(database, { ttlMs: TTL_MS }),
    settings: {
      ...{ clientOrderIdPrefix: PREFIX, entryLockTtlMs: TTL_MS, submitTimeoutMs: 10_000, submitWindowMs: 15_000 },
      ...{ unknownAlertMs: 60_000, buffers: { marketBps: 100, feeBps: 50 } },
    },
  });
}

function signalOf(profileId: string): Signal {
  return {
    ...{ profileId, venue: 'paper', symbol: SYMBOL, side: 'buy', strategy: 'bench', signalId: 's1', actor: 'bench' },
    size: { quantity: QUANTITY },
    order: { type: 'limit', limitPrice: LIMIT_PRICE },
  };
}

async function enter(lifecycle: Lifecycle, signal: Signal): Promise<void> {
  const outcome = await lifecycle.enter(signal);
  if (outcome.outcome !== 'submitted') throw new Error(`Expected an entry, got ${JSON.stringify(outcome)}.`);
}

/** In the order of an entry: is the trade known, take the lock, write the intent, submit, record, release. */
async function bare(pool: Pool, venue: Venue): Promise<void> {
  const id = randomInt(1, PROFILES + 1);
  const write = (): Promise<unknown> =>
    pool.query({ name: 'write', text: 'select bare_update($1)', values: [randomInt(1, PROFILES + 1)] });
  await pool.query({ name: 'read', text: 'select value from bare where id = $1', values: [id] });
  await write();
  await write();
  const submitted = await venue.submit({
    ...{ symbol: SYMBOL, side: 'buy', type: 'limit', timeInForce: 'gtc', purpose: 'entry' },
    ...{ quantity: QUANTITY, limitPrice: LIMIT_PRICE },
    clientOrderId: clientOrderIdFor(
      { profileId: randomUUID(), tradeId: randomUUID() },
      PREFIX,
      venue.capabilities.clientOrderIds,
    ),
  });
  if (submitted.outcome !== 'accepted') throw new Error(`Expected an order, got ${JSON.stringify(submitted)}.`);
  await write();
  await write();
}
