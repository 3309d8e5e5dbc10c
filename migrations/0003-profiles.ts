import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Tenants, and who may see what. Row security is forced on every table that carries a profile: the application's role
 * sees all of them, a tenant's role sees the rows of the profiles it owns, and nothing at all while the transaction
 * does not say who the tenant is. A policy names each role, so a role without one sees nothing.
 */
export class Profiles implements MigrationInterface {
  readonly name = 'Profiles0000000000003';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(PROFILES);
    await runner.query(AUDIT_LOG);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward.'));
  }
}

const PROFILES = `
  create table profiles (
    profile_id uuid constraint profiles_pkey primary key,
    name text not null constraint profile_name_is_readable check (name ~ '[^[:space:]]' and length(name) <= 100),
    owner_id text not null constraint profile_owner_is_named check (owner_id <> '' and length(owner_id) <= 200),
    created_at timestamptz not null default now()
  );
  create index profiles_by_owner on profiles (owner_id, profile_id);

  alter table profiles enable row level security;
  alter table profiles force row level security;
  create policy owner_works on profiles to flotilla_owner using (true) with check (true);
  create policy service_sees_all on profiles to flotilla_app using (true) with check (true);
  create policy tenant_sees_own on profiles to flotilla_tenant
    using (owner_id = current_setting('flotilla.tenant', true))
    with check (owner_id = current_setting('flotilla.tenant', true));

  grant select, insert on profiles to flotilla_app, flotilla_tenant;

  -- Asked by every function that works with its owner's rights and that a tenant may call. The setting "role" still
  -- says there who called; a function's own user does not.
  create function fn_tenant_may_touch(p_profile_id uuid) returns boolean
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
  begin
    if current_setting('role') <> 'flotilla_tenant' then return true; end if;
    if coalesce(current_setting('flotilla.tenant', true), '') = '' then
      raise exception 'The transaction works for a tenant, but does not say for which one.'
        using errcode = '42501', hint = 'Set flotilla.tenant for the transaction.';
    end if;
    return exists (select from public.profiles p
                    where p.profile_id = p_profile_id and p.owner_id = current_setting('flotilla.tenant'));
  end $$;
  revoke execute on function fn_tenant_may_touch from public;
`;

const AUDIT_LOG = `
  create table audit_log (
    audit_id bigint generated always as identity constraint audit_log_pkey primary key,
    recorded_at timestamptz not null default clock_timestamp(),
    actor text not null constraint audit_actor_is_named check (actor <> ''),
    action text not null constraint audit_action_is_named check (action <> ''),
    profile_id uuid,
    subject text not null,
    detail jsonb not null constraint audit_detail_is_an_object check (jsonb_typeof(detail) = 'object')
  );
  create index audit_log_by_profile on audit_log (profile_id, audit_id);

  alter table audit_log enable row level security;
  alter table audit_log force row level security;
  create policy owner_works on audit_log to flotilla_owner using (true) with check (true);
  create policy service_sees_all on audit_log to flotilla_app using (true) with check (true);
  create policy tenant_sees_own on audit_log to flotilla_tenant
    using (profile_id in (
      select p.profile_id from public.profiles p where p.owner_id = current_setting('flotilla.tenant', true)))
    with check (actor like 'tenant:%' and profile_id in (
      select p.profile_id from public.profiles p where p.owner_id = current_setting('flotilla.tenant', true)));

  grant select, insert on audit_log to flotilla_app, flotilla_tenant;

  create function fn_refuse_change() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
  begin
    raise exception 'The table % is append-only: what was recorded is never changed or removed.', tg_table_name
      using errcode = '55000', hint = 'Record a correction instead.';
  end $$;

  revoke execute on function fn_refuse_change from public;

  create trigger audit_log_is_append_only before update or delete or truncate on audit_log
    for each statement execute function fn_refuse_change();
`;
