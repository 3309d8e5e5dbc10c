import type { Tx } from '#libs/database';

/** Somebody did something to something. */
export interface Act {
  /** As actorOf writes it. */
  readonly actor: string;
  /** A noun and a verb, such as profile.create. */
  readonly action: string;
  /** The profile whose owner may read of it. */
  readonly profileId?: string | undefined;
  /** What was acted upon. */
  readonly subject: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

export interface AuditRecord extends Act {
  readonly id: bigint;
  readonly recordedAt: Date;
}

/** In the transaction of the act itself: there is never one without the other. */
export async function recordAct(tx: Tx, act: Act): Promise<void> {
  await tx.query(
    `insert into audit_log (actor, action, profile_id, subject, detail) values ($1, $2, $3::uuid, $4, $5::jsonb)`,
    [act.actor, act.action, act.profileId ?? null, act.subject, JSON.stringify(act.detail)],
  );
}

/** Oldest first. */
export async function listActs(
  tx: Tx,
  page: { after?: bigint | undefined; limit: number; profileId?: string | undefined },
): Promise<AuditRecord[]> {
  const rows = await tx.query<Row[]>(
    `select ${COLUMNS} from audit_log
      where audit_id > $1::bigint and ($2::uuid is null or profile_id = $2::uuid) order by audit_id limit $3::integer`,
    [String(page.after ?? 0n), page.profileId ?? null, page.limit],
  );
  return rows.map(recordOf);
}

/** The first time that this was done to the profile, with a detail that holds at least what is given. */
export async function findFirstAct(
  tx: Tx,
  of: { profileId: string; action: string; detail?: Readonly<Record<string, unknown>> },
): Promise<AuditRecord | undefined> {
  const [row] = await tx.query<Row[]>(
    `select ${COLUMNS} from audit_log where profile_id = $1::uuid and action = $2 and detail @> $3::jsonb
      order by audit_id limit 1`,
    [of.profileId, of.action, JSON.stringify(of.detail ?? {})],
  );
  return row && recordOf(row);
}

interface Row {
  readonly audit_id: string;
  readonly recorded_at: Date;
  readonly actor: string;
  readonly action: string;
  readonly profile_id: string | null;
  readonly subject: string;
  readonly detail: Record<string, unknown>;
}

const COLUMNS = 'audit_id, recorded_at, actor, action, profile_id, subject, detail';

function recordOf(row: Row): AuditRecord {
  return {
    id: BigInt(row.audit_id),
    recordedAt: row.recorded_at,
    actor: row.actor,
    action: row.action,
    ...(row.profile_id !== null && { profileId: row.profile_id }),
    subject: row.subject,
    detail: row.detail,
  };
}
