/** Owns every table and function; used while migrating and at no other time. */
export const OWNER_ROLE = 'flotilla_owner';

/** What processes work as: it may do what migrations granted it, and no more. */
export const APP_ROLE = 'flotilla_app';

/** What a transaction works as on behalf of a tenant: it sees and moves what is that tenant's own. */
export const TENANT_ROLE = 'flotilla_tenant';

/**
 * Roles belong to the whole server, not to one database, so they are made here and not in a migration. Two databases
 * of one server may be set up at the same moment: whoever comes second finds the role and goes on.
 */
export const PROVIDE_ROLES_SQL = `
do $$
declare
  role_name text;
begin
  foreach role_name in array array['${OWNER_ROLE}', '${APP_ROLE}', '${TENANT_ROLE}'] loop
    if not exists (select from pg_roles where rolname = role_name) then
      begin
        execute format('create role %I nologin', role_name);
      exception when duplicate_object or unique_violation then
        null;
      end;
    end if;
    if not pg_has_role(current_user, role_name, 'set') then
      execute format('grant %I to %I with set true', role_name, current_user);
    end if;
  end loop;
end
$$;
revoke create on schema public from public;
grant create, usage on schema public to ${OWNER_ROLE};
grant usage on schema public to ${APP_ROLE}, ${TENANT_ROLE};
`;
