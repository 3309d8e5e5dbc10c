import type { DataSourceOptions, Logger } from 'typeorm';

type PostgresOptions = Extract<DataSourceOptions, { type: 'postgres' }>;

export interface ConnectionSettings {
  readonly url: string;
  readonly role: string;
  /** Shown by pg_stat_activity. */
  readonly applicationName: string;
  readonly poolSize: number;
  readonly connectTimeoutMs: number;
  readonly statementTimeoutMs: number;
  readonly lockTimeoutMs: number;
}

/** TypeORM prints to the console what it also throws; we log what we catch. */
const SILENT: Logger = {
  logQuery: () => undefined,
  logQueryError: () => undefined,
  logQuerySlow: () => undefined,
  logSchemaBuild: () => undefined,
  logMigration: () => undefined,
  log: () => undefined,
};

/** A transaction that its process forgot must not hold its locks for ever. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 60_000;
const IDLE_CONNECTION_MS = 30_000;

export function dataSourceOptions(
  settings: ConnectionSettings,
  more: Pick<PostgresOptions, 'migrations' | 'poolErrorHandler'>,
): PostgresOptions {
  return {
    type: 'postgres',
    url: settings.url,
    synchronize: false,
    migrationsRun: false,
    migrationsTableName: 'schema_migrations',
    migrationsTransactionMode: 'each',
    logger: SILENT,
    ...more,
    extra: {
      max: settings.poolSize,
      connectionTimeoutMillis: settings.connectTimeoutMs,
      idleTimeoutMillis: IDLE_CONNECTION_MS,
      statement_timeout: settings.statementTimeoutMs,
      lock_timeout: settings.lockTimeoutMs,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
      application_name: settings.applicationName,
      keepAlive: true,
      // As a start-up option the role is the session's own default: not even RESET ROLE leads back to the login.
      options: `-c role=${settings.role}`,
    },
  };
}
