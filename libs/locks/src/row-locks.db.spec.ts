import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { Database } from '#libs/database';
import { createTestDatabase, withDatabase } from '../../../test/harness/database.js';
import {
  EntryLocks,
  pidOfToken,
  ReconciliationLocks,
  requireEntryLock,
  requireReconciliationLock,
  StaleLock,
} from '../index.js';

async function setup(options: { ttlMs?: number; lockTimeoutMs?: number } = {}) {
  const { url, name } = await createTestDatabase();
  const database = await Database.open(
    {
      ...{ url, applicationName: name, poolSize: 8, connectTimeoutMs: 10_000, statementTimeoutMs: 10_000 },
      lockTimeoutMs: options.lockTimeoutMs ?? 10_000,
    },
    { lost: () => undefined },
  );
  onTestFinished(() => database.close());
  const admin = new Client({ connectionString: withDatabase(inject('superuserUrl'), name) });
  await admin.connect();
  onTestFinished(() => admin.end());
  const profileId = randomUUID();
  await admin.query(`insert into profiles (profile_id, name, owner_id) values ($1, 'p', 'alice')`, [profileId]);
  let contended = 0;
  const lockOptions = { ttlMs: options.ttlMs ?? 30_000, contended: () => (contended += 1) };
  const entries = new EntryLocks(database, lockOptions);
  const sweeps = new ReconciliationLocks(database, lockOptions);
  /** Both kinds of locks obey the same rules. */
  const kinds = [
    {
      tryAcquire: () => entries.tryAcquire({ profileId, symbol: 'BTC/USD' }),
      release: (lock: object) => entries.release(lock as never),
      require: (token: bigint) =>
        database.transaction((tx) => requireEntryLock(tx, { profileId, symbol: 'btc/usd', token })),
      expire: () => admin.query(`update entry_locks set expires_at = clock_timestamp()`),
    },
    {
      tryAcquire: () => sweeps.tryAcquire({ profileId }),
      release: (lock: object) => sweeps.release(lock as never),
      require: (token: bigint) => database.transaction((tx) => requireReconciliationLock(tx, { profileId, token })),
      expire: () => admin.query(`update reconciliation_locks set expires_at = clock_timestamp()`),
    },
  ];
  return { database, admin, profileId, entries, sweeps, kinds, contended: () => contended };
}

describe('a row lock', () => {
  it('is given to one of many that ask at once, and the others are counted', async () => {
    const { kinds, contended } = await setup();
    for (const { tryAcquire } of kinds) {
      const before = contended();
      const winners = (await Promise.all(Array.from({ length: 20 }, tryAcquire))).filter((lock) => lock !== undefined);
      expect(winners).toHaveLength(1);
      expect(pidOfToken(winners[0]?.owner ?? '')).toBe(process.pid);
      expect(contended() - before).toBe(19);
    }
  });

  it('has a token that grows with every acquisition, after a release and after it ran out alike', async () => {
    const { kinds } = await setup();
    for (const { tryAcquire, release, expire } of kinds) {
      const first = await tryAcquire();
      expect(await release(first ?? {})).toBe(true);
      const second = await tryAcquire();
      await expire();
      const third = await tryAcquire();
      expect([first?.token, second?.token, third?.token]).toEqual([1n, 2n, 3n]);
    }
  });

  it('lives for its TTL by the clock of Postgres', async () => {
    const { kinds, admin } = await setup({ ttlMs: 45_000 });
    for (const { tryAcquire } of kinds) {
      const lock = await tryAcquire();
      const { rows } = await admin.query<{ left: number }>(
        'select extract(epoch from $1::timestamptz - clock_timestamp())::float as left',
        [lock?.expiresAt],
      );
      expect(rows[0]?.left).toBeGreaterThan(30);
      expect(rows[0]?.left).toBeLessThanOrEqual(45);
    }
  });

  it('is released by its owner only, and once', async () => {
    const { kinds } = await setup();
    for (const { tryAcquire, release, expire } of kinds) {
      const first = (await tryAcquire()) ?? {};
      expect(await release({ ...first, owner: '1-another' })).toBe(false);
      await expire();
      const second = (await tryAcquire()) ?? {};
      expect(await release(first)).toBe(false);
      expect([await release(second), await release(second)]).toEqual([true, false]);
    }
  });

  it('lets its holder write, and nobody whose lock ran out, was released, was taken over or never was', async () => {
    const { kinds } = await setup();
    for (const { tryAcquire, release, expire, require } of kinds) {
      await expect(require(1n)).rejects.toThrow(StaleLock);
      const first = await tryAcquire();
      await require(first?.token ?? 0n);
      await expect(require(2n)).rejects.toThrow(StaleLock);
      await expire();
      await expect(require(1n)).rejects.toThrow(/token 1 ran out or was taken over.*take the lock again/);
      const second = await tryAcquire();
      await expect(require(1n)).rejects.toThrow(StaleLock);
      await require(2n);
      await release(second ?? {});
      await expect(require(2n)).rejects.toThrow(StaleLock);
    }
  });

  it('does not change hands between the question and the commit, even when it runs out meanwhile', async () => {
    const { database, admin, entries, profileId } = await setup({ ttlMs: 1_500 });
    const key = { profileId, symbol: 'BTC/USD' };
    const lock = await entries.tryAcquire(key);
    const until = async (condition: string) => {
      while (!(await admin.query<{ is: boolean }>(`select ${condition} as is`)).rows[0]?.is);
    };
    const order: string[] = [];
    let successor: Promise<unknown> | undefined;
    await database.transaction(async (tx) => {
      await requireEntryLock(tx, { ...key, token: lock?.token ?? 0n });
      await until('(select expires_at <= clock_timestamp() from entry_locks)');
      successor = entries.tryAcquire(key).then((acquired) => {
        order.push('taken over');
        return acquired;
      });
      await until(
        `exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock')`,
      );
      await tx.query('select 1');
      order.push('written');
    });
    expect(await successor).toMatchObject({ token: 2n });
    expect(order).toEqual(['written', 'taken over']);
  });

  it('that is busy being written under counts as held', async () => {
    const { database, entries, profileId, contended, admin } = await setup({ lockTimeoutMs: 50 });
    const key = { profileId, symbol: 'BTC/USD' };
    const lock = await entries.tryAcquire(key);
    await database.transaction(async (tx) => {
      await requireEntryLock(tx, { ...key, token: lock?.token ?? 0n });
      expect(await entries.tryAcquire(key)).toBeUndefined();
    });
    expect(contended()).toBe(1);
    const { rows } = await admin.query('select token from entry_locks');
    expect(rows).toEqual([{ token: '1' }]);
  });

  it('is one per symbol, whatever its case, and per profile', async () => {
    const { entries, admin, profileId } = await setup();
    const other = randomUUID();
    await admin.query(`insert into profiles (profile_id, name, owner_id) values ($1, 'q', 'bob')`, [other]);
    const asked = [
      await entries.tryAcquire({ profileId, symbol: 'BTC/USD' }),
      await entries.tryAcquire({ profileId, symbol: 'btc/usd' }),
      await entries.tryAcquire({ profileId, symbol: 'ETH/USD' }),
      await entries.tryAcquire({ profileId: other, symbol: 'BTC/USD' }),
    ];
    expect(asked.map((lock) => lock !== undefined)).toEqual([true, false, true, true]);
  });

  it('never forgets its token: rows can be neither deleted nor written past the functions', async () => {
    const { kinds, admin, database } = await setup();
    for (const { tryAcquire } of kinds) await tryAcquire();
    for (const table of ['entry_locks', 'reconciliation_locks']) {
      await expect(admin.query(`delete from ${table}`)).rejects.toThrow(/append-only/);
      for (const sql of [`update ${table} set token = 1`, `delete from ${table}`, `truncate ${table}`]) {
        await expect(database.transaction((tx) => tx.query(sql))).rejects.toThrow(/permission denied/);
      }
    }
  });
});
