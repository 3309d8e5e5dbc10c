import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { inject, onTestFinished } from 'vitest';
import { Database, type Tx } from '#libs/database';
import { Decimal } from '#libs/money';
import { createTestDatabase, withDatabase } from '../../../../test/harness/database.js';
import { openLedger } from '../../index.js';

export const d = (text: string): Decimal => Decimal.parse(text);

/** A database of the test's own, with the ways around the product that only tests need. */
export async function setupLedger(options: { poolSize?: number } = {}) {
  const { url, name } = await createTestDatabase();
  const database = await Database.open(
    {
      url,
      applicationName: name,
      poolSize: options.poolSize ?? 4,
      connectTimeoutMs: 10_000,
      statementTimeoutMs: 60_000,
      lockTimeoutMs: 60_000,
    },
    { lost: () => undefined },
  );
  onTestFinished(() => database.close());
  const admin = new Client({ connectionString: withDatabase(inject('superuserUrl'), name) });
  await admin.connect();
  onTestFinished(() => admin.end());
  const inTx = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => database.transaction(work);
  return { url, name, database, admin, inTx, newProfile: (owner?: string) => newProfile(admin, inTx, owner) };
}

async function newProfile(admin: Client, inTx: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>, owner = 'alice') {
  const profileId = randomUUID();
  await admin.query('insert into profiles (profile_id, name, owner_id) values ($1, $2, $3)', [
    profileId,
    `profile of ${owner}`,
    owner,
  ]);
  await inTx((tx) => openLedger(tx, profileId));
  return profileId;
}

/** Everything that a command could change, to compare before and after. */
export async function snapshotOf(admin: Client) {
  const tables = ['capital_ledger', 'reservations', 'ledger_entries', 'halts', 'profile_limits', 'audit_log'];
  const rows: Record<string, unknown[]> = {};
  for (const table of tables)
    rows[table] = (await admin.query(`select k::text as row from ${table} k order by 1`)).rows;
  return rows;
}
