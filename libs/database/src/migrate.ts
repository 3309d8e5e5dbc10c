import { Client } from 'pg';
import { DataSource, type MigrationInterface } from 'typeorm';
import { dataSourceOptions, type ConnectionSettings } from './connection.js';
import { DatabaseUnavailable, messageOf, MigrationFailed } from './database-error.js';
import { APP_ROLE, OWNER_ROLE, PROVIDE_ROLES_SQL, TENANT_ROLE } from './roles.js';
import { SQLSTATE, sqlStateOf } from './sqlstate.js';

type MigrationClass = new () => MigrationInterface;

/** Any fixed number; processes that migrate the same database agree on it. */
const MIGRATION_LOCK = 7_205_759_403;
const LOCK_WAIT_MS_MAX = 300_000;
const STATEMENT_TIMEOUT_MS = 3_600_000;

/**
 * Brings the schema up to date and returns the names of the migrations that ran. Processes that start together take
 * turns; each migration is one transaction, so that one that fails leaves the schema as it was before.
 */
export async function migrate(
  settings: Pick<ConnectionSettings, 'url' | 'applicationName' | 'connectTimeoutMs'>,
  migrations: readonly MigrationClass[],
): Promise<string[]> {
  const lockHolder = await connectAsLogin(settings);
  try {
    await lockHolder.query(`set lock_timeout = ${LOCK_WAIT_MS_MAX}`);
    await lockHolder.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    await provideRoles(lockHolder);
    return await runMigrations(settings, migrations);
  } finally {
    // Ending the session frees the lock, also when the session is broken.
    await lockHolder.end().catch(() => undefined);
  }
}

async function connectAsLogin(settings: Pick<ConnectionSettings, 'url' | 'applicationName' | 'connectTimeoutMs'>) {
  const client = new Client({
    connectionString: settings.url,
    connectionTimeoutMillis: settings.connectTimeoutMs,
    application_name: `${settings.applicationName} migrations`,
  });
  try {
    await client.connect();
    return client;
  } catch (error) {
    throw new DatabaseUnavailable(settings.url, error);
  }
}

async function provideRoles(client: Client): Promise<void> {
  try {
    await client.query(PROVIDE_ROLES_SQL);
  } catch (error) {
    if (sqlStateOf(error) !== SQLSTATE.insufficientPrivilege) throw error;
    throw new MigrationFailed(
      `The user "${client.user}" may not set up the roles ${OWNER_ROLE}, ${APP_ROLE} and ${TENANT_ROLE} (${messageOf(error)}). ` +
        `Let a superuser run: alter role "${client.user}" createrole; alter database "${client.database}" owner to "${client.user}";`,
      { cause: error },
    );
  }
}

async function runMigrations(
  settings: Pick<ConnectionSettings, 'url' | 'applicationName' | 'connectTimeoutMs'>,
  migrations: readonly MigrationClass[],
): Promise<string[]> {
  const source = new DataSource(
    dataSourceOptions(
      {
        ...settings,
        applicationName: `${settings.applicationName} migrations`,
        role: OWNER_ROLE,
        poolSize: 2,
        statementTimeoutMs: STATEMENT_TIMEOUT_MS,
        lockTimeoutMs: LOCK_WAIT_MS_MAX,
      },
      { migrations: [...migrations] },
    ),
  );
  await source.initialize();
  try {
    await refuseNewerSchema(source);
    return (await source.runMigrations()).map(({ name }) => name);
  } catch (error) {
    if (error instanceof MigrationFailed) throw error;
    const [failed] = await pendingNames(source);
    throw new MigrationFailed(
      `The migration ${failed} failed and was rolled back; the schema is as it was before it (${messageOf(error)}).`,
      { cause: error },
    );
  } finally {
    await source.destroy();
  }
}

/** An older program on a newer schema could write what the newer one's rules forbid. */
async function refuseNewerSchema(source: DataSource): Promise<void> {
  const known = knownNames(source);
  const unknown = (await appliedNames(source)).filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  throw new MigrationFailed(
    `The database was migrated by a newer Flotilla (${unknown.join(', ')}). Start that version or a later one. Nothing was changed.`,
  );
}

async function pendingNames(source: DataSource): Promise<string[]> {
  const applied = await appliedNames(source);
  return knownNames(source).filter((name) => !applied.includes(name));
}

function knownNames(source: DataSource): string[] {
  return source.migrations.map((migration) => migration.name ?? migration.constructor.name);
}

async function appliedNames(source: DataSource): Promise<string[]> {
  const [table] = await source.query<{ exists: boolean }[]>(
    `select to_regclass('schema_migrations') is not null as exists`,
  );
  if (!table?.exists) return [];
  const rows = await source.query<{ name: string }[]>('select name from schema_migrations order by id');
  return rows.map(({ name }) => name);
}
