import type { MigrationInterface, QueryRunner } from 'typeorm';
import { describe, expect, inject, it } from 'vitest';
import { migrations } from '#migrations';
import { asSuperuser, createTestDatabase, withDatabase } from '../../../test/harness/database.js';
import { migrate } from '../index.js';

const settings = { applicationName: 'tests', connectTimeoutMs: 10_000 };

function migration(name: string, sql: string): new () => MigrationInterface {
  return class {
    readonly name = name;
    async up(runner: QueryRunner): Promise<void> {
      await runner.query(sql);
    }
    async down(): Promise<void> {}
  };
}

const CreateBoats = migration('CreateBoats0000000000001', 'create table boats (id int primary key)');
const BreakHalfWay = migration(
  'BreakHalfWay0000000000002',
  'create table oars (id int); insert into boats values (1), (1)',
);

async function emptyDatabase(): Promise<{ url: string; adminUrl: string }> {
  const { url, name } = await createTestDatabase({ template: 'template0' });
  return { url, adminUrl: withDatabase(inject('superuserUrl'), name) };
}

async function tablesOf(adminUrl: string): Promise<string[]> {
  const sql = `select tablename as name from pg_tables where schemaname = 'public' order by 1`;
  return (await asSuperuser(adminUrl, sql)).rows.map(({ name }: { name: string }) => name);
}

describe('migrate', () => {
  it('runs each migration once, however often it is called', async () => {
    const { url } = await emptyDatabase();
    expect(await migrate({ ...settings, url }, [CreateBoats])).toEqual(['CreateBoats0000000000001']);
    expect(await migrate({ ...settings, url }, [CreateBoats])).toEqual([]);
  });

  it('lets processes that start together take turns', async () => {
    const { url, adminUrl } = await emptyDatabase();
    const runs = await Promise.all(Array.from({ length: 5 }, () => migrate({ ...settings, url }, [CreateBoats])));
    expect(runs.flat()).toEqual(['CreateBoats0000000000001']);
    expect(await tablesOf(adminUrl)).toEqual(['boats', 'schema_migrations']);
  });

  it('rolls a failing migration back whole, keeps those before it, and says which one failed', async () => {
    const { url, adminUrl } = await emptyDatabase();
    await expect(migrate({ ...settings, url }, [CreateBoats, BreakHalfWay])).rejects.toThrow(
      /BreakHalfWay0000000000002.*rolled back.*duplicate key/s,
    );
    expect(await tablesOf(adminUrl)).toEqual(['boats', 'schema_migrations']);
    const Mended = migration('BreakHalfWay0000000000002', 'create table oars (id int)');
    expect(await migrate({ ...settings, url }, [CreateBoats, Mended])).toEqual(['BreakHalfWay0000000000002']);
  });

  it('refuses a schema that a newer program made', async () => {
    const { url } = await emptyDatabase();
    await migrate({ ...settings, url }, [CreateBoats]);
    await expect(migrate({ ...settings, url }, [])).rejects.toThrow(/newer Flotilla \(CreateBoats0000000000001\)/);
  });

  it('tells a login without the right to make roles what to ask for', async () => {
    const { name } = await createTestDatabase({ template: 'template0' });
    const adminUrl = inject('superuserUrl');
    await asSuperuser(adminUrl, `create role ${name}_login login password 'x'`);
    const url = new URL(withDatabase(inject('databaseUrl'), name));
    url.username = `${name}_login`;
    url.password = 'x';
    await expect(migrate({ ...settings, url: url.href }, [CreateBoats])).rejects.toThrow(
      new RegExp(`user "${name}_login" may not set up the roles.*alter role "${name}_login" createrole`),
    );
  });

  it.each([
    ['an unreachable server', (url: URL) => (url.port = '1'), /Postgres at 127.0.0.1:1 is not usable \(.*ECONNREFUSED/],
    ['a wrong password', (url: URL) => (url.password = 'wrong'), /refuses the user "flotilla" with this password/],
    ['a missing database', (url: URL) => (url.pathname = '/nowhere'), /has no database "nowhere"\. Create it/],
  ])('explains %s in one sentence, without the password', async (_case, spoil, message) => {
    const url = new URL(inject('databaseUrl'));
    const { password } = url;
    spoil(url);
    const attempt = migrate({ ...settings, url: url.href }, []);
    await expect(attempt).rejects.toThrow(message);
    await expect(attempt).rejects.not.toThrow(new RegExp(password));
  });
});

describe('the released migrations', () => {
  it('have distinct, ascending numbers', () => {
    const names = migrations.map((Migration) => new Migration().name);
    const numbers = names.map((name) => Number(name.slice(-13)));
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  });

  it('leave a new function closed to everybody but its owner', async () => {
    const { url, name } = await createTestDatabase();
    const AddFunction = migration(
      'AddFunction0000000000999',
      'create function fn_x() returns int language sql return 1',
    );
    await migrate({ ...settings, url }, [...migrations, AddFunction]);
    const sql = `select has_function_privilege('flotilla_app', 'fn_x()', 'execute') as may`;
    expect((await asSuperuser(withDatabase(inject('superuserUrl'), name), sql)).rows).toEqual([{ may: false }]);
  });
});
