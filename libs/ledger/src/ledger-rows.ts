import { SQLSTATE, sqlStateOf, type Tx } from '#libs/database';
import { Decimal } from '#libs/money';
import { OperatorError } from '#libs/operator';
import type { LedgerCommand } from './command.js';

export interface Ledger {
  readonly profileId: string;
  readonly allocatedCapital: Decimal;
  readonly reservedForOrders: Decimal;
  readonly reservedForPositions: Decimal;
  readonly realizedPnl: Decimal;
  readonly availableCapital: Decimal;
  readonly openTrades: number;
  /** Of the day pnlDay (UTC), the last one on which there was any. */
  readonly pnlOfDay: Decimal;
  readonly pnlDay: string;
  readonly lastSequence: bigint;
  /** Since when less than nothing is available. */
  readonly breachedAt: Date | undefined;
}

export type Bucket = 'outside' | 'available' | 'orders' | 'positions' | 'pnl';

/** One movement of the journal. A command with several movements has several, counted by part from 0. */
export interface LedgerEntry {
  readonly profileId: string;
  readonly sequence: bigint;
  readonly command: LedgerCommand['kind'] | 'rebuild';
  readonly part: number;
  readonly source: Bucket;
  readonly target: Bucket;
  readonly amount: Decimal;
  readonly tradeId: string | undefined;
  readonly key: string;
  readonly actor: string;
  readonly happenedAt: Date;
  readonly recordedAt: Date;
}

export class UnknownProfile extends OperatorError {
  constructor(
    readonly profileId: string,
    cause: unknown,
  ) {
    super(`There is no profile ${profileId}. Create it first, or correct the id.`, { cause });
  }
}

/** Makes the ledger of a profile, with nothing in it; one that exists stays as it is. */
export async function openLedger(tx: Tx, profileId: string): Promise<void> {
  try {
    await tx.query('select fn_ledger_open($1::uuid)', [profileId]);
  } catch (error) {
    const state = sqlStateOf(error);
    const isUnknown = state === SQLSTATE.foreignKeyViolation || state === SQLSTATE.insufficientPrivilege;
    throw isUnknown ? new UnknownProfile(profileId, error) : error;
  }
}

export async function findLedger(tx: Tx, profileId: string): Promise<Ledger | undefined> {
  const [row] = await tx.query<LedgerRow[]>(
    `select profile_id, allocated_capital, reserved_for_orders, reserved_for_positions, realized_pnl,
            available_capital, open_trades, pnl_of_day, pnl_day::text as pnl_day, last_sequence, breached_at
       from capital_ledger where profile_id = $1::uuid`,
    [profileId],
  );
  return row && toLedger(row);
}

const ENTRIES_MAX = 1000;

/** The journal of a profile, oldest first, from the entry after the given sequence on. */
export async function listEntries(
  tx: Tx,
  page: { profileId: string; after?: bigint | undefined; limit: number },
): Promise<LedgerEntry[]> {
  if (!Number.isInteger(page.limit) || page.limit < 1 || page.limit > ENTRIES_MAX) {
    throw new RangeError(`Expected a limit between 1 and ${ENTRIES_MAX}, got ${page.limit}.`);
  }
  const rows = await tx.query<EntryRow[]>(
    `select profile_id, sequence, command, part, source, target, amount, trade_id, idempotency_key, actor,
            happened_at, recorded_at
       from ledger_entries where profile_id = $1::uuid and sequence > $2::bigint order by sequence limit $3::int`,
    [page.profileId, String(page.after ?? 0n), page.limit],
  );
  return rows.map(toEntry);
}

interface LedgerRow {
  readonly profile_id: string;
  readonly allocated_capital: string;
  readonly reserved_for_orders: string;
  readonly reserved_for_positions: string;
  readonly realized_pnl: string;
  readonly available_capital: string;
  readonly open_trades: number;
  readonly pnl_of_day: string;
  readonly pnl_day: string;
  readonly last_sequence: string;
  readonly breached_at: Date | null;
}

function toLedger(row: LedgerRow): Ledger {
  return {
    profileId: row.profile_id,
    allocatedCapital: Decimal.parse(row.allocated_capital),
    reservedForOrders: Decimal.parse(row.reserved_for_orders),
    reservedForPositions: Decimal.parse(row.reserved_for_positions),
    realizedPnl: Decimal.parse(row.realized_pnl),
    availableCapital: Decimal.parse(row.available_capital),
    openTrades: row.open_trades,
    pnlOfDay: Decimal.parse(row.pnl_of_day),
    pnlDay: row.pnl_day,
    lastSequence: BigInt(row.last_sequence),
    breachedAt: row.breached_at ?? undefined,
  };
}

interface EntryRow {
  readonly profile_id: string;
  readonly sequence: string;
  readonly command: LedgerEntry['command'];
  readonly part: number;
  readonly source: Bucket;
  readonly target: Bucket;
  readonly amount: string;
  readonly trade_id: string | null;
  readonly idempotency_key: string;
  readonly actor: string;
  readonly happened_at: Date;
  readonly recorded_at: Date;
}

function toEntry(row: EntryRow): LedgerEntry {
  return {
    profileId: row.profile_id,
    sequence: BigInt(row.sequence),
    command: row.command,
    part: row.part,
    source: row.source,
    target: row.target,
    amount: Decimal.parse(row.amount),
    tradeId: row.trade_id ?? undefined,
    key: row.idempotency_key,
    actor: row.actor,
    happenedAt: row.happened_at,
    recordedAt: row.recorded_at,
  };
}
