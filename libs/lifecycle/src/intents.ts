import { SQLSTATE, sqlStateOf, type Database, type Tx } from '#libs/database';
import type { RefusalCode } from '#libs/ledger';
import { Decimal } from '#libs/money';
import type { Side } from '#libs/venues';
import type { ReportSource, Report } from './report.js';
import { toWire } from './report.js';
import { call, type Argument, type Verdict } from './verdict.js';

/** Names an intent: an exit by its generation, an entry without one. */
export interface IntentRef {
  readonly profileId: string;
  readonly tradeId: string;
  readonly generation?: number;
}

/** An intent that the venue has neither proved nor disproved. */
export interface UndecidedIntent extends IntentRef {
  readonly venue: string;
  readonly symbol: string;
  readonly side: Side;
  readonly quantity: Decimal;
  readonly clientOrderId: string;
  readonly state: 'pending' | 'unknown';
  readonly reason?: string;
  readonly evidence: readonly Evidence[];
  readonly lookupsInVain: number;
  readonly createdAt: Date;
  /** By the clock of Postgres. */
  readonly ageMs: number;
}

/** What was asked and what came of it; the database adds when. */
export interface Evidence {
  readonly asked: 'submit' | 'lookup' | 'operator';
  readonly answer: string;
  readonly detail?: string;
  readonly at?: string;
}

export interface EntryIntent {
  readonly profileId: string;
  readonly tradeId: string;
  readonly lockToken: bigint;
  readonly strategy: string;
  readonly signalId: string;
  readonly amount: Decimal;
  readonly venue: string;
  readonly symbol: string;
  readonly side: Side;
  readonly type: string;
  readonly timeInForce: string;
  readonly quantity: Decimal;
  readonly limitPrice: Decimal | undefined;
  readonly clientOrderId: string;
  readonly actor: string;
}

export type EntryBeginning = 'begun' | 'exists' | 'active_entry' | RefusalCode;

/** Reserves and writes the intent, both or neither. The detail of a refusal is that of the ledger. */
export function beginEntry(database: Database, intent: EntryIntent): Promise<Verdict<EntryBeginning>> {
  return call(database, 'fn_begin_entry', [
    [intent.profileId, 'uuid'],
    [intent.tradeId, 'uuid'],
    [intent.lockToken, 'bigint'],
    [intent.strategy, 'text'],
    [intent.signalId, 'text'],
    [intent.amount, 'numeric'],
    [intent.venue, 'text'],
    [intent.symbol, 'text'],
    [intent.side, 'text'],
    [intent.type, 'text'],
    [intent.timeInForce, 'text'],
    [intent.quantity, 'numeric'],
    [intent.limitPrice, 'numeric'],
    [intent.clientOrderId, 'text'],
    [intent.actor, 'text'],
  ]);
}

export interface ExitIntent {
  readonly profileId: string;
  readonly tradeId: string;
  readonly generation: number;
  readonly lockToken: bigint;
  readonly type: string;
  readonly timeInForce: string;
  readonly quantity: Decimal;
  readonly leftBehind: Decimal;
  readonly limitPrice: Decimal | undefined;
  readonly clientOrderId: string;
  readonly actor: string;
}

export type ExitBeginning =
  'begun' | 'exists' | 'unknown_trade' | 'entry_working' | 'trade_ended' | 'changed_since' | 'stale_lock';

export function beginExit(database: Database, intent: ExitIntent): Promise<Verdict<ExitBeginning>> {
  return call(database, 'fn_begin_exit', [
    [intent.profileId, 'uuid'],
    [intent.tradeId, 'uuid'],
    [intent.generation, 'integer'],
    [intent.lockToken, 'bigint'],
    [intent.type, 'text'],
    [intent.timeInForce, 'text'],
    [intent.quantity, 'numeric'],
    [intent.leftBehind, 'numeric'],
    [intent.limitPrice, 'numeric'],
    [intent.clientOrderId, 'text'],
    [intent.actor, 'text'],
  ]);
}

export type Persisted = 'persisted' | 'stale_lock' | 'another_order' | 'unknown_trade';

/** The venue confirmed the order of an intent: its lifecycle, all of it or nothing, once however often it is sent. */
export function persistLifecycle(
  database: Database,
  { profileId, tradeId, generation }: IntentRef,
  proof: { readonly lockToken: bigint; readonly report: Report; readonly source: ReportSource },
): Promise<Verdict<Persisted>> {
  const kind = generation === undefined ? 'entry' : 'exit';
  return call(database, `fn_persist_${kind}_lifecycle`, [
    [profileId, 'uuid'],
    [tradeId, 'uuid'],
    ...(generation === undefined ? [] : ([[generation, 'integer']] as const)),
    [proof.lockToken, 'bigint'],
    [JSON.stringify(toWire(proof.report)), 'jsonb'],
    [proof.source, 'text'],
  ]);
}

export type Decided = 'noted' | 'rejected' | 'decided' | 'stale_lock' | 'unknown_trade';

/** The outcome stays unknown, with one more word of why. In vain: the venue was asked and knew no such order. */
export function noteEvidence(
  database: Database,
  ref: IntentRef,
  note: { readonly lockToken: bigint; readonly evidence: Evidence; readonly isInVain?: boolean },
): Promise<Verdict<Decided>> {
  return call(database, 'fn_note_evidence', [
    ...refArguments(ref),
    [note.lockToken, 'bigint'],
    [JSON.stringify(note.evidence), 'jsonb'],
    [note.isInVain ?? false, 'boolean'],
  ]);
}

/** It is proved, or decided by a person, that there is no order: the capital of an entry is given back. */
export function rejectIntent(
  database: Database | Tx,
  ref: IntentRef,
  proof: {
    readonly lockToken: bigint;
    readonly reason: string;
    readonly evidence: Evidence;
    readonly actor: string;
  },
): Promise<Verdict<Decided>> {
  return call(database, 'fn_reject_intent', [
    ...refArguments(ref),
    [proof.lockToken, 'bigint'],
    [proof.reason, 'text'],
    [JSON.stringify(proof.evidence), 'jsonb'],
    [proof.actor, 'text'],
  ]);
}

/** Says how many intents and orders of the trade are told to be cancelled that were not before. */
export async function requestCancel(tx: Tx, { profileId, tradeId }: IntentRef): Promise<number> {
  const [row] = await tx.query<{ count: number }[]>('select fn_request_cancel($1::uuid, $2::uuid) as count', [
    profileId,
    tradeId,
  ]);
  return row?.count ?? 0;
}

const COLUMNS = `profile_id, trade_id, venue, symbol, side, quantity, client_order_id, state, reason, evidence,
  lookups_in_vain, created_at, (extract(epoch from clock_timestamp() - created_at) * 1000)::bigint as age_ms`;

/** Oldest first. The cursor is the client order id of the one before it, as listed. */
export async function listUndecided(
  tx: Tx,
  scope: {
    readonly venue?: string;
    readonly symbol?: string;
    readonly after?: string | undefined;
    readonly limit: number;
  },
): Promise<UndecidedIntent[]> {
  const where = `state in ('pending', 'unknown') and ($1::text is null or venue = $1) and ($2::text is null or symbol = $2)`;
  const rows = await tx.query<IntentRow[]>(
    `select * from (
        select null::integer as generation, ${COLUMNS} from entry_intents where ${where}
        union all select generation, ${COLUMNS} from exit_intents where ${where}) i
      where $3::text is null or (i.created_at, i.client_order_id) > (
        select k.created_at, k.client_order_id
          from (select created_at, client_order_id from entry_intents
                union all select created_at, client_order_id from exit_intents) k
         where k.client_order_id = $3::text)
      order by i.created_at, i.client_order_id limit $4::integer`,
    [scope.venue ?? null, scope.symbol ?? null, scope.after ?? null, scope.limit],
  );
  return rows.map(intentOf);
}

export async function findUndecided(tx: Tx, ref: IntentRef): Promise<UndecidedIntent | undefined> {
  const { profileId, tradeId, generation } = ref;
  const of = `profile_id = $1::uuid and trade_id = $2::uuid and state in ('pending', 'unknown')`;
  const rows =
    generation === undefined
      ? await tx.query<IntentRow[]>(`select null::integer as generation, ${COLUMNS} from entry_intents where ${of}`, [
          profileId,
          tradeId,
        ])
      : await tx.query<IntentRow[]>(
          `select generation, ${COLUMNS} from exit_intents where ${of} and generation = $3::integer`,
          [profileId, tradeId, generation],
        );
  return rows[0] && intentOf(rows[0]);
}

interface IntentRow {
  readonly profile_id: string;
  readonly trade_id: string;
  readonly generation: number | null;
  readonly venue: string;
  readonly symbol: string;
  readonly side: Side;
  readonly quantity: string;
  readonly client_order_id: string;
  readonly state: 'pending' | 'unknown';
  readonly reason: string | null;
  readonly evidence: Evidence[];
  readonly lookups_in_vain: number;
  readonly created_at: Date;
  readonly age_ms: string;
}

function intentOf(row: IntentRow): UndecidedIntent {
  return {
    profileId: row.profile_id,
    tradeId: row.trade_id,
    ...(row.generation !== null && { generation: row.generation }),
    venue: row.venue,
    symbol: row.symbol,
    side: row.side,
    quantity: Decimal.parse(row.quantity),
    clientOrderId: row.client_order_id,
    state: row.state,
    ...(row.reason !== null && { reason: row.reason }),
    evidence: row.evidence,
    lookupsInVain: row.lookups_in_vain,
    createdAt: row.created_at,
    ageMs: Number(row.age_ms),
  };
}

function refArguments({ profileId, tradeId, generation }: IntentRef): Argument[] {
  return [
    [profileId, 'uuid'],
    [tradeId, 'uuid'],
    [generation, 'integer'],
  ];
}

/** Whether Postgres refused for good, so that asking again is of no use. */
export function isRefusedByPostgres(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state !== undefined && !TRANSIENT.has(state) && !/^(08|40|53|57)/.test(state);
}

const TRANSIENT: ReadonlySet<string> = new Set([SQLSTATE.lockNotAvailable]);
