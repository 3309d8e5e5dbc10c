import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { migrate } from '#libs/database';
import { migrations } from '#migrations';
import { createTestDatabase, withDatabase } from '../../../test/harness/database.js';
import { setupLedger } from './testing/setup.js';

const settings = { applicationName: 'tests', connectTimeoutMs: 10_000 };
const BEFORE = migrations.findIndex(({ name }) => name === 'LedgerSpeed');

/** A database of the release before, with a ledger that was used. */
async function setupOld() {
  const { url, name } = await createTestDatabase({ template: 'template0' });
  await migrate({ url, ...settings }, migrations.slice(0, BEFORE));
  const admin = new Client({ connectionString: withDatabase(inject('superuserUrl'), name) });
  await admin.connect();
  onTestFinished(() => admin.end());
  const [profileId, tradeId] = [randomUUID(), randomUUID()];
  const say = async (call: string): Promise<string> => {
    const sql = call.replaceAll('$profile', `'${profileId}'`).replaceAll('$trade', `'${tradeId}'`);
    const { rows } = await admin.query<{ verdict: string; sequence: string }>(
      `select verdict, sequence from fn_ledger_${sql}`,
    );
    return `${rows[0]?.verdict} ${rows[0]?.sequence}`;
  };
  await admin.query(`insert into profiles (profile_id, name, owner_id) values ($1, 'old', 'alice')`, [profileId]);
  await admin.query('select fn_ledger_open($1)', [profileId]);
  return { url, admin, say };
}

describe('a ledger of the release before', () => {
  it('keeps its rows, its proof and its keys, and goes on', async () => {
    const { url, admin, say } = await setupOld();
    const commands = [
      `deposit($profile, 'd', 1000, 'ops')`,
      `reserve($profile, 'r', $trade, 400, 10, 'paper', 'BTC/USD', 'ops')`,
      `release($profile, 'p', $trade, 'ops', 100)`,
      `fill($profile, 'f', $trade, 10, 290, 'ops', 0.5)`,
      `close($profile, 'c', $trade, 4, -7, 'ops')`,
    ];
    for (const command of commands) expect(await say(command)).toMatch(/^applied/);
    const rows = async () => ({
      ledger: (await admin.query('select *, available_capital from capital_ledger')).rows,
      reservations: (await admin.query('select * from reservations')).rows,
      journal: (await admin.query('select * from ledger_entries order by sequence')).rows,
    });
    const before = await rows();
    await migrate({ url, ...settings }, migrations);
    expect(await rows()).toEqual(before);
    expect((await admin.query('select problem from fn_ledger_verify()')).rows).toEqual([{ problem: null }]);
    for (const command of commands) expect(await say(command)).toMatch(/^duplicate/);
    expect(await say(`deposit($profile, 'd', 1001, 'ops')`)).toMatch(/^key_reused/);
    expect(await say(`withdraw($profile, 'w', 1, 'ops')`)).toMatch(/^applied/);
    expect((await admin.query('select problem from fn_ledger_verify()')).rows).toEqual([{ problem: null }]);
  });
});

describe('what a row must be', () => {
  it.each([
    ['reserved_is_not_negative', 'update capital_ledger set reserved_for_positions = -1'],
    ['available_is_negative_only_in_a_breach', 'update capital_ledger set allocated_capital = -1'],
    ['available_is_negative_only_in_a_breach', 'update capital_ledger set breached_at = now()'],
    ['reservation_is_not_negative', 'insert into reservations select profile_id, profile_id, 1, -1, 0, 0, 1'],
    [
      'entry_moves_an_amount_between_two_buckets',
      `insert into ledger_entries select profile_id, 1, now(), now(), 0, 'deposit', 'outside', 'available', 0, null, 0,
         'k', 'ops', ''`,
    ],
    [
      'entry_moves_an_amount_between_two_buckets',
      `insert into ledger_entries select profile_id, 1, now(), now(), 0, 'deposit', 'pnl', 'pnl', 0, null, 1, 'k',
         'ops', ''`,
    ],
  ])('%s, also for the owner of the tables', async (name, sql) => {
    const { admin, newProfile } = await setupLedger();
    await newProfile();
    await admin.query('set role flotilla_owner');
    const write = sql.startsWith('insert') ? `${sql} from capital_ledger` : sql;
    await expect(admin.query(write)).rejects.toThrow(name);
  });

  it('a ledger has a profile, and a profile stays', async () => {
    const { admin, newProfile } = await setupLedger();
    const profileId = await newProfile();
    await admin.query('set role flotilla_owner');
    await expect(admin.query('select fn_ledger_open(gen_random_uuid())')).rejects.toMatchObject({ code: '23503' });
    for (const sql of ['delete from profiles', 'update profiles set profile_id = gen_random_uuid()']) {
      await expect(admin.query(sql), sql).rejects.toThrow(/never changed or removed/);
    }
    await admin.query(`update profiles set name = 'another' where profile_id = $1`, [profileId]);
  });
});
