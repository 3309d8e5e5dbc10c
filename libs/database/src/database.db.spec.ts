import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { asSuperuser, createTestDatabase, withDatabase } from '../../../test/harness/database.js';
import { Database, isUniqueViolation, SQLSTATE, sqlStateOf } from '../index.js';

async function setup(overrides: { poolSize?: number; statementTimeoutMs?: number; lockTimeoutMs?: number } = {}) {
  const { url, name } = await createTestDatabase();
  const adminUrl = withDatabase(inject('superuserUrl'), name);
  await asSuperuser(
    adminUrl,
    `create table boats (id int constraint boats_pkey primary key);
     grant select, insert on boats to flotilla_app;
     create table vault (id int)`,
  );
  const lost: Error[] = [];
  const database = await Database.open(
    {
      url,
      applicationName: name,
      poolSize: 2,
      connectTimeoutMs: 2_000,
      statementTimeoutMs: 5_000,
      lockTimeoutMs: 5_000,
      ...overrides,
    },
    { lost: (error) => lost.push(error) },
  );
  onTestFinished(() => database.close());
  const count = async (): Promise<number> => {
    const rows = await database.transaction((tx) =>
      tx.query<{ count: number }[]>('select count(*)::int as count from boats'),
    );
    return rows[0]?.count ?? Number.NaN;
  };
  return { database, adminUrl, name, count, lost };
}

function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('Database.transaction', () => {
  it('commits when the work resolves and returns its result', async () => {
    const { database, count } = await setup();
    const result = await database.transaction(async (tx) => {
      await tx.query('insert into boats values (1)');
      return 'done';
    });
    expect([result, await count()]).toEqual(['done', 1]);
  });

  it('keeps nothing when the work rejects', async () => {
    const { database, count } = await setup();
    const failing = database.transaction(async (tx) => {
      await tx.query('insert into boats values (1)');
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    expect(await count()).toBe(0);
  });

  it('names a unique violation by its constraint', async () => {
    const { database } = await setup();
    const error = await rejection(database.transaction((tx) => tx.query('insert into boats values (1), (1)')));
    expect(isUniqueViolation(error, 'boats_pkey')).toBe(true);
    expect(isUniqueViolation(error, 'another')).toBe(false);
    expect(sqlStateOf(new Error('not from Postgres'))).toBeUndefined();
  });
});

describe('the role of a process', () => {
  it('may do what was granted and nothing else, and cannot shed itself', async () => {
    const { database } = await setup();
    for (const sql of [
      'select * from vault',
      'create table mine (id int)',
      'delete from boats',
      'reset role; select * from vault',
    ]) {
      const error = await rejection(database.transaction((tx) => tx.query(sql)));
      expect(sqlStateOf(error), sql).toBe(SQLSTATE.insufficientPrivilege);
    }
  });
});

describe('the limits of a connection', () => {
  it('cancel a statement that takes too long', async () => {
    const { database } = await setup({ statementTimeoutMs: 50 });
    const error = await rejection(database.transaction((tx) => tx.query('select pg_sleep(30)')));
    expect(sqlStateOf(error)).toBe(SQLSTATE.queryCanceled);
  });

  it('give up waiting for a lock that another holds', async () => {
    const { database } = await setup({ lockTimeoutMs: 50 });
    const lock = 'select pg_advisory_xact_lock(1)';
    const error = await database.transaction(async (holder) => {
      await holder.query(lock);
      return rejection(database.transaction((tx) => tx.query(lock)));
    });
    expect(sqlStateOf(error)).toBe(SQLSTATE.lockNotAvailable);
  });

  it('refuse a connection beyond the pool instead of opening one', async () => {
    const { database } = await setup({ poolSize: 1 });
    await database.transaction(async () => {
      await expect(database.ping()).rejects.toThrow(/timeout/);
    });
  });
});

describe('a lost connection', () => {
  it('is reported and replaced by the next query', async () => {
    const { database, adminUrl, name, lost } = await setup();
    await database.ping();
    await asSuperuser(
      adminUrl,
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = '${name}'`,
    );
    await expect.poll(() => lost.length).toBeGreaterThan(0);
    await database.ping();
  });

  it('fails the statement that it cuts, and no later one', async () => {
    const { database } = await setup();
    for (let round = 0; round < 5; round += 1) {
      const cut = database.statement((tx) => tx.query('select pg_terminate_backend(pg_backend_pid())'));
      await expect(cut).rejects.toThrow();
      const rows = await database.statement((tx) => tx.query<{ one: number }[]>('select 1 as one'));
      expect(rows).toEqual([{ one: 1 }]);
    }
  });

  it('fails the transaction that it cuts, and no later one', async () => {
    const { database, adminUrl, count } = await setup();
    const cut = database.transaction(async (tx) => {
      const rows = await tx.query<{ pid: number }[]>('select pg_backend_pid() as pid');
      await tx.query('insert into boats values (1)');
      await asSuperuser(adminUrl, `select pg_terminate_backend(${rows[0]?.pid})`);
      await tx.query('insert into boats values (2)');
    });
    await expect(cut).rejects.toThrow();
    expect(await count()).toBe(0);
  });
});
