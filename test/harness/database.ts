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

/** Holds every migration of a database up, as one that takes long would, until it is let go. */
export async function holdUpMigrations(url: string): Promise<{
  whenAwaited(): Promise<unknown>;
  letGo(): Promise<unknown>;
}> {
  const client = new Client({ connectionString: withDatabase(inject('superuserUrl'), new URL(url).pathname.slice(1)) });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query(
    'begin; create table if not exists schema_migrations (id int); lock table schema_migrations in access exclusive mode',
  );
  const isAwaited = async (): Promise<boolean> => {
    const waiting = await client.query(
      'select from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))',
    );
    return waiting.rowCount !== 0;
  };
  return {
    whenAwaited: () => vi.waitUntil(isAwaited, { timeout: 60_000 }),
    letGo: () => client.query('rollback'),
  };
}
