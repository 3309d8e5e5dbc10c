import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { Client } from 'pg';
import { expect, inject, it, onTestFinished } from 'vitest';
import { Database } from '#libs/database';
import { applyBatch, openLedger, verifyLedger, type LedgerCommand } from '#libs/ledger';
import { EntryLocks } from '#libs/locks';
import { Decimal } from '#libs/money';
import { createTestDatabase, withDatabase } from './harness/database.js';
import { Started } from './harness/process.js';

const ROUNDS = 30;
const TTL_MS = 200;
const SYMBOL = 'BTC/USD';

async function setup() {
  const { url, name } = await createTestDatabase();
  const admin = new Client({ connectionString: withDatabase(inject('superuserUrl'), name) });
  await admin.connect();
  onTestFinished(() => admin.end());
  const database = await Database.open(
    {
      ...{ url, applicationName: name, poolSize: 4 },
      ...{ connectTimeoutMs: 10_000, statementTimeoutMs: 30_000, lockTimeoutMs: 30_000 },
    },
    { lost: () => undefined },
  );
  onTestFinished(() => database.close());
  const profileId = randomUUID();
  await admin.query(`insert into profiles (profile_id, name, owner_id) values ($1, 'p', 'alice')`, [profileId]);
  const start = {
    kind: 'deposit',
    profileId,
    key: 'start',
    actor: 'tests',
    amount: Decimal.fromInteger(1000n),
  } as const;
  await database.transaction(async (tx) => {
    await openLedger(tx, profileId);
    await applyBatch(tx, [start]);
  });
  const child = spawn(process.execPath, [resolve('test/harness/entry-writer.ts'), url, profileId, SYMBOL], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const writer = new Started(child);
  onTestFinished(async () => {
    await writer.stop('SIGKILL');
  });
  await writer.says(/ready/);
  const tell = (line: string) => void child.stdin.write(`${line}\n`);
  /** Resolves once Postgres says so. */
  const until = async (condition: string) => {
    while (!(await admin.query<{ is: boolean }>(`select ${condition} as is`)).rows[0]?.is);
  };
  return { admin, database, profileId, writer, tell, until };
}

it('a writer that slept past its lock is refused by the database, whether or not it has a successor', async () => {
  const { admin, database, profileId, writer, tell, until } = await setup();
  const locks = new EntryLocks(database, { ttlMs: 60_000 });
  let written = 0;
  for (let round = 1; round <= ROUNDS; round += 1) {
    const lastToken = (round - 1) * 2;
    tell(`acquire ${TTL_MS}`);
    const token = (await writer.says(new RegExp(`acquired (${lastToken + 1})\\n`)))[1];
    writer.child.kill('SIGSTOP');
    // Told while it is stopped: the first thing that it does when it wakes.
    const tradeId = randomUUID();
    tell(`write ${tradeId} ${token}`);
    await until('(select expires_at <= clock_timestamp() from entry_locks)');

    // In two of three rounds a successor acts before the sleeper wakes; in the others nobody took the lock meanwhile.
    const successor = round % 3 > 0 ? await locks.tryAcquire({ profileId, symbol: SYMBOL }) : undefined;
    if (successor) {
      const command: LedgerCommand = {
        ...{ kind: 'reserve', profileId, key: `round-${round}`, actor: 'successor', tradeId: randomUUID() },
        ...{ amount: Decimal.fromInteger(1n), quantity: Decimal.fromInteger(1n), venue: 'paper', symbol: SYMBOL },
        lockToken: successor.token,
      };
      const [verdict] = await database.transaction((tx) => applyBatch(tx, [command]));
      expect(verdict).toMatchObject({ outcome: 'applied' });
      written += 1;
      if (round % 3 === 2) await locks.release(successor);
    }
    writer.child.kill('SIGCONT');
    expect((await writer.says(new RegExp(`wrote ${tradeId} (.*)\\n`)))[1]).toBe('refused stale_lock');
    await admin.query(`update entry_locks set expires_at = clock_timestamp(), token = ${round * 2}`);
  }
  const { rows } = await admin.query('select count(*)::int as n from reservations');
  expect(rows).toEqual([{ n: written }]);

  // The same writer with a lock that it still holds is let through: it is the token that was refused, not the writer.
  tell('acquire 600000');
  const token = (await writer.says(new RegExp(`acquired (${ROUNDS * 2 + 1})\\n`)))[1];
  const tradeId = randomUUID();
  tell(`write ${tradeId} ${token}`);
  expect((await writer.says(new RegExp(`wrote ${tradeId} (.*)\\n`)))[1]).toBe('applied ');
  expect(await database.transaction((tx) => verifyLedger(tx))).toMatchObject([{ problem: undefined }]);
});
