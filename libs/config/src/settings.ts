import { integer, keyBytes, oneOf, text, trustedUrl, url, type Kind } from './kind.js';

export interface Setting<T = unknown> {
  readonly kind: Kind<T>;
  /** What an unset variable means: a text to be read like any other, or nothing. */
  readonly default: string | undefined;
  /** For a setting without a default: what happens when it is not set. */
  readonly whenUnset?: string;
  readonly meaning: string;
  /** A secret's value is never repeated, neither in an error nor in a log. */
  readonly secret?: true;
}

const HOUR_MS = 3_600_000;
const GIB = 2 ** 30;

/** Every variable that Flotilla reads. Times are in milliseconds and sizes in bytes, as the names say. */
export const settings = {
  PORT: {
    kind: integer({ min: 0, max: 65_535 }),
    default: '3001',
    meaning: 'port of the orchestrator; 0 takes a free one',
  },
  HOST: {
    kind: text('an IP address or host name', /^[A-Za-z0-9.:_-]+$/),
    default: '127.0.0.1',
    meaning: 'address that the orchestrator listens on; 0.0.0.0 opens it to the network',
  },
  DATA_DIR: {
    kind: text('a path', /^[^\0]+$/),
    default: '.data',
    meaning: 'folder of the private servers, the admin token and the stores of the workers',
  },
  DATABASE_URL: {
    kind: url('postgres://user:password@host:5432/flotilla', ['postgres:', 'postgresql:']),
    default: undefined,
    whenUnset: 'a private Postgres under `DATA_DIR`',
    meaning: 'Postgres to use instead of the private one',
    secret: true,
  },
  DATABASE_POOL_SIZE: {
    kind: integer({ min: 1, max: 200 }),
    default: '10',
    meaning: 'connections that one process keeps to Postgres at most',
  },
  DATABASE_CONNECT_TIMEOUT_MS: {
    kind: integer({ min: 1, max: HOUR_MS }),
    default: '5000',
    meaning: 'time allowed for a connection to Postgres',
  },
  DATABASE_STATEMENT_TIMEOUT_MS: {
    kind: integer({ min: 1, max: HOUR_MS }),
    default: '30000',
    meaning: 'time allowed for one SQL statement',
  },
  DATABASE_LOCK_TIMEOUT_MS: {
    kind: integer({ min: 1, max: HOUR_MS }),
    default: '5000',
    meaning: 'time allowed for waiting on a lock inside Postgres',
  },
  REDIS_URL: {
    kind: url('redis://:password@host:6379', ['redis:', 'rediss:']),
    default: undefined,
    whenUnset: 'a private Redis under `DATA_DIR`',
    meaning: 'Redis to use instead of the private one',
    secret: true,
  },
  ADMIN_TOKEN: {
    kind: text('printable characters without blanks', /^[\x21-\x7e]+$/),
    default: undefined,
    whenUnset: 'generated into `DATA_DIR/admin-token`',
    meaning: 'bearer token that opens every route under `/api`',
    secret: true,
  },
  JWT_SECRET: {
    kind: keyBytes(32),
    default: undefined,
    whenUnset: 'no tenant can enter, unless `JWKS_URL` is set',
    meaning: "key that signs tenants' tokens with HS256",
    secret: true,
  },
  JWKS_URL: {
    kind: trustedUrl('https://login.example.com/.well-known/jwks.json'),
    default: undefined,
    whenUnset: 'no tenant can enter, unless `JWT_SECRET` is set',
    meaning: "set of public keys that tenants' tokens are signed with: RS256, PS256, ES256 or EdDSA",
  },
  JWT_ISSUER: {
    kind: text('printable characters without blanks', /^[\x21-\x7e]+$/),
    default: undefined,
    whenUnset: 'not checked; needed with `JWKS_URL`',
    meaning: "what tenants' tokens must name as their issuer, `iss`",
  },
  JWT_AUDIENCE: {
    kind: text('printable characters without blanks', /^[\x21-\x7e]+$/),
    default: 'flotilla',
    meaning: "what tenants' tokens must name as their audience, `aud`",
  },
  AUTH_FAILURES_PER_MINUTE_MAX: {
    kind: integer({ min: 1, max: 100_000 }),
    default: '20',
    meaning: 'refused tokens per address and minute; further ones are answered with 429',
  },
  HTTP_BODY_BYTES_MAX: {
    kind: integer({ min: 1024, max: GIB }),
    default: '262144',
    meaning: 'largest request body',
  },
  DRAIN_MS: {
    kind: integer({ min: 0, max: HOUR_MS }),
    default: '500',
    meaning: 'on stop: time between readiness turning red and the listener closing',
  },
  SHUTDOWN_GRACE_MS: {
    kind: integer({ min: 0, max: HOUR_MS }),
    default: '30000',
    meaning: 'on stop: time allowed for work in flight',
  },
  KEY_PREFIX: {
    kind: text('letters, digits, dots and dashes', /^[A-Za-z0-9._-]{1,32}$/),
    default: 'btr',
    meaning: 'first part of every Redis key and channel',
  },
  PAIRS_FILE: {
    kind: text('a path', /^[^\0]+$/),
    default: undefined,
    whenUnset: 'pairs are managed through the API',
    meaning: 'YAML file that declares the pairs; it then rules, and the API only reads them',
  },
  VENUES_FILE: {
    kind: text('a path', /^[^\0]+$/),
    default: undefined,
    whenUnset: 'the paper venue',
    meaning: 'YAML file that declares the venues and names where their keys are; see docs/venues.md',
  },
  CLIENT_ORDER_ID_PREFIX: {
    kind: text('up to 16 letters and digits', /^[A-Za-z0-9]{1,16}$/),
    default: 'bytelyst',
    meaning: 'first part of every client order id; never change it while orders are open',
  },
  SUBMIT_TIMEOUT_MS: {
    kind: integer({ min: 10, max: HOUR_MS }),
    default: '10000',
    meaning: 'time allowed for a venue to answer a submission or a cancellation',
  },
  SUBMIT_WINDOW_MS: {
    kind: integer({ min: 10, max: HOUR_MS }),
    default: '60000',
    meaning: 'how long an order may be on its way to a venue; nothing is concluded about a younger one',
  },
  UNKNOWN_ALERT_MS: {
    kind: integer({ min: 10, max: 24 * HOUR_MS }),
    default: '300000',
    meaning: 'an intent that stays unknown for longer is told to a person',
  },
  MARKET_BUFFER_BPS: {
    kind: integer({ min: 0, max: 10_000 }),
    default: '200',
    meaning: 'hundredths of a percent reserved above the quoted price, for orders that the market prices',
  },
  FEE_BUFFER_BPS: {
    kind: integer({ min: 0, max: 10_000 }),
    default: '50',
    meaning: 'hundredths of a percent reserved for fees, and left behind at most by an exit',
  },
  VENUE_QUERY_TIMEOUT_MS: {
    kind: integer({ min: 10, max: HOUR_MS }),
    default: '10000',
    meaning: 'time allowed for a venue to answer any other request',
  },
  VENUE_BUDGET_WAIT_MS: {
    kind: integer({ min: 0, max: HOUR_MS }),
    default: '2000',
    meaning: 'longest wait for a place in the rate budget of a venue before a request is refused',
  },
  INTERVAL_SEC: {
    kind: integer({ min: 1, max: 86_400 }),
    default: undefined,
    whenUnset: "each pair's own",
    meaning: 'seconds between two cycles of a strategy, for all pairs',
  },
  TRADING_INTERVAL_MS: {
    kind: integer({ min: 10, max: 24 * HOUR_MS }),
    default: undefined,
    whenUnset: "`INTERVAL_SEC`, else each pair's own",
    meaning: 'time between two cycles of a strategy, for all pairs; wins over `INTERVAL_SEC`',
  },
  MONITOR_INTERVAL_MS: {
    kind: integer({ min: 10, max: HOUR_MS }),
    default: '10000',
    meaning: "time between two looks of a worker at its profiles' capital, trades and halts",
  },
  ORDER_SYNC_INTERVAL_MS: {
    kind: integer({ min: 10, max: HOUR_MS }),
    default: '5000',
    meaning: 'time between two polls of the orders that are not settled, and of the intents that are open',
  },
  ORCHESTRATOR_LOCK_TTL_MS: {
    kind: integer({ min: 100, max: HOUR_MS }),
    default: '30000',
    meaning: "half the life of the orchestrator's lock in Redis",
  },
  HEALTH_CHECK_INTERVAL_MS: {
    kind: integer({ min: 10, max: HOUR_MS }),
    default: '10000',
    meaning: 'time between two ticks of the fleet, each of which renews the lock',
  },
  HEARTBEAT_TIMEOUT_MS: {
    kind: integer({ min: 10, max: HOUR_MS }),
    default: '30000',
    meaning: 'half the age at which a worker without a heartbeat is killed',
  },
  WORKER_LOCK_TTL_MS: {
    kind: integer({ min: 100, max: 24 * HOUR_MS }),
    default: '900000',
    meaning: "life of a worker's lock in Redis, renewed with every heartbeat",
  },
  WORKER_HEARTBEAT_INTERVAL_MS: {
    kind: integer({ min: 10, max: HOUR_MS }),
    default: '15000',
    meaning: 'time between two heartbeats of a worker',
  },
  WORKER_HEARTBEAT_TTL_MS: {
    kind: integer({ min: 10, max: HOUR_MS }),
    default: '45000',
    meaning: 'life of a heartbeat in Redis',
  },
  WORKER_STATE_TTL_MS: {
    kind: integer({ min: 10, max: HOUR_MS }),
    default: '60000',
    meaning: "life of a worker's state in Redis",
  },
  WORKER_STARTS_MAX: {
    kind: integer({ min: 1, max: 1000 }),
    default: '4',
    meaning: 'workers that start up at the same time',
  },
  RESPAWN_BASE_MS: {
    kind: integer({ min: 0, max: HOUR_MS }),
    default: '10000',
    meaning: 'a worker that failed n times in a row is started again after this × 2^n',
  },
  RESPAWN_MAX_MS: {
    kind: integer({ min: 0, max: HOUR_MS }),
    default: '300000',
    meaning: 'longest such delay',
  },
  RESPAWN_MAX_FAILURES: {
    kind: integer({ min: 1, max: 1_000_000 }),
    default: '20',
    meaning: 'failures in a row after which a worker is given up',
  },
  PAPER_PORT: {
    kind: integer({ min: 0, max: 65_535 }),
    default: '3002',
    meaning: 'port of the paper venue; 0 takes a free one',
  },
  PAPER_SEED: {
    kind: integer({ min: 0, max: 1_000_000_000 }),
    default: '1',
    meaning: "what the paper venue's prices grow from; the same seed gives the same prices",
  },
  ENTRY_LOCK_TTL_MS: {
    kind: integer({ min: 1, max: HOUR_MS }),
    default: '30000',
    meaning: 'life of an entry lock in Postgres; whoever holds it longer has its writes refused',
  },
  RECONCILIATION_LOCK_TTL_MS: {
    kind: integer({ min: 1, max: HOUR_MS }),
    default: '30000',
    meaning: 'life of a reconciliation lock in Postgres, likewise',
  },
  RECONCILIATION_INTERVAL_MS: {
    kind: integer({ min: 10, max: HOUR_MS }),
    default: '30000',
    meaning: 'time between two sweeps of a venue, whichever worker makes them',
  },
  RECONCILIATION_SETTLE_MS: {
    kind: integer({ min: 0, max: HOUR_MS }),
    default: '10000',
    meaning: 'what moved at a venue less long ago is left to the stream and the poll, and not corrected by a sweep',
  },
  RECONCILIATION_LOOKBACK_MS: {
    kind: integer({ min: 1_000, max: 24 * HOUR_MS }),
    default: '3600000',
    meaning: 'how far back a sweep compares orders that ended, and fills',
  },
  LEDGER_VERIFY_INTERVAL_MS: {
    kind: integer({ min: 10, max: HOUR_MS }),
    default: '10000',
    meaning: 'time between two proofs of the journals that moved',
  },
  LEDGER_FULL_VERIFY_INTERVAL_MS: {
    kind: integer({ min: 10, max: 24 * HOUR_MS }),
    default: '3600000',
    meaning: 'time after which a whole journal is proved again',
  },
  EVENT_LOOP_LAG_MS_MAX: {
    kind: integer({ min: 1, max: HOUR_MS }),
    default: '1000',
    meaning: 'readiness turns red when the event loop lags by more',
  },
  DISK_FREE_BYTES_MIN: {
    kind: integer({ min: 0, max: 1024 * GIB }),
    default: '268435456',
    meaning: 'start is refused, and readiness red, when `DATA_DIR` has less space left',
  },
  LOG_LEVEL: {
    kind: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
    default: 'info',
    meaning: 'least severe message to log',
  },
  LOG_FORMAT: {
    kind: oneOf(['auto', 'json', 'pretty']),
    default: 'auto',
    meaning: 'auto is pretty on a terminal and JSON elsewhere',
  },
} as const satisfies Record<string, Setting>;

/** The reference table of the README, in Markdown. */
export function settingsTable(): string {
  const rows = Object.entries<Setting>(settings).map(([name, setting]) => {
    const unset = setting.default === undefined ? (setting.whenUnset ?? '') : `\`${setting.default}\``;
    const meaning = setting.secret ? `${setting.meaning} (secret)` : setting.meaning;
    return `| \`${name}\` | ${unset} | ${meaning} | ${setting.kind.allowed} |`;
  });
  return ['| name | default | meaning | allowed |', '| --- | --- | --- | --- |', ...rows].join('\n');
}
