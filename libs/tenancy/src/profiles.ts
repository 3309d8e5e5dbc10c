import { SQLSTATE, sqlStateOf, type Tx } from '#libs/database';

export interface Profile {
  readonly id: string;
  readonly name: string;
  readonly ownerId: string;
  readonly createdAt: Date;
}

/** Somebody's profile has this id and is not the one that was asked for; whose it is, stays open. */
export class ProfileIdTaken extends Error {
  constructor(readonly profileId: string) {
    super(`The id ${profileId} belongs to another profile. Leave the id out, or choose a new one.`);
    this.name = 'ProfileIdTaken';
  }
}

/** A tenant wanted to make a profile for somebody else, and Postgres refused. */
export class ForeignOwner extends Error {
  constructor(readonly ownerId: string) {
    super(`A tenant makes profiles for itself only, not for the owner ${JSON.stringify(ownerId)}.`);
    this.name = 'ForeignOwner';
  }
}

/** With an id of the caller's choice it may be repeated: the second time finds the profile of the first. */
export async function createProfile(
  tx: Tx,
  wanted: { id?: string | undefined; name: string; ownerId: string },
): Promise<{ profile: Profile; isNew: boolean }> {
  const created = await insertProfile(tx, wanted).catch((error: unknown) => {
    if (sqlStateOf(error) === SQLSTATE.insufficientPrivilege) throw new ForeignOwner(wanted.ownerId);
    throw error;
  });
  if (created) return { profile: created, isNew: true };
  const id = wanted.id ?? '';
  const existing = await findProfile(tx, id);
  if (existing?.name !== wanted.name || existing.ownerId !== wanted.ownerId) throw new ProfileIdTaken(id);
  return { profile: existing, isNew: false };
}

export async function findProfile(tx: Tx, id: string): Promise<Profile | undefined> {
  const [row] = await tx.query<Row[]>(`select ${COLUMNS} from profiles where profile_id = $1::uuid`, [id]);
  return row && profileOf(row);
}

/** In the order of their ids, which is that of their making unless callers chose the ids. */
export async function listProfiles(tx: Tx, page: { after?: string | undefined; limit: number }): Promise<Profile[]> {
  const rows = await tx.query<Row[]>(
    `select ${COLUMNS} from profiles
      where $1::uuid is null or profile_id > $1::uuid order by profile_id limit $2::integer`,
    [page.after ?? null, page.limit],
  );
  return rows.map(profileOf);
}

interface Row {
  readonly profile_id: string;
  readonly name: string;
  readonly owner_id: string;
  readonly created_at: Date;
}

const COLUMNS = 'profile_id, name, owner_id, created_at';

async function insertProfile(
  tx: Tx,
  { id, name, ownerId }: { id?: string | undefined; name: string; ownerId: string },
): Promise<Profile | undefined> {
  const [row] = await tx.query<Row[]>(
    `insert into profiles (profile_id, name, owner_id) values (coalesce($1::uuid, uuidv7()), $2, $3)
     on conflict (profile_id) do nothing returning ${COLUMNS}`,
    [id ?? null, name, ownerId],
  );
  return row && profileOf(row);
}

function profileOf(row: Row): Profile {
  return { id: row.profile_id, name: row.name, ownerId: row.owner_id, createdAt: row.created_at };
}
