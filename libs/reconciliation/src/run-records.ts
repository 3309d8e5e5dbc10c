import type { Tx } from '#libs/database';

export type RunState = 'running' | 'clean' | 'corrected' | 'failed' | 'abandoned';

/** How much a sweep saw, and what it found. */
export interface SweepFigures {
  readonly orders: number;
  readonly fills: number;
  /** Differences that were proved and still stand or were mended, foreign orders not among them. */
  readonly mismatches: number;
  readonly missingFromExchange: number;
  readonly missingInDb: number;
  readonly foreignOrders: number;
  readonly corrected: number;
  /** Differences that wait for a person. */
  readonly openQuestions: number;
  /** Left for the next sweep: too young, unproved because the venue was silent, or of a profile that another sweeps. */
  readonly leftAlone: number;
}

export interface SweepRun {
  readonly runId: string;
  readonly venue: string;
  readonly askedBy: string;
  readonly state: RunState;
  readonly figures: Partial<SweepFigures>;
  readonly reason?: string;
  readonly startedAt: Date;
  readonly endedAt?: Date;
}

export async function beginRun(
  tx: Tx,
  run: { readonly runId: string; readonly venue: string; readonly askedBy: string },
): Promise<void> {
  await tx.query('select fn_begin_sweep_run($1::uuid, $2::text, $3::text)', [run.runId, run.venue, run.askedBy]);
}

export async function endRun(
  tx: Tx,
  run: {
    readonly runId: string;
    readonly state: 'clean' | 'corrected' | 'failed';
    readonly figures: Partial<SweepFigures>;
    readonly reason?: string | undefined;
  },
): Promise<void> {
  await tx.query('select fn_end_sweep_run($1::uuid, $2::text, $3::jsonb, $4::text)', [
    run.runId,
    run.state,
    JSON.stringify(run.figures),
    run.reason ?? null,
  ]);
}

/** Newest first. The cursor is the run before, as listed. */
export async function listRuns(
  tx: Tx,
  page: { readonly venue?: string | undefined; readonly after?: string | undefined; readonly limit: number },
): Promise<SweepRun[]> {
  const rows = await tx.query<Row[]>(
    `select ${COLUMNS} from reconciliation_runs r
      where ($1::text is null or r.venue = $1) and ($2::uuid is null or (r.started_at, r.run_id) < (
        select k.started_at, k.run_id from reconciliation_runs k where k.run_id = $2::uuid))
      order by r.started_at desc, r.run_id desc limit $3::integer`,
    [page.venue ?? null, page.after ?? null, page.limit],
  );
  return rows.map(runOf);
}

export async function findRun(tx: Tx, runId: string): Promise<SweepRun | undefined> {
  const [row] = await tx.query<Row[]>(`select ${COLUMNS} from reconciliation_runs r where run_id = $1::uuid`, [runId]);
  return row && runOf(row);
}

const COLUMNS = 'r.run_id, r.venue, r.asked_by, r.state, r.figures, r.reason, r.started_at, r.ended_at';

interface Row {
  readonly run_id: string;
  readonly venue: string;
  readonly asked_by: string;
  readonly state: RunState;
  readonly figures: Partial<SweepFigures>;
  readonly reason: string | null;
  readonly started_at: Date;
  readonly ended_at: Date | null;
}

function runOf(row: Row): SweepRun {
  return {
    runId: row.run_id,
    venue: row.venue,
    askedBy: row.asked_by,
    state: row.state,
    figures: row.figures,
    ...(row.reason !== null && { reason: row.reason }),
    startedAt: row.started_at,
    ...(row.ended_at !== null && { endedAt: row.ended_at }),
  };
}
