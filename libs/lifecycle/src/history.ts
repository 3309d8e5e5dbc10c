import type { Tx } from '#libs/database';

/** Something that happened to a trade; never changed, never removed. */
export interface HistoryEvent {
  readonly id: bigint;
  readonly tradeId: string;
  readonly event: string;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly happenedAt: Date;
  readonly recordedAt: Date;
}

/** Oldest first. */
export async function listHistory(
  tx: Tx,
  page: { readonly profileId: string; readonly after?: bigint | undefined; readonly limit: number },
): Promise<HistoryEvent[]> {
  const rows = await tx.query<Row[]>(
    `select history_id, trade_id, event, detail, happened_at, recorded_at from trade_history
      where profile_id = $1::uuid and history_id > $2::bigint order by history_id limit $3::integer`,
    [page.profileId, String(page.after ?? 0n), page.limit],
  );
  return rows.map((row) => ({
    id: BigInt(row.history_id),
    tradeId: row.trade_id,
    event: row.event,
    detail: row.detail,
    happenedAt: row.happened_at,
    recordedAt: row.recorded_at,
  }));
}

interface Row {
  readonly history_id: string;
  readonly trade_id: string;
  readonly event: string;
  readonly detail: Record<string, unknown>;
  readonly happened_at: Date;
  readonly recorded_at: Date;
}
