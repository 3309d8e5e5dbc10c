import { Client } from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as ledger from '../index.js';
import { verifyProfile } from './proof.js';
import { setupLedger } from './testing/setup.js';
import { close, deposit, fill, reserve, withdraw } from './testing/steps.js';

async function setup() {
  const kit = await setupLedger();
  const [profileId, other] = [await kit.newProfile(), await kit.newProfile()];
  const steps = [
    ...[deposit('1000'), withdraw('100'), deposit('5'), reserve('a', '400', { quantity: '10' })],
    ...[fill('a', { quantity: '4', amount: '170' }, { fee: '1' }), close('a', { quantity: '2', pnl: '7' })],
  ];
  for (const id of [profileId, other]) {
    await kit.inTx((tx) =>
      ledger.applyBatch(
        tx,
        steps.map((step) => step(id)),
      ),
    );
  }
  const verify = async () =>
    (await kit.inTx((tx) => ledger.verifyLedger(tx)))
      .filter(({ problem }) => problem !== undefined)
      .map(({ profileId: id, problem, badSequence }) => ({ profileId: id, problem, badSequence }));
  /** Around all triggers and rules, as only who owns the machine can. */
  const tamper = async (sql: string) => {
    await kit.admin.query('set session_replication_role = replica');
    for (const statement of sql.replaceAll('$profile', `'${profileId}'`).split(';')) {
      const { rowCount } = await kit.admin.query(statement);
      expect(rowCount, 'the tampering did something').toBeGreaterThan(0);
    }
    await kit.admin.query('set session_replication_role = origin');
  };
  return { ...kit, profileId, other, verify, tamper };
}

const CHAIN = /^the chain breaks here/;
const END = /^the journal does not end where the ledger row says/;
const where = (sequence: number) => `where profile_id = $profile and sequence = ${sequence}`;

describe('the proof', () => {
  it('finds nothing wrong with what the functions wrote', async () => {
    const { verify } = await setup();
    expect(await verify()).toEqual([]);
  });

  it.each<[string, string, RegExp, bigint | undefined]>([
    ['an amount', `update ledger_entries set amount = amount + 1 ${where(3)}`, CHAIN, 3n],
    ['an amount in its last digit', `update ledger_entries set amount = amount + 1e-18 ${where(1)}`, CHAIN, 1n],
    ['an actor', `update ledger_entries set actor = 'another' ${where(2)}`, CHAIN, 2n],
    ['a key', `update ledger_entries set idempotency_key = 'another' ${where(2)}`, CHAIN, 2n],
    ['a time', `update ledger_entries set happened_at = happened_at + interval '1 us' ${where(4)}`, CHAIN, 4n],
    [
      'a time of recording',
      `update ledger_entries set recorded_at = recorded_at - interval '1 day' ${where(4)}`,
      CHAIN,
      4n,
    ],
    ['a bucket', `update ledger_entries set target = 'positions' ${where(4)}`, CHAIN, 4n],
    ['a command', `update ledger_entries set command = 'rebuild' ${where(4)}`, CHAIN, 4n],
    ['a trade', `update ledger_entries set trade_id = gen_random_uuid() ${where(5)}`, CHAIN, 5n],
    ['a part', `update ledger_entries set part = 7 ${where(6)}`, CHAIN, 6n],
    ['a fingerprint', `update ledger_entries set fingerprint = 0 ${where(2)}`, CHAIN, 2n],
    ['a hash', `update ledger_entries set hash = sha256('x') ${where(3)}`, CHAIN, 3n],
    ['the first entry away', `delete from ledger_entries ${where(1)}`, CHAIN, 2n],
    ['an entry away', `delete from ledger_entries ${where(4)}`, CHAIN, 5n],
    ['the last entry away', `delete from ledger_entries ${where(9)}`, END, 9n],
    ['the tail away', `delete from ledger_entries where profile_id = $profile and sequence > 5`, END, 6n],
    ['everything away', `delete from ledger_entries where profile_id = $profile`, END, 1n],
    [
      'two entries round',
      `update ledger_entries set sequence = 99 ${where(2)};
       update ledger_entries set sequence = 2 ${where(3)};
       update ledger_entries set sequence = 3 ${where(99)}`,
      CHAIN,
      2n,
    ],
    [
      'an entry of another profile in',
      `insert into ledger_entries select $profile, 10, happened_at, recorded_at, fingerprint, command, source, target,
         part, trade_id, amount, 'foreign', actor, hash from ledger_entries where profile_id <> $profile and sequence = 1`,
      CHAIN,
      10n,
    ],
    [
      'the allocated capital',
      `update capital_ledger set allocated_capital = allocated_capital + 1 where profile_id = $profile`,
      /^the ledger row is not the fold of its journal: the journal says allocated 905,/,
      undefined,
    ],
    [
      'the profit',
      `update capital_ledger set realized_pnl = 0 where profile_id = $profile`,
      /^the ledger row is not the fold/,
      undefined,
    ],
    ['the last hash', `update capital_ledger set last_hash = sha256('x') where profile_id = $profile`, END, 10n],
    ['the last sequence', `update capital_ledger set last_sequence = 7 where profile_id = $profile`, END, 8n],
    [
      'the count of open trades',
      `update capital_ledger set open_trades = 5 where profile_id = $profile`,
      /^open trades are 5, the journal says 1/,
      undefined,
    ],
    [
      'the profit of the day',
      `update capital_ledger set pnl_of_day = 100 where profile_id = $profile`,
      /^the profit of the day \S+ is 100, the journal says 6/,
      undefined,
    ],
    [
      'a reservation',
      `update reservations set reserved_for_positions = 0 where profile_id = $profile`,
      /^the reservation of trade \S+ is not the fold of its journal: the journal says orders 240, positions 85/,
      undefined,
    ],
    [
      'a reservation away',
      `delete from reservations where profile_id = $profile`,
      /^the reservation of trade/,
      undefined,
    ],
    [
      'a reservation in',
      `insert into reservations select $profile, gen_random_uuid(), 1, 1, 0, 0, 1`,
      /^the reservation of trade/,
      undefined,
    ],
  ])('names the first bad place when somebody takes, puts or changes %s', async (_what, sql, problem, badSequence) => {
    const { verify, tamper, profileId } = await setup();
    await tamper(sql);
    expect(await verify()).toEqual([{ profileId, problem: expect.stringMatching(problem), badSequence }]);
  });

  it('goes on from an earlier proof, and notices what came after it', async () => {
    const { inTx, profileId, tamper } = await setup();
    const first = await inTx((tx) => verifyProfile(tx, profileId));
    expect(first).toMatchObject({ sequence: 9n, problem: undefined });
    await inTx((tx) => ledger.applyBatch(tx, [deposit('3')(profileId), withdraw('1')(profileId)]));
    const second = await inTx((tx) => verifyProfile(tx, profileId, first));
    expect(second).toEqual(await inTx((tx) => verifyProfile(tx, profileId)));
    expect(second.sequence).toBe(11n);
    await tamper(`update ledger_entries set amount = amount + 1 ${where(10)}`);
    const third = await inTx((tx) => verifyProfile(tx, profileId, first));
    expect(third).toMatchObject({ problem: expect.stringMatching(CHAIN), badSequence: 10n });
  });
});

describe('the journal', () => {
  const changes = [
    'update ledger_entries set amount = 1',
    'delete from ledger_entries',
    'truncate ledger_entries',
    'delete from capital_ledger',
    'truncate capital_ledger cascade',
    'delete from reservations',
    'truncate reservations',
    'delete from audit_log',
    'update audit_log set actor = actor',
    'truncate audit_log',
  ];

  it('is closed to its owner', async () => {
    const { admin } = await setup();
    await admin.query('set role flotilla_owner');
    for (const sql of changes) await expect(admin.query(sql), sql).rejects.toThrow(/append-only/);
  });

  it('is closed to the application', async () => {
    const { inTx } = await setup();
    const more = ['update capital_ledger set allocated_capital = 1', 'insert into capital_ledger default values'];
    for (const sql of [...changes, ...more]) {
      await expect(
        inTx((tx) => tx.query(sql)),
        sql,
      ).rejects.toThrow(/permission denied/);
    }
  });
});

describe('a tenant', () => {
  async function asTenant(kit: Awaited<ReturnType<typeof setup>>, tenant: string | undefined) {
    const client = new Client({ connectionString: kit.url });
    await client.connect();
    onTestFinished(() => client.end());
    await client.query('begin');
    if (tenant !== undefined) await client.query(`select set_config('flotilla.tenant', $1, true)`, [tenant]);
    await client.query('set local role flotilla_tenant');
    return client;
  }

  it('moves its own capital, and not that of another, which it cannot tell from one that does not exist', async () => {
    const kit = await setup();
    const foreign = await kit.newProfile('bob');
    const client = await asTenant(kit, 'alice');
    const say = async (sql: string, id: string) =>
      (await client.query<{ verdict: string }>(sql, [id])).rows[0]?.verdict;
    for (const verb of ['deposit', 'withdraw']) {
      const sql = `select verdict from fn_ledger_${verb}($1, 'by-${verb}', 1, 'alice')`;
      expect(await say(sql, foreign)).toBe('unknown_profile');
      expect(await say(sql, '00000000-0000-4000-8000-000000000000')).toBe('unknown_profile');
      expect(await say(sql, kit.profileId)).toBe('applied');
    }
    const { rows } = await client.query<{ profile_id: string }>('select profile_id from capital_ledger');
    expect(rows.map((row) => row.profile_id).sort()).toEqual([kit.profileId, kit.other].sort());
    expect((await client.query('select 1 from ledger_entries where profile_id = $1', [foreign])).rowCount).toBe(0);
    await expect(client.query('select fn_ledger_open($1)', [foreign])).rejects.toThrow(/There is no profile/);
  });

  it('that says not who it is sees nothing and moves nothing', async () => {
    const kit = await setup();
    const client = await asTenant(kit, undefined);
    for (const table of ['profiles', 'capital_ledger', 'ledger_entries', 'reservations', 'halts', 'audit_log']) {
      expect((await client.query(`select 1 from ${table}`)).rowCount, table).toBe(0);
    }
    await expect(client.query(`select * from fn_ledger_deposit($1, 'k', 1, 'alice')`, [kit.profileId])).rejects.toThrow(
      /does not say for which one/,
    );
  });

  it('may call nothing else', async () => {
    const kit = await setup();
    const client = await asTenant(kit, 'alice');
    for (const call of [
      `fn_ledger_apply_batch('[]')`,
      `fn_ledger_reserve($1, 'k', $1, 1, 1, 'v', 's', 'a')`,
      `fn_ledger_release($1, 'k', $1, 'a')`,
      `fn_ledger_fill($1, 'k', $1, 1, 1, 'a')`,
      `fn_ledger_close($1, 'k', $1, 1, 1, 'a')`,
      `fn_ledger_rebuild($1, 'k', '[]', 0, 'a')`,
      `fn_ledger_verify($1)`,
      `fn_try_acquire_entry_lock_row($1, 's', 'o')`,
      `fn_tenant_may_touch($1)`,
    ]) {
      await client.query('savepoint here');
      const sql = `select from ${call.replaceAll('$1', `'${kit.profileId}'`)}`;
      await expect(client.query(sql), call).rejects.toThrow(/permission denied for function/);
      await client.query('rollback to here');
    }
  });
});
