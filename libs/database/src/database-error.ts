import { OperatorError } from '#libs/operator';
import { SQLSTATE, sqlStateOf } from './sqlstate.js';

export class DatabaseUnavailable extends OperatorError {
  constructor(url: string, cause: unknown) {
    super(describe(new URL(url), cause), { cause });
  }
}

export class MigrationFailed extends OperatorError {}

function describe(url: URL, cause: unknown): string {
  const user = decodeURIComponent(url.username);
  const database = decodeURIComponent(url.pathname.slice(1));
  switch (sqlStateOf(cause)) {
    case SQLSTATE.invalidPassword:
    case SQLSTATE.invalidAuthorizationSpecification:
      return `Postgres at ${url.host} refuses the user "${user}" with this password. Correct DATABASE_URL.`;
    case SQLSTATE.invalidCatalogName:
      return `Postgres at ${url.host} has no database "${database}". Create it (create database "${database}" owner "${user}"), or correct DATABASE_URL.`;
    case SQLSTATE.tooManyConnections:
      return `Postgres at ${url.host} has no connection left for the user "${user}". Raise its max_connections, or lower DATABASE_POOL_SIZE.`;
    default:
      return `Postgres at ${url.host} is not usable (${messageOf(cause)}). Start it, or correct DATABASE_URL.`;
  }
}

/** Node reports a host with several addresses as a bundle of errors without a message of its own. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join(', ');
  return error instanceof Error ? error.message : String(error);
}
