/** A paper venue with so many open orders, and a database that knows each of them. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import type { Client } from 'pg';
import { SystemClock } from '#libs/clock';
import { Database } from '#libs/database';
import { EmbeddedServers } from '#libs/embedded';
import { ReconciliationLocks } from '#libs/locks';
import { Reconciliation, SweepTurns, type ReconciliationObserver, type Sweep } from '#libs/reconciliation';
import type { Venue } from '#libs/venues';
import { openStage } from '../ledger/stage.ts';
import { control, openPaperVenue, withPaperVenue } from '../paper.ts';

const SUBMITTERS = 64;
const HEADERS = {
  'apca-api-key-id': 'paper',
  'apca-api-secret-key': 'paper-secret',
  'content-type': 'application/json',
};
const clock = new SystemClock();
const silent = (): void => undefined;

export interface ReconcileStage {
  readonly admin: Client;
  readonly venue: Venue;
  /** Adds orders that rest at the venue and are recorded here, until there are so many. */
  grow(count: number): Promise<void>;
  sweep(): Promise<Sweep>;
}

export async function withReconcileStage(work: (stage: ReconcileStage) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-bench-'));
  const servers = new EmbeddedServers(folder, clock, { progress: silent, died: silent, failed: silent });
  const postgres = await openStage({ connectionsMax: 0, roundMs: 0 });
  // What it writes would count as written by a sweep.
  await postgres.admin.query('alter system set autovacuum = off');
  await postgres.admin.query('select pg_reload_conf()');
  try {
    const redis = new Redis(await servers.startRedis());
    await withPaperVenue(join(folder, 'paper'), async (paperUrl) => {
      await control(`${paperUrl}/paper/mode`, { fills: 'manual' });
      await control(`${paperUrl}/paper/balances`, { asset: 'USD', free: '1000000000' });
      const venue = openPaperVenue('alpaca', paperUrl, redis);
      const database = await Database.open(
        {
          ...{ url: postgres.url, applicationName: 'bench', poolSize: 4 },
          ...{ connectTimeoutMs: 10_000, statementTimeoutMs: 60_000, lockTimeoutMs: 30_000 },
        },
        { lost: silent },
      );
      const reconciliation = openReconciliation(database, redis, venue);
      let grown = 0;
      await work({
        ...{ admin: postgres.admin, venue },
        grow: async (count) => {
          await record(postgres.admin, await submit(paperUrl, count - grown));
          grown = count;
        },
        sweep: async () => {
          const sweep = await reconciliation.sweepIfDue({ venue: venue.id });
          if (sweep?.outcome !== 'clean') throw new Error(`Expected a clean sweep, got ${JSON.stringify(sweep)}.`);
          return sweep;
        },
      });
      await Promise.all([venue.close(), database.close()]);
    });
    redis.disconnect();
  } finally {
    await Promise.all([postgres.close(), servers.stop()]);
    rmSync(folder, { recursive: true, force: true });
  }
}

function openReconciliation(database: Database, redis: Redis, venue: Venue): Reconciliation {
  const observer: ReconciliationObserver = {
    ...{ reached: silent, corrected: silent, swept: silent, informed: silent, contended: silent },
  };
  return new Reconciliation({
    ...{ database, clock, observer, venueOf: () => venue },
    locks: new ReconciliationLocks(database, { ttlMs: 30_000 }),
    turns: new SweepTurns({ redis, clock, keyPrefix: 'bench', lockTtlMs: 30_000 }),
    settings: {
      ...{ clientOrderIdPrefix: 'bench', submitWindowMs: 0, settleMs: 0, lookbackMs: 3_600_000 },
      ...{ intervalMs: 0, feeBps: 50 },
    },
  });
}

interface Resting {
  readonly orderId: string;
  readonly clientOrderId: string;
}

async function submit(paperUrl: string, count: number): Promise<Resting[]> {
  const resting: Resting[] = [];
  let left = count;
  const submitter = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const clientOrderId = `bench-${randomUUID()}`;
      const terms = { symbol: 'BTC/USD', side: 'buy', type: 'limit', qty: '0.001', limit_price: '1000' };
      const answer = await fetch(`${paperUrl}/alpaca/v2/orders`, {
        ...{ method: 'POST', headers: HEADERS },
        body: JSON.stringify({ ...terms, time_in_force: 'gtc', client_order_id: clientOrderId }),
      });
      if (!answer.ok) throw new Error(`The paper venue answered ${answer.status}: ${await answer.text()}`);
      resting.push({ orderId: ((await answer.json()) as { id: string }).id, clientOrderId });
    }
  };
  await Promise.all(Array.from({ length: SUBMITTERS }, submitter));
  return resting;
}

/** Around the functions, each in a profile of its own: here only the number of rows matters. */
async function record(admin: Client, orders: readonly Resting[]): Promise<void> {
  await admin.query('begin');
  await admin.query(
    `create temporary table resting on commit drop as
     select gen_random_uuid() as profile_id, gen_random_uuid() as trade_id, o.* from
       unnest($1::text[], $2::text[]) as o(order_id, client_order_id)`,
    [orders.map(({ orderId }) => orderId), orders.map(({ clientOrderId }) => clientOrderId)],
  );
  for (const sql of RECORD) await admin.query(sql);
  await admin.query('commit');
  await admin.query('vacuum analyze');
}

const RECORD = [
  `insert into profiles (profile_id, name, owner_id) select profile_id, 'bench', 'bench' from resting`,
  `insert into entry_intents (profile_id, trade_id, strategy, signal_id, amount, venue, symbol, side, type,
     time_in_force, quantity, limit_price, client_order_id, actor, lock_token, state, decided_at)
   select profile_id, trade_id, 'bench', trade_id::text, 1, 'paper', 'BTC/USD', 'buy', 'limit', 'gtc', 0.001, 1000,
          client_order_id, 'bench', 1, 'confirmed', now() from resting`,
  `insert into trade_lifecycle (profile_id, trade_id, venue, symbol, side, strategy, signal_id, state)
   select profile_id, trade_id, 'paper', 'BTC/USD', 'long', 'bench', trade_id::text, 'entering' from resting`,
  `insert into positions (profile_id, trade_id, venue, symbol, side)
   select profile_id, trade_id, 'paper', 'BTC/USD', 'long' from resting`,
  `insert into orders (venue, order_id, profile_id, trade_id, purpose, client_order_id, symbol, side, type, quantity,
     limit_price, status, created_at, updated_at)
   select 'paper', order_id, profile_id, trade_id, 'entry', client_order_id, 'BTC/USD', 'buy', 'limit', 0.001, 1000, 'open',
          now(), now() from resting`,
];
