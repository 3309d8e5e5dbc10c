import type { Tx } from '#libs/database';
import { createHalt, liftHalt } from '#libs/ledger';
import { recordAct } from '#libs/tenancy';
import type { Correction, Evidence } from './correction.js';
import { RULES, type Kind } from './rules.js';

/**
 * applied: our tables say what the venue says. noted: written down, nothing to change. asked: a person decides.
 * quarantined: made too often without an end; a person decides. resolved: a person has decided.
 */
export type CorrectionState = 'applied' | 'noted' | 'asked' | 'quarantined' | 'resolved';

export interface CorrectionRecord {
  readonly correctionId: string;
  readonly runId: string;
  readonly venue: string;
  readonly profileId?: string;
  readonly tradeId?: string;
  readonly symbol?: string;
  readonly orderId?: string;
  readonly rule: number;
  readonly kind: Kind;
  readonly state: CorrectionState;
  readonly recorded: Evidence | null;
  readonly reported: Evidence | null;
  readonly times: number;
  readonly haltId?: string;
  readonly resolution?: string;
  readonly resolvedBy?: string;
  readonly foundAt: Date;
  readonly lastAt: Date;
  readonly resolvedAt?: Date;
}

/** How often a correction may be made before somebody has to look why it does not last. */
const TIMES_MAX = 3;
const ACTOR = 'reconciliation';
const FIRST_STATE = { apply: 'applied', ask: 'asked', note: 'noted' } as const;

/** In which state the corrections with these ids are, as far as there are any. */
export async function findCorrectionStates(tx: Tx, ids: readonly string[]): Promise<Map<string, CorrectionState>> {
  if (ids.length === 0) return new Map();
  const rows = await tx.query<{ correction_id: string; state: CorrectionState }[]>(
    'select correction_id, state from reconciliation_corrections where correction_id = any($1::text[])',
    [ids],
  );
  return new Map(rows.map((row) => [row.correction_id, row.state]));
}

/** Until the transaction ends, nobody else writes what concerns the whole account. */
export async function takeAccount(tx: Tx, venue: string): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(hashtextextended('reconciliation:' || $1::text, 0))`, [venue]);
}

/**
 * Under the lock of its profile, where it has one. Resolves with the state that it is in now; undefined where nothing
 * was written, because a person has been asked about it already.
 */
export async function recordCorrection(
  tx: Tx,
  runId: string,
  { lockToken, correction }: { readonly lockToken: bigint | undefined; readonly correction: Correction },
): Promise<CorrectionState | 'stale_lock' | undefined> {
  const { action, ...row } = correction;
  const [answer] = await tx.query<{ state: CorrectionState | 'stale_lock' | null }[]>(
    'select fn_record_correction($1::uuid, $2::bigint, $3::jsonb, $4::integer) as state',
    [
      runId,
      lockToken?.toString() ?? null,
      JSON.stringify({ ...row, report: undefined, state: FIRST_STATE[action] }),
      TIMES_MAX,
    ],
  );
  return answer?.state ?? undefined;
}

/** Entries of the symbol wait until a person has decided: of the profile where there is one, else at the whole venue. */
export async function haltFor(tx: Tx, correction: Correction): Promise<void> {
  const { id, venue, profileId, symbol, kind } = correction;
  const place = {
    ...(symbol !== undefined && { symbol }),
    ...(profileId !== undefined && { profileId }),
    venue,
  };
  const { halt } = await createHalt(tx, {
    ...place,
    scope: symbol !== undefined ? 'symbol' : profileId !== undefined ? 'profile' : 'venue',
    reason: `${RULES[kind].says}; look at correction ${id}`,
    createdBy: ACTOR,
  });
  await tx.query('select fn_halt_for_correction($1::text, $2::uuid)', [id, halt.haltId]);
}

/** A person has decided: the halt is lifted, and the same difference is not asked about again. Undefined: not open. */
export async function resolveCorrection(
  tx: Tx,
  { correctionId, actor, resolution }: { correctionId: string; actor: string; resolution: string },
): Promise<CorrectionRecord | undefined> {
  const [row] = await tx.query<Row[]>(`select ${COLUMNS} from fn_resolve_correction($1::text, $2::text, $3::text) c`, [
    correctionId,
    actor,
    resolution,
  ]);
  if (!row) return undefined;
  const record = recordOf(row);
  const lifted = record.haltId === undefined ? undefined : await liftHalt(tx, record.haltId);
  await recordAct(tx, {
    ...{ actor, action: 'correction.resolve', profileId: record.profileId, subject: correctionId },
    detail: { resolution, kind: record.kind, venue: record.venue, haltLifted: lifted !== undefined },
  });
  return record;
}

export interface CorrectionFilter {
  readonly venue?: string | undefined;
  readonly profileId?: string | undefined;
  readonly state?: CorrectionState | undefined;
}

/** Newest first. The cursor is the correction before, as listed. */
export async function listCorrections(
  tx: Tx,
  page: CorrectionFilter & { readonly after?: string | undefined; readonly limit: number },
): Promise<CorrectionRecord[]> {
  const rows = await tx.query<Row[]>(
    `select ${COLUMNS} from reconciliation_corrections c
      where ($1::text is null or c.venue = $1) and ($2::uuid is null or c.profile_id = $2::uuid)
        and ($3::text is null or c.state = $3) and ($4::text is null or (c.found_at, c.correction_id) < (
        select k.found_at, k.correction_id from reconciliation_corrections k where k.correction_id = $4))
      order by c.found_at desc, c.correction_id desc limit $5::integer`,
    [page.venue ?? null, page.profileId ?? null, page.state ?? null, page.after ?? null, page.limit],
  );
  return rows.map(recordOf);
}

export async function findCorrection(tx: Tx, correctionId: string): Promise<CorrectionRecord | undefined> {
  const [row] = await tx.query<Row[]>(`select ${COLUMNS} from reconciliation_corrections c where correction_id = $1`, [
    correctionId,
  ]);
  return row && recordOf(row);
}

/** How many differences of a venue wait for a person. */
export async function countQuestions(tx: Tx, venue: string): Promise<number> {
  const [row] = await tx.query<{ count: string }[]>(
    `select count(*) from reconciliation_corrections where venue = $1 and state in ('asked', 'quarantined')`,
    [venue],
  );
  return Number(row?.count ?? 0);
}

const COLUMNS = `c.correction_id, c.run_id, c.venue, c.profile_id, c.trade_id, c.symbol, c.order_id, c.rule, c.kind, c.state,
  c.recorded, c.reported, c.times, c.halt_id, c.resolution, c.resolved_by, c.found_at, c.last_at, c.resolved_at`;

interface Row {
  readonly correction_id: string;
  readonly run_id: string;
  readonly venue: string;
  readonly profile_id: string | null;
  readonly trade_id: string | null;
  readonly symbol: string | null;
  readonly order_id: string | null;
  readonly rule: number;
  readonly kind: Kind;
  readonly state: CorrectionState;
  readonly recorded: Evidence | null;
  readonly reported: Evidence | null;
  readonly times: number;
  readonly halt_id: string | null;
  readonly resolution: string | null;
  readonly resolved_by: string | null;
  readonly found_at: Date;
  readonly last_at: Date;
  readonly resolved_at: Date | null;
}

function recordOf(row: Row): CorrectionRecord {
  const { rule, kind, state, recorded, reported, times, venue } = row;
  return {
    ...{ correctionId: row.correction_id, runId: row.run_id, venue, rule, kind, state, recorded, reported, times },
    ...(row.profile_id !== null && { profileId: row.profile_id }),
    ...(row.trade_id !== null && { tradeId: row.trade_id }),
    ...(row.symbol !== null && { symbol: row.symbol }),
    ...(row.order_id !== null && { orderId: row.order_id }),
    ...(row.halt_id !== null && { haltId: row.halt_id }),
    ...(row.resolution !== null && { resolution: row.resolution }),
    ...(row.resolved_by !== null && { resolvedBy: row.resolved_by }),
    ...{ foundAt: row.found_at, lastAt: row.last_at },
    ...(row.resolved_at !== null && { resolvedAt: row.resolved_at }),
  };
}
