import { randomBytes } from 'node:crypto';
import { Client, type QueryResult } from 'pg';
import { inject, onTestFinished, vi } from 'vitest';

/** A database of a test's own. Dropped with the server at the end of the run. */
export async function createTestDatabase(options: { template?: string } = {}): Promise<{ url: string; name: string }> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  const template = options.template ?? 'flotilla_template';
  await asSuperuser(inject('superuserUrl'), `create database ${name} template ${template} owner flotilla`);
  return { name, url: withDatabase(inject('databaseUrl'), name) };
}

export function withDatabase(url: string, name: string): string {
  return url.replace(/\/[^/]*$/, `/${name}`);
}

/** Runs one statement around all of the product's own ways. */
export async function asSuperuser(url: string, sql: string): Promise<QueryResult> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await client.query(sql);
  } finally {
    await client.end();
  }
}

/** Holds up every migration, as one that takes long would, also on a database that has none yet. */
export const MIGRATIONS =
  'create table if not exists schema_migrations (id int); lock table schema_migrations in access exclusive mode';
/** Holds up whoever reads which pairs there are. */
export const PAIRS = 'lock table pair_configs in access exclusive mode';

/** Locks something in a database until it is let go. */
export async function holdUp(
  url: string,
  sql: typeof MIGRATIONS | typeof PAIRS,
): Promise<{ whenAwaitedBy(application: string): Promise<unknown>; letGo(): Promise<unknown> }> {
  const at = withDatabase(inject('superuserUrl'), new URL(url).pathname.slice(1));
  const client = new Client({ connectionString: at });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query(`begin; ${sql}`);
  const isAwaitedBy = async (application: string): Promise<boolean> => {
    // On a connection of its own: one transaction sees the same activity for ever.
    const waiting = await asSuperuser(
      at,
      `select from pg_stat_activity where application_name = '${application}' and wait_event_type = 'Lock'
          and datname = current_database()`,
    );
    return waiting.rowCount !== 0;
  };
  return {
    whenAwaitedBy: (application) => vi.waitUntil(() => isAwaitedBy(application), { timeout: 60_000 }),
    letGo: () => client.query('rollback'),
  };
}
