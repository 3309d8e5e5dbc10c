import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { createTestDatabase, withDatabase } from '../../../test/harness/database.js';
import { Database, SQLSTATE, sqlStateOf } from '../index.js';

/** Leaves a row behind for each call, and counts in a row that the profile's calls share. */
const VISITS = `
  create table boats (profile_id uuid primary key, visits integer not null default 0);
  create table visits (profile_id uuid not null, word text not null, transaction xid8 not null);
  create function fn_visit(p_profile_id uuid, p_word text) returns table (word text, transaction text)
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
  begin
    if p_word = 'nobody' then return; end if;
    insert into public.boats as b (profile_id, visits) values (p_profile_id, 1)
      on conflict (profile_id) do update set visits = b.visits + 1;
    if p_word = 'refuse' then raise exception 'refused' using errcode = 'P0001'; end if;
    if p_word = 'die' then perform pg_terminate_backend(pg_backend_pid()); end if;
    insert into public.visits values (p_profile_id, p_word, pg_current_xact_id());
    return query select p_word, pg_current_xact_id()::text;
  end $$;
  grant execute on function fn_visit to flotilla_app;
`;

const VISIT = { name: 'fn_visit', types: ['uuid', 'text'], from: 'fn_visit(a.v1, a.v2)' };

interface Visit {
  readonly word: string | null;
  readonly transaction: string | null;
}

async function setup() {
  const { url, name } = await createTestDatabase();
  const superuser = async (): Promise<Client> => {
    const client = new Client({ connectionString: withDatabase(inject('superuserUrl'), name) });
    await client.connect();
    onTestFinished(() => client.end());
    return client;
  };
  const admin = await superuser();
  await admin.query(VISITS);
  const open = async () => {
    const database = await Database.open(
      {
        ...{ url, applicationName: name, poolSize: 4 },
        ...{ connectTimeoutMs: 10_000, statementTimeoutMs: 20_000, lockTimeoutMs: 20_000 },
      },
      { lost: () => undefined },
    );
    onTestFinished(() => database.close());
    return (profileId: string, word: string) => database.gather<Visit>(VISIT, [profileId, word]);
  };
  const recorded = async () =>
    (
      await admin.query<{ profile_id: string; word: string; transaction: string }>(
        'select profile_id, word, transaction::text as transaction from visits',
      )
    ).rows;
  return { admin, superuser, open, visit: await open(), recorded };
}

const profiles = (count: number): string[] => Array.from({ length: count }, () => randomUUID());

describe('calls that come at the same moment', () => {
  it('share transactions, and each gets its own answer', async () => {
    const { visit } = await setup();
    const words = Array.from({ length: 60 }, (_, index) => `word ${index} with "quotes", \\ and {braces}`);
    const visits = await Promise.all(words.map((word) => visit(randomUUID(), word)));
    expect(visits.map(({ word }) => word)).toEqual(words);
    // The first is sent at once, all that came meanwhile go together.
    expect(new Set(visits.map(({ transaction }) => transaction)).size).toBe(2);
  });

  it('never share one with another call of the same profile', async () => {
    const { visit, recorded } = await setup();
    const [one = '', two = ''] = profiles(2);
    await Promise.all([one, two, one.toUpperCase(), one, two].map((profile) => visit(profile, 'again')));
    const pairs = (await recorded()).map(({ profile_id, transaction }) => `${profile_id} ${transaction}`);
    expect([pairs.length, new Set(pairs).size]).toEqual([5, 5]);
  });

  it('are told apart from a call that gets nothing, whose row is of nulls', async () => {
    const { visit } = await setup();
    const visits = await Promise.all(['a', 'nobody', 'b', 'nobody'].map((word) => visit(randomUUID(), word)));
    expect(visits.map(({ word }) => word)).toEqual(['a', null, 'b', null]);
    expect(await visit(randomUUID(), 'nobody')).toEqual({ word: null, transaction: null });
  });

  it('do not suffer from one that Postgres refuses, and none is done twice', async () => {
    const { admin, visit, recorded } = await setup();
    const words = ['first', 'a', 'refuse', 'b', 'c'];
    const outcomes = await Promise.allSettled(words.map((word) => visit(randomUUID(), word)));
    expect(outcomes.map(({ status }) => status)).toEqual([
      ...['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
    ]);
    expect((await recorded()).map(({ word }) => word).toSorted()).toEqual(['a', 'b', 'c', 'first']);
    expect((await admin.query('select visits from boats')).rows).toEqual(Array(4).fill({ visits: 1 }));
  });

  it('are not sent again when the connection was lost: nobody knows what became of them', async () => {
    const { visit, recorded } = await setup();
    const outcomes = await Promise.allSettled(['first', 'a', 'die', 'b'].map((word) => visit(randomUUID(), word)));
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected']);
    expect((await recorded()).map(({ word }) => word)).toEqual(['first']);
    expect(await visit(randomUUID(), 'later')).toMatchObject({ word: 'later' });
  });

  it('pass by a batch that waits for the lock of another', async () => {
    const { visit, superuser } = await setup();
    const [blocked = '', free = ''] = profiles(2);
    await visit(blocked, 'opening');
    const holder = await superuser();
    await holder.query('begin');
    await holder.query('select from boats where profile_id = $1 for update', [blocked]);
    let isAnswered = false;
    const waiting = visit(blocked, 'waits').finally(() => (isAnswered = true));
    expect(await visit(free, 'passes')).toMatchObject({ word: 'passes' });
    expect(isAnswered).toBe(false);
    await holder.query('commit');
    expect(await waiting).toMatchObject({ word: 'waits' });
  });

  it('of several processes on the same profiles never stop each other', async () => {
    const { admin, open } = await setup();
    const shared = profiles(40);
    const doors = await Promise.all([open(), open(), open()]);
    const rounds = 15;
    const failures: unknown[] = [];
    await Promise.all(
      doors.map(async (visit, door) => {
        for (let round = 0; round < rounds; round += 1) {
          // Each in an order of its own.
          const order = shared.toSorted((a, b) =>
            a.slice((door * 7 + round) % 8).localeCompare(b.slice((door * 7 + round) % 8)),
          );
          const outcomes = await Promise.allSettled(order.map((profile) => visit(profile, 'shared')));
          failures.push(...outcomes.filter(({ status }) => status === 'rejected'));
        }
      }),
    );
    expect(failures).toEqual([]);
    expect((await admin.query('select visits from boats')).rows).toEqual(Array(40).fill({ visits: 3 * rounds }));
    const { rows } = await admin.query<{ deadlocks: string }>(
      'select deadlocks from pg_stat_database where datname = current_database()',
    );
    expect(rows).toEqual([{ deadlocks: '0' }]);
  });
});

describe('a call alone', () => {
  it('rejects with what Postgres said', async () => {
    const { visit } = await setup();
    const error: unknown = await visit(randomUUID(), 'refuse').catch((reason: unknown) => reason);
    expect(sqlStateOf(error)).toBe('P0001');
    expect(sqlStateOf(error)).not.toBe(SQLSTATE.lockNotAvailable);
  });
});
