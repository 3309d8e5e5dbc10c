import type { Client } from 'pg';

/** What every table and function must have. Each finder names those that lack it. */

const ROLES = ['flotilla_owner', 'flotilla_app', 'flotilla_tenant'];

async function names(client: Client, sql: string, values: unknown[] = []): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(sql, values);
  return rows.map(({ name }) => name).sort();
}

/** Tables with a profile where row security is not enabled and forced, or a role has no policy of its own. */
export function tablesWithoutRowSecurity(client: Client): Promise<string[]> {
  return names(
    client,
    `select c.relname || case when not (c.relrowsecurity and c.relforcerowsecurity) then ': row security'
            else ': policy of ' || r.role end as name
       from pg_class c
       join pg_attribute a on a.attrelid = c.oid and a.attname = 'profile_id' and not a.attisdropped
       cross join unnest($1::text[]) r(role)
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
        and (not (c.relrowsecurity and c.relforcerowsecurity)
             or not exists (select from pg_policy p where p.polrelid = c.oid
                             and p.polroles = array[(select oid from pg_roles where rolname = r.role)]))
      group by 1`,
    [ROLES],
  );
}

/** Views would be read with the rights of their owner. */
export function viewsOverTables(client: Client): Promise<string[]> {
  return names(
    client,
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('v', 'm')`,
  );
}

export function functionsWithoutSearchPath(client: Client): Promise<string[]> {
  return names(
    client,
    `select p.proname as name from pg_proc p where p.pronamespace = 'public'::regnamespace
        and not exists (select from unnest(p.proconfig) s(setting) where s.setting = 'search_path=pg_catalog, pg_temp')`,
  );
}

/** A function without a list of rights is open to everybody: that is the default of Postgres. */
export function functionsOpenToPublic(client: Client): Promise<string[]> {
  return names(
    client,
    `select p.proname as name from pg_proc p where p.pronamespace = 'public'::regnamespace
        and exists (select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) g where g.grantee = 0)`,
  );
}

export function definerFunctionsFor(client: Client, role: string): Promise<string[]> {
  return names(
    client,
    `select p.proname as name from pg_proc p where p.pronamespace = 'public'::regnamespace and p.prosecdef
        and has_function_privilege($1::text, p.oid, 'execute')`,
    [role],
  );
}

/** As "table: right", for tables and columns alike. */
export function rightsOf(client: Client, role: string): Promise<string[]> {
  return names(
    client,
    `select distinct c.relname || ': ' || x.kind as name
       from pg_class c cross join unnest('{INSERT,UPDATE,DELETE,TRUNCATE}'::text[]) x(kind)
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
        and (has_table_privilege($1::text, c.oid, x.kind)
             or x.kind in ('INSERT', 'UPDATE') and has_any_column_privilege($1::text, c.oid, x.kind))`,
    [role],
  );
}

/** Whoever holds a right on a table or function in public and is none of ours, and whoever but the owner may truncate. */
export function strangers(client: Client): Promise<string[]> {
  return names(
    client,
    `with rights as (
       select c.relname as thing, g.grantee, g.privilege_type
         from pg_class c, aclexplode(coalesce(c.relacl, acldefault('r', c.relowner))) g
        where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f')
       union all
       select c.relname, g.grantee, g.privilege_type
         from pg_attribute a join pg_class c on c.oid = a.attrelid, aclexplode(a.attacl) g
        where c.relnamespace = 'public'::regnamespace
       union all
       select p.proname, g.grantee, g.privilege_type
         from pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) g
        where p.pronamespace = 'public'::regnamespace)
     select distinct x.thing || ': ' || x.privilege_type || ' for ' || coalesce(r.rolname, 'public') as name
       from rights x left join pg_roles r on r.oid = x.grantee
      where r.rolname is null or not r.rolname = any ($1::text[])
         or x.privilege_type = 'TRUNCATE' and r.rolname <> 'flotilla_owner'`,
    [ROLES],
  );
}

/** Tables and functions that another than the owner's role owns. */
export function notOwned(client: Client): Promise<string[]> {
  return names(
    client,
    `select x.name from (
       select relname as name, relowner as owner from pg_class
        where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'S', 'v', 'm')
       union all select proname, proowner from pg_proc where pronamespace = 'public'::regnamespace) x
      where x.owner <> 'flotilla_owner'::regrole`,
  );
}
