import type { Tx } from '#libs/database';

/** How far a journal was read and found whole, with its sums; or what is wrong with it, and from which entry on. */
export interface LedgerProof {
  readonly profileId: string;
  readonly sequence: bigint;
  readonly hash: string;
  readonly allocated: string;
  readonly orders: string;
  readonly positions: string;
  readonly pnl: string;
  readonly problem: string | undefined;
  readonly badSequence: bigint | undefined;
}

/** Reads whole journals: of one profile, or of all. A proof for each; those with a problem say which. */
export async function verifyLedger(tx: Tx, profileId?: string): Promise<LedgerProof[]> {
  const rows = await tx.query<ProofRow[]>(`select ${COLUMNS} from fn_ledger_verify($1::uuid)`, [profileId ?? null]);
  return rows.map(toProof);
}

/** Reads the journal of one profile from the given proof on, or whole; then the reservations are compared as well. */
export async function verifyProfile(tx: Tx, profileId: string, after?: LedgerProof): Promise<LedgerProof> {
  const [row] = await tx.query<ProofRow[]>(
    `select ${COLUMNS} from fn_ledger_verify_one($1::uuid, case when $2::bigint is not null then
       row ($1::uuid, $2::bigint, decode($3::text, 'hex'), $4::numeric, $5::numeric, $6::numeric, $7::numeric,
         null::text, null::bigint)::ledger_proof end)`,
    after
      ? [profileId, String(after.sequence), after.hash, after.allocated, after.orders, after.positions, after.pnl]
      : [profileId, null, null, null, null, null, null],
  );
  if (!row) throw new Error(`Invariant: a proof of profile ${profileId} says something.`);
  return toProof(row);
}

const COLUMNS = `profile_id, sequence, encode(hash, 'hex') as hash, trim_scale(allocated) as allocated,
  trim_scale(orders) as orders, trim_scale(positions) as positions, trim_scale(pnl) as pnl, problem, bad_sequence`;

interface ProofRow {
  readonly profile_id: string;
  readonly sequence: string | null;
  readonly hash: string | null;
  readonly allocated: string | null;
  readonly orders: string | null;
  readonly positions: string | null;
  readonly pnl: string | null;
  readonly problem: string | null;
  readonly bad_sequence: string | null;
}

/** A profile without a ledger row has a problem and nothing else. */
function toProof(row: ProofRow): LedgerProof {
  return {
    profileId: row.profile_id,
    sequence: BigInt(row.sequence ?? 0),
    hash: row.hash ?? '',
    allocated: row.allocated ?? '0',
    orders: row.orders ?? '0',
    positions: row.positions ?? '0',
    pnl: row.pnl ?? '0',
    problem: row.problem ?? undefined,
    badSequence: row.bad_sequence === null ? undefined : BigInt(row.bad_sequence),
  };
}
