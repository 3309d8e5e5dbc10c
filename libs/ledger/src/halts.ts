import { SQLSTATE, sqlStateOf, type Tx } from '#libs/database';
import { OperatorError } from '#libs/operator';
import { UnknownProfile } from './ledger-rows.js';

export type HaltScope = 'global' | 'venue' | 'profile' | 'symbol';

/** Refuses new reservations in its scope until it is lifted. What is not said matches anything. */
export interface Halt {
  readonly haltId: string;
  readonly scope: HaltScope;
  readonly venue: string | undefined;
  readonly profileId: string | undefined;
  readonly symbol: string | undefined;
  readonly reason: string;
  readonly createdBy: string;
  readonly createdAt: Date;
}

export interface HaltRequest {
  readonly scope: HaltScope;
  readonly venue?: string | undefined;
  readonly profileId?: string | undefined;
  readonly symbol?: string | undefined;
  readonly reason: string;
  readonly createdBy: string;
}

/** A halt that says less or more than its scope would stop too much or too little. */
export class InvalidHalt extends OperatorError {
  constructor(readonly scope: HaltScope) {
    super(
      `A halt of the scope "${scope}" names ${NAMES[scope]}. Correct the scope, or what the halt names. Nothing was halted.`,
    );
  }
}

const NAMES: Record<HaltScope, string> = {
  global: 'no venue, profile or symbol',
  venue: 'a venue, and no profile or symbol',
  profile: 'a profile and perhaps a venue, and no symbol',
  symbol: 'a symbol, and perhaps a venue and a profile',
};

/** Oldest first: those that concern the profile, where one is named, or all. */
export async function listHalts(tx: Tx, filter: { profileId?: string | undefined } = {}): Promise<Halt[]> {
  const rows = await tx.query<HaltRow[]>(
    `select ${COLUMNS} from halts where $1::uuid is null or profile_id is null or profile_id = $1::uuid
      order by created_at, halt_id`,
    [filter.profileId ?? null],
  );
  return rows.map(toHalt);
}

/** Oldest first: those that refuse an entry of any of the profiles in this symbol at this venue. */
export async function listHaltsInForce(
  tx: Tx,
  of: { readonly venue: string; readonly symbol: string; readonly profiles: readonly string[] },
): Promise<Halt[]> {
  const rows = await tx.query<HaltRow[]>(
    `select ${COLUMNS} from halts
      where coalesce(venue = $1::text, true) and coalesce(symbol = lower($2::text), true)
        and (profile_id is null or profile_id = any($3::uuid[]))
      order by created_at, halt_id`,
    [of.venue, of.symbol, of.profiles],
  );
  return rows.map(toHalt);
}

/** What is halted, by whom and why, in a line. */
export function describeHalt({ venue, profileId, symbol, reason, createdBy }: Halt): string {
  const named = [
    symbol === undefined ? undefined : `symbol ${symbol}`,
    profileId === undefined ? undefined : `profile ${profileId}`,
    venue === undefined ? undefined : `venue ${venue}`,
  ].filter((name) => name !== undefined);
  return `halted: ${named.length === 0 ? 'everything' : named.join(', ')} by ${createdBy}: ${reason}`;
}

const ATTEMPTS_MAX = 5;

/** Saying the same halt twice, with the same reason, gives the first one. */
export async function createHalt(tx: Tx, request: HaltRequest): Promise<{ halt: Halt; isNew: boolean }> {
  if (scopeOf(request) !== request.scope) throw new InvalidHalt(request.scope);
  // A halt in the way may be lifted between being met and being read.
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const created = await insertHalt(tx, request);
    if (created) return { halt: created, isNew: true };
    const existing = await findSameHalt(tx, request);
    if (existing) return { halt: existing, isNew: false };
  }
  throw new Error(`The halt "${request.reason}" was lifted as often as it was created. Try again.`);
}

/** Undefined when there is no such halt, or no longer. */
export async function liftHalt(tx: Tx, haltId: string): Promise<Halt | undefined> {
  const [rows] = await tx.query<[HaltRow[], number]>(
    `delete from halts where halt_id = $1::uuid returning ${COLUMNS}`,
    [haltId],
  );
  return rows[0] && toHalt(rows[0]);
}

function scopeOf({ venue, profileId, symbol }: HaltRequest): HaltScope {
  if (symbol !== undefined) return 'symbol';
  if (profileId !== undefined) return 'profile';
  return venue === undefined ? 'global' : 'venue';
}

async function insertHalt(tx: Tx, request: HaltRequest): Promise<Halt | undefined> {
  try {
    const [row] = await tx.query<HaltRow[]>(
      `insert into halts (venue, profile_id, symbol, reason, created_by)
       values ($1::text, $2::uuid, lower($3::text), $4::text, $5::text)
       on conflict on constraint halts_are_said_once do nothing returning ${COLUMNS}`,
      [...placeOf(request), request.reason, request.createdBy],
    );
    return row && toHalt(row);
  } catch (error) {
    const isUnknown = request.profileId !== undefined && sqlStateOf(error) === SQLSTATE.foreignKeyViolation;
    throw isUnknown ? new UnknownProfile(request.profileId, error) : error;
  }
}

async function findSameHalt(tx: Tx, request: HaltRequest): Promise<Halt | undefined> {
  const [row] = await tx.query<HaltRow[]>(
    `select ${COLUMNS} from halts
      where venue is not distinct from $1::text and profile_id is not distinct from $2::uuid
        and symbol is not distinct from lower($3::text) and reason = $4::text`,
    [...placeOf(request), request.reason],
  );
  return row && toHalt(row);
}

function placeOf({ venue, profileId, symbol }: HaltRequest): (string | null)[] {
  return [venue ?? null, profileId ?? null, symbol ?? null];
}

const COLUMNS = 'halt_id, scope, venue, profile_id, symbol, reason, created_by, created_at';

interface HaltRow {
  readonly halt_id: string;
  readonly scope: HaltScope;
  readonly venue: string | null;
  readonly profile_id: string | null;
  readonly symbol: string | null;
  readonly reason: string;
  readonly created_by: string;
  readonly created_at: Date;
}

function toHalt(row: HaltRow): Halt {
  return {
    haltId: row.halt_id,
    scope: row.scope,
    venue: row.venue ?? undefined,
    profileId: row.profile_id ?? undefined,
    symbol: row.symbol ?? undefined,
    reason: row.reason,
    createdBy: row.created_by,
    createdAt: row.created_at,
  };
}
