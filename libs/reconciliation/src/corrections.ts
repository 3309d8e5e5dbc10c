import type { Tx } from '#libs/database';
import { requireReconciliationLock, StaleLock, type ReconciliationLockKey, type RowLock } from '#libs/locks';
import type { Correction } from './correction.js';
import {
  findCorrectionStates,
  haltFor,
  recordCorrection,
  takeAccount,
  type CorrectionState,
} from './correction-records.js';
import { stillStands, type Findings } from './findings.js';
import { handlerOf } from './handlers.js';
import { noteHoldings } from './holding-records.js';
import type { Amounts } from './holdings.js';
import type { ReconciliationParts } from './reconciliation-parts.js';
import type { Run } from './run.js';

interface Done {
  /** What our tables say by now. */
  corrected: number;
  /** What was different, mended or not. */
  mismatches: number;
  leftAlone: number;
}

interface ToMake {
  readonly correction: Correction;
  /** Whether nobody was quicker. */
  readonly stillStands: (tx: Tx) => Promise<boolean>;
  /** Written together with it. */
  readonly toNote?: Amounts | undefined;
}

type Lock = RowLock<ReconciliationLockKey> | undefined;

/** What was asked already is not written again; the rest is written under the lock of its profile. */
export async function correct(parts: ReconciliationParts, run: Run, findings: Findings): Promise<Done> {
  const { proved, holdings } = findings;
  const found: ToMake[] = [
    ...proved.map((each) => ({ correction: each.correction, stillStands: (tx: Tx) => stillStands(tx, each) })),
    ...holdings.corrections.map((correction) => ({
      correction,
      stillStands: (tx: Tx) => holdings.stillStands(tx, correction.id),
      toNote: holdings.toNoteWith.get(correction.id),
    })),
  ];
  const ids = found.map(({ correction }) => correction.id);
  const states = await parts.database.statement((tx) => findCorrectionStates(tx, ids));
  const stateOf = ({ correction }: ToMake): CorrectionState | undefined => states.get(correction.id);
  const asked = found.filter((each) => stateOf(each) === 'asked' || stateOf(each) === 'quarantined');
  const toMake = found.filter((each) => !asked.includes(each) && stateOf(each) !== 'resolved');
  const done: Done = { corrected: 0, mismatches: asked.length, leftAlone: 0 };
  for (const [profileId, ofProfile] of Map.groupBy(toMake, ({ correction }) => correction.profileId)) {
    await run.begin();
    await underLock(parts, { profileId, toMake: ofProfile, done }, (lock, each) =>
      makeOne(parts, run.id, { lock, each, done, heldAt: holdings.heldAt }),
    );
  }
  return done;
}

/** From what the account held when it was read, the next sweeps reckon on; where that is not a correction of its own. */
export async function noteSeenHoldings(
  { database }: ReconciliationParts,
  venue: string,
  { toNote: held, heldAt }: Findings['holdings'],
): Promise<void> {
  if (held.size > 0) await database.transaction((tx) => noteHoldings(tx, { venue, held, heldAt }));
}

/** What concerns no profile has no lock that lasts: it is looked at again in the transaction that writes it. */
async function underLock(
  { locks, observer }: ReconciliationParts,
  { profileId, toMake, done }: { profileId: string | undefined; toMake: readonly ToMake[]; done: Done },
  make: (lock: Lock, each: ToMake) => Promise<void>,
): Promise<void> {
  const lock = profileId === undefined ? undefined : await locks.tryAcquire({ profileId });
  let made = 0;
  try {
    if (profileId !== undefined && !lock) return;
    await observer.reached('sweep:locked');
    for (const each of toMake) {
      await make(lock, each);
      made += 1;
    }
  } catch (error) {
    // Whoever took the lock over goes on with what is left.
    if (!(error instanceof StaleLock)) throw error;
    observer.contended();
  } finally {
    done.leftAlone += toMake.length - made;
    // One that is not released runs out by itself.
    if (lock) await locks.release(lock).catch(() => undefined);
  }
}

async function makeOne(
  { database, observer }: ReconciliationParts,
  runId: string,
  { lock, each, done, heldAt }: { lock: Lock; each: ToMake; done: Done; heldAt: Date },
): Promise<void> {
  const state = await database.transaction(async (tx) => {
    const made = await make(tx, runId, { lock, each });
    const { correction, toNote: held } = each;
    if (made !== undefined && held) await noteHoldings(tx, { venue: correction.venue, held, heldAt });
    return made;
  });
  await observer.reached('sweep:corrected');
  if (state === undefined) return;
  observer.corrected(each.correction, state);
  if (state !== 'noted') done.mismatches += 1;
  if (state === 'applied') done.corrected += 1;
}

/** A correction and its evidence, both or neither. Undefined when somebody else was quicker. */
async function make(
  tx: Tx,
  runId: string,
  { lock, each }: { readonly lock: Lock; readonly each: ToMake },
): Promise<CorrectionState | undefined> {
  const { correction } = each;
  if (lock) await requireReconciliationLock(tx, { ...lock.key, token: lock.token });
  else await takeAccount(tx, correction.venue);
  if (!(await each.stillStands(tx))) return undefined;
  const state = await recordCorrection(tx, runId, { lockToken: lock?.token, correction });
  if (state === 'stale_lock') throw new StaleLock(lockName(correction), lock?.token ?? 0n);
  if (state === 'applied') await handlerOf(correction.kind)(tx, correction);
  if (state === 'asked' || state === 'quarantined') await haltFor(tx, correction);
  return state;
}

function lockName({ profileId }: Correction): string {
  return `reconciliation lock of profile ${profileId ?? ''}`;
}
