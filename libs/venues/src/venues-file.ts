import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { parse as parseYaml } from 'yaml';
import { z } from 'zod';
import { readNamedVariable } from '#libs/config';
import { OperatorError } from '#libs/operator';
import { Secret } from './secret.js';

interface SharedSettings {
  readonly id: string;
  /** Play money: the venue's paper or sandbox side where no address says otherwise. */
  readonly paper: boolean;
  readonly key: Secret;
  readonly secret: Secret;
  /** The part of the rate budget that one process may use while Redis is away. */
  readonly fleetShare: number;
  readonly requestsPerMinute?: number;
}

export interface AlpacaSettings extends SharedSettings {
  readonly adapter: 'alpaca';
  readonly baseUrl?: string;
  readonly dataUrl?: string;
}

export interface CcxtSettings extends SharedSettings {
  readonly adapter: 'ccxt';
  readonly exchange: string;
  /** Third part of the credentials, where the exchange has one. */
  readonly password?: Secret;
  readonly ordersPer10Seconds?: number;
  readonly baseUrl?: string;
  readonly urls?: UrlTree;
}

export type VenueSettings = AlpacaSettings | CcxtSettings;

export interface UrlTree {
  readonly [section: string]: string | UrlTree;
}

/** The venues of VENUES_FILE, or the paper venue where none is configured. */
export function readVenueSettings(config: { VENUES_FILE?: string | undefined; PAPER_PORT: number }): VenueSettings[] {
  if (config.VENUES_FILE === undefined) return [paperVenueSettings(config.PAPER_PORT)];
  return parseVenues(readVenuesFile(config.VENUES_FILE), config.VENUES_FILE);
}

/** The venue that the demonstration trades on, if there is one: the paper venue, on this machine, with paper money. */
export function findDemonstrationVenue(settings: readonly VenueSettings[]): VenueSettings | undefined {
  return settings.find(
    ({ id, baseUrl }) => id === 'paper' && baseUrl !== undefined && isLoopback(new URL(baseUrl).hostname),
  );
}

/** Our own simulated venue, in either of the protocols that it speaks. */
export function paperVenueSettings(port: number, adapter: 'alpaca' | 'ccxt' = 'alpaca'): VenueSettings {
  const shared = {
    id: 'paper',
    paper: true,
    key: new Secret('paper'),
    secret: new Secret('paper-secret'),
    fleetShare: FLEET_SHARE_DEFAULT,
  };
  const origin = `http://127.0.0.1:${port}`;
  return adapter === 'alpaca'
    ? { ...shared, adapter, baseUrl: `${origin}/alpaca`, dataUrl: `${origin}/alpaca` }
    : { ...shared, adapter, exchange: 'binance', baseUrl: `${origin}/binance`, paper: false };
}

/** Reads `venues: [{ id, adapter, … }]` with the secrets it names, and tells every fault of both at once. */
export function parseVenues(yaml: string, path: string): VenueSettings[] {
  const list = VenueList.safeParse(readYaml(yaml, path));
  if (!list.success) throw faulty(path, list.error.issues.map(describeIssue));
  const faults: string[] = [];
  const venues = list.data.venues.flatMap((entry, index) => {
    const read = readEntry(entry, nameOf(entry, index));
    if (Array.isArray(read)) faults.push(...read);
    return Array.isArray(read) ? [] : [read];
  });
  faults.push(...repeated(venues));
  if (faults.length > 0) throw faulty(path, faults);
  return venues;
}

const FLEET_SHARE_DEFAULT = 0.1;

const Address = z
  .string()
  .refine(isSafeAddress, 'expected an https or wss address; plain http and ws only to 127.0.0.1');
/** With an underscore, because a key that somebody wrote here by mistake has none and must not be repeated. */
const Variable = z
  .string()
  .regex(
    /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$/,
    'expected the name of an environment variable such as ALPACA_KEY, not a value',
  );
const Path = z.string().min(1, 'expected the path of a file');
const Urls: z.ZodType<UrlTree> = z.lazy(() => z.record(z.string(), z.union([Address, Urls])));

const shared = {
  id: z.string().regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'expected small letters, digits and dashes, at most 32'),
  paper: z.boolean().default(false),
  keyEnv: Variable.optional(),
  keyFile: Path.optional(),
  secretEnv: Variable.optional(),
  secretFile: Path.optional(),
  fleetShare: z.number().gt(0).max(1).default(FLEET_SHARE_DEFAULT),
  requestsPerMinute: z.int().min(1).max(1_000_000).optional(),
  baseUrl: Address.optional(),
};

const Entry = z.discriminatedUnion('adapter', [
  z.strictObject({ ...shared, adapter: z.literal('alpaca'), dataUrl: Address.optional() }),
  z.strictObject({
    ...shared,
    adapter: z.literal('ccxt'),
    exchange: z.string().regex(/^[a-z0-9]+$/, 'expected the id of an exchange in ccxt, such as binance'),
    passwordEnv: Variable.optional(),
    passwordFile: Path.optional(),
    urls: Urls.optional(),
    ordersPer10Seconds: z.int().min(1).max(1_000_000).optional(),
  }),
]);
type Entry = z.infer<typeof Entry>;

const VenueList = z.strictObject({ venues: z.array(z.unknown()).min(1, 'expected at least one venue') });

/** The settings, or the sentences that say what is wrong with them. */
function readEntry(raw: unknown, name: string): VenueSettings | string[] {
  const parsed = Entry.safeParse(raw);
  if (!parsed.success) return parsed.error.issues.map((issue) => `venue ${name}, ${describeIssue(issue)}`);
  const entry = parsed.data;
  const faults: string[] = [];
  const read = (part: 'key' | 'secret' | 'password', isNeeded: boolean): Secret | undefined => {
    const source = sourceOf(entry, part);
    if (source.env === undefined && source.file === undefined && !isNeeded) return undefined;
    const secret = readSecret(source, part);
    if (secret instanceof Secret) return secret;
    faults.push(`venue ${name}, ${secret}`);
    return undefined;
  };
  const key = read('key', true);
  const secret = read('secret', true);
  const password = read('password', false);
  if (!key || !secret || faults.length > 0) return faults;
  return settingsOf(entry, { key, secret, ...(password && { password }) });
}

function settingsOf(entry: Entry, secrets: { key: Secret; secret: Secret; password?: Secret }): VenueSettings {
  const { id, paper, fleetShare, requestsPerMinute, baseUrl } = entry;
  const common = {
    id,
    paper,
    fleetShare,
    key: secrets.key,
    secret: secrets.secret,
    ...(requestsPerMinute !== undefined && { requestsPerMinute }),
    ...(baseUrl !== undefined && { baseUrl }),
  };
  if (entry.adapter === 'alpaca') {
    return { ...common, adapter: 'alpaca', ...(entry.dataUrl !== undefined && { dataUrl: entry.dataUrl }) };
  }
  return {
    ...common,
    adapter: 'ccxt',
    exchange: entry.exchange,
    ...(secrets.password && { password: secrets.password }),
    ...(entry.urls && { urls: entry.urls }),
    ...(entry.ordersPer10Seconds !== undefined && { ordersPer10Seconds: entry.ordersPer10Seconds }),
  };
}

interface SecretSource {
  readonly env: string | undefined;
  readonly file: string | undefined;
}

function sourceOf(entry: Entry, part: 'key' | 'secret' | 'password'): SecretSource {
  if (part === 'key') return { env: entry.keyEnv, file: entry.keyFile };
  if (part === 'secret') return { env: entry.secretEnv, file: entry.secretFile };
  return entry.adapter === 'ccxt'
    ? { env: entry.passwordEnv, file: entry.passwordFile }
    : { env: undefined, file: undefined };
}

/** The secret, or what is wrong. Neither the file nor the message ever holds the value itself. */
function readSecret({ env, file }: SecretSource, part: string): Secret | string {
  if (env !== undefined && file !== undefined) return `${part}Env and ${part}File: both are given; keep one.`;
  if (env !== undefined) {
    const value = readNamedVariable(env);
    return value === undefined
      ? `${part}Env: the variable ${env} is not set; export it, or name another.`
      : new Secret(value);
  }
  if (file === undefined) return `${part}Env: missing; name the environment variable that holds it, or a ${part}File.`;
  try {
    const value = readFileSync(file, 'utf8').trim();
    return value === '' ? `${part}File: ${file} is empty; write the value into it.` : new Secret(value);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    return `${part}File: ${file} cannot be read (${code}); correct the path or its permissions.`;
  }
}

/** Two entries of one account would each spend its whole rate budget. */
function repeated(venues: readonly VenueSettings[]): string[] {
  const seen = new Map<string, string>();
  return venues.flatMap((venue) => {
    const account = `${venue.adapter}:${venue.adapter === 'ccxt' ? venue.exchange : ''}:${venue.key.fingerprint()}`;
    const faults = [
      ...(seen.has(`id:${venue.id}`) ? [`venue ${venue.id}, id: is used twice; rename one.`] : []),
      ...(seen.has(account)
        ? [`venue ${venue.id}, key: is the key of venue ${seen.get(account)} as well; give each account one entry.`]
        : []),
    ];
    seen.set(`id:${venue.id}`, venue.id).set(account, venue.id);
    return faults;
  });
}

function isSafeAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username !== '' || password !== '') return false;
  if (protocol === 'https:' || protocol === 'wss:') return true;
  return (protocol === 'http:' || protocol === 'ws:') && isLoopback(hostname);
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || (isIP(hostname) === 4 && hostname.startsWith('127.'));
}

function nameOf(entry: unknown, index: number): string {
  const id = typeof entry === 'object' && entry !== null && 'id' in entry ? entry.id : undefined;
  return typeof id === 'string' && id !== '' ? id.slice(0, 64) : `number ${index + 1}`;
}

function describeIssue(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') return `${issue.keys.join(', ')}: no such field; see docs/venues.md.`;
  return `${issue.path.join('.') || 'file'}: ${issue.message}.`;
}

function faulty(path: string, faults: readonly string[]): OperatorError {
  return new OperatorError(`VENUES_FILE ${path} has faults:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`);
}

function readVenuesFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new OperatorError(
      `VENUES_FILE ${path} cannot be read (${String(error)}). Correct the path or its permissions.`,
      {
        cause: error,
      },
    );
  }
}

function readYaml(yaml: string, path: string): unknown {
  try {
    return parseYaml(yaml);
  } catch (error) {
    // The parser quotes the line at fault; somebody may have written a key into it.
    const place = error instanceof Error && 'linePos' in error ? JSON.stringify(error.linePos) : 'somewhere';
    throw new OperatorError(`VENUES_FILE ${path} is not YAML, at ${place}. Correct it there.`);
  }
}
