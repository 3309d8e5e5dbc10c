/** A private Postgres with a migrated ledger, a bare table beside it to measure against, and clients to load both. */
import { randomUUID } from 'node:crypto';
import { closeSync, fdatasyncSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { SystemClock } from '#libs/clock';
import { migrate } from '#libs/database';
import { EmbeddedServers } from '#libs/embedded';
import { migrations } from '#migrations';
import { median } from '../statistics.ts';

export const PROFILES = 1_000;
const silent = (): void => undefined;
const clock = new SystemClock();

/** One operation on one connection; resolves with how many commands it carried. */
export type Operation = (client: Client) => Promise<number>;

export interface Stage {
  readonly url: string;
  readonly admin: Client;
  readonly profiles: readonly string[];
  readonly fsyncMs: number;
  /** Commands per second of so many connections in a loop. */
  rate(connections: number, operation: Operation): Promise<number>;
  close(): Promise<void>;
}

export async function openStage(options: { connectionsMax: number; roundMs: number }): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-bench-'));
  const servers = new EmbeddedServers(folder, clock, { progress: silent, died: silent, failed: silent });
  const url = await servers.startPostgres();
  await migrate({ url, applicationName: 'bench', connectTimeoutMs: 10_000 }, migrations);
  const superuser = new URL(url);
  superuser.username = 'postgres';
  superuser.password = readFileSync(join(folder, 'postgres', 'superuser-password'), 'utf8').trim();
  const admin = await connect(superuser.href);
  const profiles = await prepare(admin);
  const clients: Client[] = [];
  for (let index = 0; index < options.connectionsMax; index += 1) {
    clients.push(await connect(url, '-c role=flotilla_app'));
  }
  return {
    url,
    admin,
    profiles,
    fsyncMs: measureFsync(join(folder, 'fsync')),
    rate: (connections, operation) => rate(clients.slice(0, connections), operation, options.roundMs),
    async close() {
      await Promise.all([...clients, admin].map((client) => client.end()));
      await servers.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function connect(connectionString: string, options?: string): Promise<Client> {
  const client = new Client({ connectionString, ...(options === undefined ? {} : { options }) });
  await client.connect();
  return client;
}

async function prepare(admin: Client): Promise<string[]> {
  await admin.query(`
    create table bare (id int primary key, value numeric not null default 0) with (fillfactor = 50);
    insert into bare (id) select generate_series(1, ${PROFILES});
    create function bare_update(p_id int) returns numeric language plpgsql as $$
    begin update bare set value = value + 1 where id = p_id; return 1; end $$;
    grant select, update on bare to flotilla_app;
    grant execute on function bare_update to flotilla_app;
  `);
  const profiles = await addProfiles(admin, PROFILES);
  await admin.query('vacuum analyze bare, profiles, capital_ledger, ledger_entries');
  return profiles;
}

/** Each with more capital than a bench can spend. */
export async function addProfiles(admin: Client, count: number): Promise<string[]> {
  const profiles = Array.from({ length: count }, () => randomUUID());
  await admin.query(`insert into profiles (profile_id, name, owner_id) select unnest($1::uuid[]), 'bench', 'bench'`, [
    profiles,
  ]);
  await admin.query('select fn_ledger_open(id) from unnest($1::uuid[]) id', [profiles]);
  await admin.query(
    `select fn_ledger_deposit(id, 'opening', 1000000000000::numeric, 'bench') from unnest($1::uuid[]) id`,
    [profiles],
  );
  return profiles;
}

async function rate(clients: readonly Client[], operation: Operation, roundMs: number): Promise<number> {
  const startedAt = clock.monotonic();
  const counts = await Promise.all(
    clients.map(async (client) => {
      let commands = 0;
      while (clock.monotonic() - startedAt < roundMs) commands += await operation(client);
      return commands;
    }),
  );
  return (1_000 * counts.reduce((sum, count) => sum + count, 0)) / (clock.monotonic() - startedAt);
}

/** Median of a page written and synced, where the database writes its log. */
function measureFsync(path: string): number {
  const file = openSync(path, 'w');
  const page = Buffer.alloc(8192);
  const times = Array.from({ length: 101 }, () => {
    const startedAt = clock.monotonic();
    writeSync(file, page);
    fdatasyncSync(file);
    return clock.monotonic() - startedAt;
  });
  closeSync(file);
  return median(times);
}
