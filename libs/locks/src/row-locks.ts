import { SQLSTATE, sqlStateOf, type Database, type GatheredStatement, type Tx } from '#libs/database';
import { OperatorError } from '#libs/operator';
import { newOwnerToken } from './owner-token.js';

/** Names the entry lock of a symbol, whatever its case, in one profile. */
export interface EntryLockKey {
  readonly profileId: string;
  readonly symbol: string;
}

/** Names the reconciliation lock of a profile. */
export interface ReconciliationLockKey {
  readonly profileId: string;
}

interface RowLockOptions {
  readonly ttlMs: number;
  /** Told of every attempt that found the lock held: a number to watch. */
  readonly contended?: () => void;
}

/** Who writes under a lock that it no longer holds. Nothing of its transaction may be kept. */
export class StaleLock extends OperatorError {
  constructor(
    readonly lock: string,
    readonly token: bigint,
  ) {
    super(
      `The ${lock} with the token ${token} ran out or was taken over. Nothing was written; take the lock again and decide anew.`,
    );
  }
}

/** A lock as it was acquired. It lives by the clock of Postgres, so that only Postgres can say whether it is held. */
export interface RowLock<Key> {
  readonly key: Key;
  readonly owner: string;
  /** Grows with every acquisition; to be named by what is written under the lock. */
  readonly token: bigint;
  readonly expiresAt: Date;
}

/** What differs between the two kinds of locks: their names, and the arguments that name one of them. */
interface Kind<Key> {
  readonly name: string;
  readonly args: string;
  readonly valuesOf: (key: Key) => string[];
  readonly acquire: GatheredStatement;
  readonly release: GatheredStatement;
}

const ENTRY: Kind<EntryLockKey> = {
  name: 'entry',
  args: '$1::uuid, $2::text',
  valuesOf: ({ profileId, symbol }) => [profileId, symbol],
  acquire: {
    name: 'acquire entry lock',
    types: ['uuid', 'text', 'text', 'integer'],
    from: 'fn_try_acquire_entry_lock_row(a.v1, a.v2, a.v3, a.v4)',
  },
  release: {
    name: 'release entry lock',
    types: ['uuid', 'text', 'text'],
    from: '(select fn_release_entry_lock_row(a.v1, a.v2, a.v3) as released)',
  },
};

const RECONCILIATION: Kind<ReconciliationLockKey> = {
  name: 'reconciliation',
  args: '$1::uuid',
  valuesOf: ({ profileId }) => [profileId],
  acquire: {
    name: 'acquire reconciliation lock',
    types: ['uuid', 'text', 'integer'],
    from: 'fn_try_acquire_reconciliation_lock_row(a.v1, a.v2, a.v3)',
  },
  release: {
    name: 'release reconciliation lock',
    types: ['uuid', 'text'],
    from: '(select fn_release_reconciliation_lock_row(a.v1, a.v2) as released)',
  },
};

/**
 * Locks that Postgres decides. Each call is a transaction by itself, which calls of the same moment for other profiles may
 * share: a lock taken inside a longer one would make others wait instead of being told that it is held.
 */
class RowLocks<Key> {
  constructor(
    private readonly database: Database,
    private readonly kind: Kind<Key>,
    private readonly options: RowLockOptions,
  ) {}

  /** Tries once. Undefined when another holds it. */
  async tryAcquire(key: Key): Promise<RowLock<Key> | undefined> {
    const owner = newOwnerToken();
    const { acquire, valuesOf } = this.kind;
    const row = await this.database
      .gather<AcquiredRow>(acquire, [...valuesOf(key), owner, this.options.ttlMs])
      .catch(undefinedWhenBusy);
    if (!row?.token) {
      this.options.contended?.();
      return undefined;
    }
    return { key, owner, token: BigInt(row.token), expiresAt: row.expires_at };
  }

  /** Resolves with whether it was still held. */
  async release(lock: RowLock<Key>): Promise<boolean> {
    const { release, valuesOf } = this.kind;
    const row = await this.database.gather<{ released: boolean }>(release, [...valuesOf(lock.key), lock.owner]);
    return row.released;
  }
}

/** At most one entry at a time for a symbol of a profile. */
export class EntryLocks extends RowLocks<EntryLockKey> {
  constructor(database: Database, options: RowLockOptions) {
    super(database, ENTRY, options);
  }
}

/** At most one sweep at a time for a profile. */
export class ReconciliationLocks extends RowLocks<ReconciliationLockKey> {
  constructor(database: Database, options: RowLockOptions) {
    super(database, RECONCILIATION, options);
  }
}

/**
 * To be asked in the transaction that writes under the lock: throws StaleLock, or keeps the lock from changing hands
 * until the transaction ends.
 */
export async function requireEntryLock(tx: Tx, held: EntryLockKey & { token: bigint }): Promise<void> {
  if (!(await holds(tx, ENTRY, held))) throw new StaleLock(`entry lock of ${held.symbol}`, held.token);
}

export async function requireReconciliationLock(
  tx: Tx,
  held: ReconciliationLockKey & { token: bigint },
): Promise<void> {
  if (!(await holds(tx, RECONCILIATION, held))) {
    throw new StaleLock(`reconciliation lock of profile ${held.profileId}`, held.token);
  }
}

async function holds<Key>(tx: Tx, kind: Kind<Key>, held: Key & { token: bigint }): Promise<boolean> {
  const values = kind.valuesOf(held);
  const [row] = await tx.query<{ held: boolean }[]>(
    `select fn_holds_${kind.name}_lock(${kind.args}, $${values.length + 1}::bigint) as held`,
    [...values, String(held.token)],
  );
  return row?.held === true;
}

/** Of nulls when another holds the lock. */
type AcquiredRow = { readonly token: string; readonly expires_at: Date } | { readonly token: null };

/** A holder that is writing keeps the row locked; whoever waited for it as long as allowed found the lock held. */
function undefinedWhenBusy(error: unknown): undefined {
  if (sqlStateOf(error) !== SQLSTATE.lockNotAvailable) throw error;
  return undefined;
}
