import { randomUUID } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Database, SQLSTATE, sqlStateOf, TENANT_ROLE, type Tx } from '#libs/database';
import { asSuperuser, createTestDatabase } from '../../../test/harness/database.js';
import {
  asPrincipal,
  asTenant,
  createProfile,
  findFirstAct,
  findProfile,
  ForeignOwner,
  listActs,
  listProfiles,
  ProfileIdTaken,
  recordAct,
} from '../index.js';

/** Every table that holds something of a profile, and whether a tenant may read its own part of it. */
const TABLES = {
  profiles: true,
  audit_log: true,
  capital_ledger: true,
  ledger_entries: true,
  reservations: true,
  profile_limits: true,
  halts: true,
  entry_intents: true,
  exit_intents: true,
  trade_lifecycle: true,
  positions: true,
  orders: true,
  fills: true,
  trade_history: true,
  reconciliation_corrections: true,
  entry_locks: false,
  reconciliation_locks: false,
} as const;
type Table = keyof typeof TABLES;
const READABLE = (Object.keys(TABLES) as Table[]).filter((table) => TABLES[table]);

async function setup() {
  const { url } = await createTestDatabase();
  const database = await Database.open(
    {
      url,
      applicationName: 'tests',
      poolSize: 2,
      connectTimeoutMs: 5_000,
      statementTimeoutMs: 10_000,
      lockTimeoutMs: 5_000,
    },
    { lost: () => undefined },
  );
  onTestFinished(() => database.close());
  return { url, database };
}

/** Two tenants, each with a profile that has a row in every table. */
async function withTwoTenants() {
  const { url, database } = await setup();
  const [alice, bob] = await database.transaction(async (tx) => [
    await fullProfile(tx, 'alice'),
    await fullProfile(tx, 'bob'),
  ]);
  const asAlice = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => asTenant(database, 'alice', work);
  return { url, database, alice: alice, bob: bob, asAlice };
}

async function fullProfile(tx: Tx, ownerId: string): Promise<string> {
  const { profile } = await createProfile(tx, { name: `of ${ownerId}`, ownerId });
  await recordAct(tx, { actor: 'admin', action: 'profile.create', profileId: profile.id, subject: 'x', detail: {} });
  const statements = [
    'select fn_ledger_open($1::uuid)',
    `select fn_ledger_deposit($1::uuid, 'opening', 1000, 'admin')`,
    `select fn_ledger_reserve($1::uuid, 'r1', gen_random_uuid(), 10, 1, 'paper', 'BTC/USD', 'admin')`,
    'insert into profile_limits (profile_id, open_positions_max) values ($1::uuid, 5)',
    `insert into halts (profile_id, reason, created_by) values ($1::uuid, 'test', 'admin')`,
    `select fn_begin_sweep_run($1::uuid, 'paper', 'admin')`,
    `select fn_record_correction($1::uuid, (fn_try_acquire_reconciliation_lock_row($1::uuid, 'me')).token,
       jsonb_build_object('id', $1, 'profileId', $1, 'venue', 'paper', 'rule', 1, 'kind', 'entry-fill', 'state', 'applied'), 3)`,
  ];
  await openTrade(tx, profile.id);
  for (const statement of statements) await tx.query(statement, [profile.id]);
  return profile.id;
}

/** A trade that is entered, filled and about to be left. */
async function openTrade(tx: Tx, profileId: string): Promise<void> {
  const [lock] = await tx.query<{ token: string }[]>(
    `select token from fn_try_acquire_entry_lock_row($1::uuid, 'ETH/USD', 'me')`,
    [profileId],
  );
  const tradeId = randomUUID();
  const report = {
    ...{ orderId: tradeId, clientOrderId: tradeId, status: 'filled', filledQuantity: '1' },
    ...{ createdAt: '2026-01-01T00:00:00Z', updatedAt: '2026-01-01T00:00:00Z' },
    fills: [{ fillId: tradeId, quantity: '1', price: '10', happenedAt: '2026-01-01T00:00:00Z' }],
  };
  const steps: [string, unknown[]][] = [
    ['select fn_ledger_open($1::uuid)', [profileId]],
    [`select fn_ledger_deposit($1::uuid, 'first', 1000, 'admin')`, [profileId]],
    [
      `select fn_begin_entry($1::uuid, $2::uuid, $3, 'manual', 's', 10, 'paper', 'ETH/USD', 'buy', 'limit', 'gtc', 1, 10,
          $2::text, 'admin')`,
      [profileId, tradeId, lock?.token],
    ],
    [`select fn_persist_entry_lifecycle($1::uuid, $2::uuid, $3, $4)`, [profileId, tradeId, lock?.token, report]],
    [
      `select fn_begin_exit($1::uuid, $2::uuid, 0, $3, 'market', 'gtc', 1, 0, null, 'x' || $2, 'admin')`,
      [profileId, tradeId, lock?.token],
    ],
  ];
  for (const [statement, parameters] of steps) await tx.query(statement, parameters);
}

async function stateOf(attempt: Promise<unknown>): Promise<string | undefined> {
  return attempt.then(
    () => 'accepted',
    (error: unknown) => sqlStateOf(error),
  );
}

const profilesIn = async (tx: Tx, table: Table): Promise<string[]> =>
  (await tx.query<{ profile_id: string }[]>(`select distinct profile_id from ${table}`)).map((row) => row.profile_id);

describe('row security', () => {
  it('is forced on every table that holds something of a profile, and no table escaped this list', async () => {
    const { url } = await setup();
    const { rows } = await asSuperuser(
      url,
      `select c.relname, c.relforcerowsecurity and c.relrowsecurity as is_forced from pg_class c
        where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
          and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'profile_id')`,
    );
    expect(new Map(rows.map(({ relname, is_forced }) => [relname, is_forced]))).toEqual(
      new Map(Object.keys(TABLES).map((table) => [table, true])),
    );
  });

  it.each(READABLE)('shows a tenant its own rows of %s, and the service all of them', async (table) => {
    const { database, asAlice, alice, bob } = await withTwoTenants();
    expect(await asAlice((tx) => profilesIn(tx, table))).toEqual([alice]);
    expect((await database.transaction((tx) => profilesIn(tx, table))).sort()).toEqual([alice, bob].sort());
  });

  it('keeps the tables of other things from a tenant altogether', async () => {
    const { url } = await setup();
    const { rows } = await asSuperuser(
      url,
      `select c.relname from pg_class c
        where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'v', 'm', 'S')
          and (has_table_privilege('${TENANT_ROLE}', c.oid, 'select, insert, update, delete, truncate'))`,
    );
    expect(rows.map(({ relname }) => relname as string).sort()).toEqual([...READABLE].sort());
  });

  it.each(READABLE)('shows nothing of %s while the transaction does not say for whom', async (table) => {
    const { database } = await withTwoTenants();
    const seen = await database.transaction(async (tx) => {
      await tx.query(`set local role ${TENANT_ROLE}`);
      return profilesIn(tx, table);
    });
    expect(seen).toEqual([]);
    expect(await asTenant(database, '', (tx) => profilesIn(tx, table))).toEqual([]);
    expect(await asTenant(database, 'nobody', (tx) => profilesIn(tx, table))).toEqual([]);
  });

  const WRITES = {
    'a profile of another': `insert into profiles (profile_id, name, owner_id) values (gen_random_uuid(), 'x', 'bob')`,
    'limits of another': 'insert into profile_limits (profile_id) values ($1::uuid)',
    'an audit record of another': `insert into audit_log (actor, action, profile_id, subject, detail) values ('a', 'a', $1::uuid, 's', '{}')`,
    'an audit record of none': `insert into audit_log (actor, action, subject, detail) values ('a', 'a', 's', '{}')`,
    'a halt': `insert into halts (profile_id, reason, created_by) values ($1::uuid, 'x', 'x')`,
    'a lifted halt': 'delete from halts where profile_id = $1::uuid',
    'a ledger row': 'update capital_ledger set allocated_capital = 1e6 where profile_id = $1::uuid',
    'an owner': `update profiles set owner_id = 'alice' where profile_id = $1::uuid`,
    'a journal': 'delete from ledger_entries where profile_id = $1::uuid',
  };

  it.each(Object.entries(WRITES))('does not let a tenant write %s', async (_what, statement) => {
    const { database, asAlice, bob } = await withTwoTenants();
    const write = (tx: Tx): Promise<unknown> => tx.query(statement, statement.includes('$1') ? [bob] : []);
    expect(await stateOf(asAlice(write))).toBe(SQLSTATE.insufficientPrivilege);
    expect(await stateOf(asTenant(database, '', write))).toBe(SQLSTATE.insufficientPrivilege);
  });

  it("does not let a tenant change another's limits", async () => {
    const { asAlice, alice, bob, database } = await withTwoTenants();
    await asAlice((tx) => tx.query('update profile_limits set open_positions_max = 9'));
    const rows = await database.transaction((tx) =>
      tx.query<{ profile_id: string; open_positions_max: number }[]>('select * from profile_limits'),
    );
    expect(new Map(rows.map((row) => [row.profile_id, row.open_positions_max]))).toEqual(
      new Map([
        [alice, 9],
        [bob, 5],
      ]),
    );
  });
});

describe('the functions', () => {
  it('that a tenant may call are these and no others', async () => {
    const { url } = await setup();
    const { rows } = await asSuperuser(
      url,
      `select p.proname from pg_proc p where p.pronamespace = 'public'::regnamespace
          and has_function_privilege('${TENANT_ROLE}', p.oid, 'execute') order by p.proname`,
    );
    expect(rows.map(({ proname }) => proname as string)).toEqual([
      'fn_ledger_deposit',
      'fn_ledger_open',
      'fn_ledger_withdraw',
    ]);
  });

  it.each(['deposit', 'withdraw'])('%s moves what is the tenant’s own, and knows no other', async (kind) => {
    const { database, asAlice, alice, bob } = await withTwoTenants();
    const move = (tx: Tx, profileId: string): Promise<{ verdict: string }[]> =>
      tx.query(`select verdict from fn_ledger_${kind}($1::uuid, 'k', 5, 'tenant:alice')`, [profileId]);
    expect(await asAlice((tx) => move(tx, alice))).toEqual([{ verdict: 'applied' }]);
    expect(await asAlice((tx) => move(tx, bob))).toEqual([{ verdict: 'unknown_profile' }]);
    expect(await asAlice((tx) => move(tx, randomUUID()))).toEqual([{ verdict: 'unknown_profile' }]);
    expect(await stateOf(asTenant(database, '', (tx) => move(tx, alice)))).toBe(SQLSTATE.insufficientPrivilege);
    const entries = await database.transaction((tx) =>
      tx.query<{ profile_id: string }[]>(`select profile_id from ledger_entries where idempotency_key = 'k'`),
    );
    expect(entries).toEqual([{ profile_id: alice }]);
  });

  it('fn_ledger_open opens no ledger of another', async () => {
    const { database, asAlice } = await withTwoTenants();
    const open = (tx: Tx, id: string): Promise<unknown> => tx.query('select fn_ledger_open($1::uuid)', [id]);
    const { profile } = await database.transaction((tx) => createProfile(tx, { name: 'second', ownerId: 'bob' }));
    expect(await stateOf(asAlice((tx) => open(tx, profile.id)))).toBe(SQLSTATE.insufficientPrivilege);
    expect(await stateOf(asTenant(database, '', (tx) => open(tx, profile.id)))).toBe(SQLSTATE.insufficientPrivilege);
    expect(await stateOf(asTenant(database, 'bob', (tx) => open(tx, profile.id)))).toBe('accepted');
  });
});

describe('a transaction for a tenant', () => {
  it('leaves nothing of the tenant on its connection, whether it ends well or not', async () => {
    const { database, asAlice, alice, bob } = await withTwoTenants();
    await asAlice(async () => undefined);
    await asAlice(() => Promise.reject(new Error('no'))).catch(() => undefined);
    // More than the pool has connections, so that each of them is seen.
    const looks = Array.from({ length: 4 }, () => database.transaction((tx) => listProfiles(tx, { limit: 10 })));
    for (const seen of await Promise.all(looks)) expect(seen.map(({ id }) => id).sort()).toEqual([alice, bob].sort());
  });

  it('takes the tenant’s name for a name, whatever it looks like', async () => {
    const { database } = await setup();
    for (const ownerId of ["'; drop table profiles; --", '%', 'alice\\', 'Zoë 💥', 'x'.repeat(200)]) {
      const principal = { kind: 'tenant', tenantId: ownerId } as const;
      const { profile } = await asPrincipal(database, principal, (tx) => createProfile(tx, { name: 'n', ownerId }));
      expect(await asTenant(database, ownerId, (tx) => listProfiles(tx, { limit: 10 }))).toEqual([profile]);
    }
  });

  it('is an ordinary one for an admin', async () => {
    const { database, alice } = await withTwoTenants();
    expect(await asPrincipal(database, { kind: 'admin' }, (tx) => findProfile(tx, alice))).toMatchObject({
      ownerId: 'alice',
    });
  });
});

describe('profiles', () => {
  it('are made once for one id, and found when the request comes again', async () => {
    const { database } = await setup();
    const wanted = { id: randomUUID(), name: 'main', ownerId: 'alice' };
    const make = () => asTenant(database, 'alice', (tx) => createProfile(tx, wanted));
    const results = await Promise.all([make(), make()]);
    expect(results.map(({ isNew }) => isNew).sort()).toEqual([false, true]);
    expect(results[0].profile).toEqual(results[1].profile);
  });

  it('are refused with the id of another one, in the same words whoever owns that', async () => {
    const { database, alice, bob, asAlice } = await withTwoTenants();
    const attempt = (id: string): Promise<unknown> =>
      asAlice((tx) => createProfile(tx, { id, name: 'mine', ownerId: 'alice' }));
    await expect(attempt(bob)).rejects.toThrow(new ProfileIdTaken(bob));
    await expect(attempt(alice)).rejects.toThrow(new ProfileIdTaken(alice));
    const own = { id: alice, name: 'of alice', ownerId: 'alice' };
    expect(await database.transaction((tx) => createProfile(tx, own))).toMatchObject({ isNew: false });
  });

  it('are made by a tenant for itself only', async () => {
    const { asAlice } = await withTwoTenants();
    await expect(asAlice((tx) => createProfile(tx, { name: 'n', ownerId: 'bob' }))).rejects.toThrow(ForeignOwner);
  });

  it('are listed page by page, each once, oldest first', async () => {
    const { database } = await setup();
    const made: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      const wanted = { name: `n${index}`, ownerId: 'alice' };
      made.push((await database.transaction((tx) => createProfile(tx, wanted))).profile.id);
    }
    const listed: string[] = [];
    for (let after: string | undefined; listed.length < 5; after = listed.at(-1)) {
      const items = await database.transaction((tx) => listProfiles(tx, { after, limit: 2 }));
      expect(items.length).toBeGreaterThan(0);
      listed.push(...items.map(({ id }) => id));
    }
    expect(listed).toEqual(made);
  });
});

describe('the audit log', () => {
  it('keeps what was done, for all or for one profile, page by page', async () => {
    const { database, alice, asAlice } = await withTwoTenants();
    const act = { actor: 'tenant:alice', action: 'limits.put', profileId: alice, subject: alice, detail: { a: '1' } };
    await asAlice((tx) => recordAct(tx, act));
    const list = (page: Parameters<typeof listActs>[1]) => database.transaction((tx) => listActs(tx, page));
    const all = await list({ limit: 10 });
    expect(all.map(({ action }) => action)).toEqual(['profile.create', 'profile.create', 'limits.put']);
    expect(await list({ limit: 10, profileId: alice })).toEqual([all[0], all[2]]);
    expect(await list({ limit: 10, after: all[1]?.id })).toEqual([all[2]]);
    expect(all[2]).toMatchObject(act);
    expect(await asAlice((tx) => findFirstAct(tx, { profileId: alice, action: 'limits.put' }))).toEqual(all[2]);
  });

  it('forgets nothing', async () => {
    const { url } = await withTwoTenants();
    for (const statement of ['delete from audit_log', `update audit_log set actor = 'x'`, 'truncate audit_log']) {
      await expect(asSuperuser(url, statement)).rejects.toThrow('append-only');
    }
  });

  it('loses the record with the act', async () => {
    const { database } = await setup();
    const act = { actor: 'admin', action: 'x.y', subject: 's', detail: {} };
    const failing = database.transaction(async (tx) => {
      await recordAct(tx, act);
      throw new Error('the act failed');
    });
    await expect(failing).rejects.toThrow('the act failed');
    expect(await database.transaction((tx) => listActs(tx, { limit: 10 }))).toEqual([]);
  });
});
