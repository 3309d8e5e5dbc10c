import { Client } from 'pg';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import {
  definerFunctionsFor,
  functionsOpenToPublic,
  functionsWithoutSearchPath,
  notOwned,
  rightsOf,
  strangers,
  tablesWithoutRowSecurity,
  viewsOverTables,
} from './harness/catalogue.js';
import { createTestDatabase, withDatabase } from './harness/database.js';

async function setup() {
  const { name } = await createTestDatabase();
  const client = new Client({ connectionString: withDatabase(inject('superuserUrl'), name) });
  await client.connect();
  onTestFinished(() => client.end());
  /** As a migration would that forgets a rule. */
  const asOwner = async (sql: string) => {
    await client.query('set role flotilla_owner');
    await client.query(sql);
    await client.query('reset role');
  };
  return { client, name, asOwner };
}

describe('tables', () => {
  it('that carry a profile have row security, forced, and a policy for each role', async () => {
    const { client, asOwner } = await setup();
    expect(await tablesWithoutRowSecurity(client)).toEqual([]);
    await asOwner(`
      create table forgotten (profile_id uuid);
      create table unforced (profile_id uuid);
      alter table unforced enable row level security;
      create table half (profile_id uuid);
      alter table half enable row level security;
      alter table half force row level security;
      create policy owner_works on half to flotilla_owner using (true);
      create policy service_sees_all on half to flotilla_app using (true);
      create policy for_everybody on half using (true);`);
    expect(await tablesWithoutRowSecurity(client)).toEqual([
      'forgotten: row security',
      'half: policy of flotilla_tenant',
      'unforced: row security',
    ]);
  });

  it('are not read through views, which would go around row security', async () => {
    const { client, asOwner } = await setup();
    expect(await viewsOverTables(client)).toEqual([]);
    await asOwner('create view peek as select * from capital_ledger');
    expect(await viewsOverTables(client)).toEqual(['peek']);
  });

  it('of the ledger and the locks are written by nobody but their functions', async () => {
    const { client, asOwner } = await setup();
    const closed = ['capital_ledger', 'ledger_entries', 'reservations', 'entry_locks', 'reconciliation_locks'];
    const written = async (role: string) =>
      (await rightsOf(client, role)).filter((right) => closed.some((table) => right.startsWith(`${table}:`)));
    expect(await written('flotilla_app')).toEqual([]);
    expect(await written('flotilla_tenant')).toEqual([]);
    await asOwner(`
      grant update (token) on entry_locks to flotilla_app;
      grant insert, truncate on ledger_entries to flotilla_app;
      grant delete on reservations to flotilla_tenant;`);
    expect(await written('flotilla_app')).toEqual([
      'entry_locks: UPDATE',
      'ledger_entries: INSERT',
      'ledger_entries: TRUNCATE',
    ]);
    expect(await written('flotilla_tenant')).toEqual(['reservations: DELETE']);
  });

  it('are written by tenants only where they may', async () => {
    const { client } = await setup();
    expect(await rightsOf(client, 'flotilla_tenant')).toEqual([
      'audit_log: INSERT',
      'profile_limits: INSERT',
      'profile_limits: UPDATE',
      'profiles: INSERT',
    ]);
  });
});

describe('functions', () => {
  it('have a pinned search path', async () => {
    const { client, asOwner } = await setup();
    expect(await functionsWithoutSearchPath(client)).toEqual([]);
    await asOwner(`
      create function fn_loose() returns int language sql return 1;
      create function fn_wrong() returns int language sql set search_path = public return 1;`);
    expect(await functionsWithoutSearchPath(client)).toEqual(['fn_loose', 'fn_wrong']);
  });

  it('are closed to everybody to whom they were not granted', async () => {
    const { client, asOwner } = await setup();
    expect(await functionsOpenToPublic(client)).toEqual([]);
    await asOwner(`
      create function fn_open() returns int language sql set search_path = pg_catalog, pg_temp return 1;
      grant execute on function fn_open to public;`);
    await client.query(`create function fn_foreign() returns int language sql return 1`);
    expect(await functionsOpenToPublic(client)).toEqual(['fn_foreign', 'fn_open']);
  });

  it("with their owner's rights are called by tenants only where they check the tenant", async () => {
    const { client, asOwner } = await setup();
    const known = ['fn_ledger_deposit', 'fn_ledger_open', 'fn_ledger_withdraw'];
    expect(await definerFunctionsFor(client, 'flotilla_tenant')).toEqual(known);
    await asOwner('grant execute on function fn_ledger_apply_batch to flotilla_tenant');
    expect(await definerFunctionsFor(client, 'flotilla_tenant')).toEqual(['fn_ledger_apply_batch', ...known]);
  });
});

describe('rights', () => {
  it('belong to our roles only, and nobody but the owner may truncate', async () => {
    const { client, name, asOwner } = await setup();
    expect(await strangers(client)).toEqual([]);
    await client.query(`create role ${name}_guest`);
    onTestFinished(() => client.query(`drop owned by ${name}_guest; drop role ${name}_guest`).then(() => undefined));
    await asOwner(`
      grant select on profiles to ${name}_guest;
      grant update (name) on profiles to ${name}_guest;
      grant select on halts to public;
      grant truncate on halts to flotilla_app;
      grant execute on function fn_ledger_verify to ${name}_guest;`);
    expect(await strangers(client)).toEqual([
      `fn_ledger_verify: EXECUTE for ${name}_guest`,
      'halts: SELECT for public',
      'halts: TRUNCATE for flotilla_app',
      `profiles: SELECT for ${name}_guest`,
      `profiles: UPDATE for ${name}_guest`,
    ]);
  });

  it('come from one owner', async () => {
    const { client } = await setup();
    expect(await notOwned(client)).toEqual([]);
    await client.query('create table alien (id int)');
    expect(await notOwned(client)).toEqual(['alien']);
  });
});
