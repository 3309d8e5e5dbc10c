import { randomBytes } from 'node:crypto';
import { Client, type QueryResult } from 'pg';
import { inject } from 'vitest';

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
