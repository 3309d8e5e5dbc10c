import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Locks that Postgres decides. A row stays for ever and its token grows with every acquisition, so a token names one
 * holding of one lock and never comes back. Database time decides what has run out. A lock is taken in one statement:
 * whoever finds it held and alive gets no row.
 *
 * A write made under a lock asks fn_holds_entry_lock (or its sister) in its own transaction. The question keeps the row
 * locked until that transaction ends, so nobody can take the lock over between the question and the commit.
 */
export class RowLocks implements MigrationInterface {
  readonly name = 'RowLocks0000000000005';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLES);
    await runner.query(lockFunctions(ENTRY));
    await runner.query(lockFunctions(RECONCILIATION));
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward.'));
  }
}

interface LockKind {
  readonly name: string;
  readonly table: string;
  /** The arguments that name the lock, and the columns and values they stand for. */
  readonly args: string;
  readonly types: string;
  readonly columns: string;
  readonly values: string;
  readonly matches: string;
}

const ENTRY: LockKind = {
  name: 'entry',
  table: 'entry_locks',
  args: 'p_profile_id uuid, p_symbol text',
  types: 'uuid, text',
  columns: 'profile_id, symbol',
  values: 'p_profile_id, lower(p_symbol)',
  matches: 'k.profile_id = p_profile_id and k.symbol = lower(p_symbol)',
};

const RECONCILIATION: LockKind = {
  name: 'reconciliation',
  table: 'reconciliation_locks',
  args: 'p_profile_id uuid',
  types: 'uuid',
  columns: 'profile_id',
  values: 'p_profile_id',
  matches: 'k.profile_id = p_profile_id',
};

const COMMON_COLUMNS = `
    owner text not null constraint lock_owner_is_named check (owner <> ''),
    token bigint not null constraint lock_token_grows_from_one check (token >= 1),
    acquired_at timestamptz not null,
    expires_at timestamptz not null`;

const TABLES = `
  create table entry_locks (
    profile_id uuid not null references profiles,
    symbol text not null constraint lock_symbol_is_lower_case check (symbol <> '' and symbol = lower(symbol)),
    ${COMMON_COLUMNS},
    constraint entry_locks_pkey primary key (profile_id, symbol)
  ) with (fillfactor = 50);

  create table reconciliation_locks (
    profile_id uuid constraint reconciliation_locks_pkey primary key references profiles,
    ${COMMON_COLUMNS}
  ) with (fillfactor = 50);

  ${['entry_locks', 'reconciliation_locks'].map(rowSecurity).join('\n')}
`;

function rowSecurity(table: string): string {
  return `
  alter table ${table} enable row level security;
  alter table ${table} force row level security;
  create policy owner_works on ${table} to flotilla_owner using (true) with check (true);
  create policy service_sees_all on ${table} to flotilla_app using (true) with check (true);
  create policy tenant_sees_own on ${table} to flotilla_tenant
    using (profile_id in (
      select p.profile_id from public.profiles p where p.owner_id = current_setting('flotilla.tenant', true)));
  grant select on ${table} to flotilla_app;
  create trigger ${table}_keep_their_tokens before delete or truncate on ${table}
    for each statement execute function fn_refuse_change();`;
}

function lockFunctions({ name, table, args, types, columns, values, matches }: LockKind): string {
  return `
  create function fn_try_acquire_${name}_lock_row(${args}, p_owner text, p_ttl_ms integer default 30000)
  returns table (token bigint, expires_at timestamptz)
  language sql volatile security definer set search_path = pg_catalog, pg_temp as $$
    insert into public.${table} as k (${columns}, owner, token, acquired_at, expires_at)
    values (${values}, p_owner, 1, clock_timestamp(), clock_timestamp() + p_ttl_ms * interval '1 ms')
    on conflict (${columns}) do update
       set owner = excluded.owner, token = k.token + 1, acquired_at = clock_timestamp(),
           expires_at = clock_timestamp() + p_ttl_ms * interval '1 ms'
     where k.expires_at <= clock_timestamp()
    returning k.token, k.expires_at
  $$;

  create function fn_release_${name}_lock_row(${args}, p_owner text) returns boolean
  language sql volatile security definer set search_path = pg_catalog, pg_temp as $$
    with released as (
      update public.${table} k set expires_at = clock_timestamp()
       where ${matches} and k.owner = p_owner and k.expires_at > clock_timestamp()
      returning 1)
    select exists (select from released)
  $$;

  create function fn_holds_${name}_lock(${args}, p_token bigint) returns boolean
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
  begin
    perform from public.${table} k where ${matches} and k.token = p_token for share;
    -- Asked again with a clock read after the wait: another transaction may have held the row for long.
    return found and exists (
      select from public.${table} k where ${matches} and k.token = p_token and k.expires_at > clock_timestamp());
  end $$;

  revoke execute on function fn_try_acquire_${name}_lock_row(${types}, text, integer),
    fn_release_${name}_lock_row(${types}, text), fn_holds_${name}_lock(${types}, bigint) from public;
  grant execute on function fn_try_acquire_${name}_lock_row(${types}, text, integer),
    fn_release_${name}_lock_row(${types}, text), fn_holds_${name}_lock(${types}, bigint) to flotilla_app;
  `;
}
