import type { Tx } from '#libs/database';
import { recordAct } from '#libs/tenancy';
import type { Lookup, Venue } from '#libs/venues';
import { underEntryLock, type HeldLock } from './held-lock.js';
import {
  findUndecided,
  listUndecided,
  noteEvidence,
  persistLifecycle,
  rejectIntent,
  type Evidence,
  type IntentRef,
  type UndecidedIntent,
} from './intents.js';
import type { LifecycleParts } from './lifecycle-parts.js';

const PASS_MAX = 200;
/** Looked for in vain so often, the last time after the submit window, an order is proved not to be there. */
const LOOKUPS_IN_VAIN_MIN = 2;

export type Resolution = 'confirmed' | 'rejected' | 'open' | 'locked';

/**
 * Asks the venue about every intent that is still open, and decides those that it proves or disproves. An order that is
 * found is proof at once. One that is not found is disproved only when it can no longer be on its way, was looked for
 * more than once, and is young enough for the venue to remember it; else it stays unknown, and a person may decide.
 */
export async function resolveIntents(
  parts: LifecycleParts,
  scope: { readonly venue: string; readonly symbol?: string },
): Promise<{ readonly left: number }> {
  const undecided = await parts.database.statement((tx) => listUndecided(tx, { ...scope, limit: PASS_MAX }));
  const left: UndecidedIntent[] = [];
  for (const intent of undecided) {
    const resolution = await resolveIntent(parts, intent);
    if (resolution === 'confirmed' || resolution === 'rejected') parts.observer.resolved(intent, resolution);
    else left.push(intent);
  }
  for (const intent of left) if (intent.ageMs > parts.settings.unknownAlertMs) parts.observer.overdue(intent);
  parts.observer.undecided(scope, {
    count: left.length,
    oldestMs: left.reduce((oldest, { ageMs }) => Math.max(oldest, ageMs), 0),
  });
  return { left: left.length };
}

async function resolveIntent(parts: LifecycleParts, listed: UndecidedIntent): Promise<Resolution> {
  const resolution = await underEntryLock(parts, listed, async (lock): Promise<Resolution> => {
    await parts.observer.reached('resolve:locked');
    const intent = await parts.database.statement((tx) => findUndecided(tx, listed));
    if (!intent) return 'confirmed';
    const lookup = await ask(parts, intent, lock);
    await parts.observer.reached('resolve:answered');
    const decided = await decide(parts, intent, { lock, lookup });
    await parts.observer.reached('resolve:decided');
    return decided;
  });
  return resolution ?? 'locked';
}

/** The answer must be there while the lock is ours. */
function ask(
  parts: LifecycleParts,
  { venue, symbol, clientOrderId }: UndecidedIntent,
  lock: HeldLock,
): Promise<Lookup> {
  const timeoutMs = Math.max(1, (lock.endsAt - parts.clock.monotonic()) / 2);
  return parts.venueOf(venue).findByClientOrderId({ clientOrderId, symbol }, { timeoutMs });
}

async function decide(
  parts: LifecycleParts,
  intent: UndecidedIntent,
  found: { readonly lock: HeldLock; readonly lookup: Lookup },
): Promise<Resolution> {
  const { lock, lookup } = found;
  const lockToken = lock.token;
  if (lookup.outcome === 'found') {
    const proof = { lockToken, report: { order: lookup.order }, source: 'lookup' } as const;
    const { verdict } = await persistLifecycle(parts.database, intent, proof);
    return verdict === 'persisted' ? 'confirmed' : 'open';
  }
  const evidence: Evidence =
    lookup.outcome === 'not-found'
      ? { asked: 'lookup', answer: 'not-found' }
      : { asked: 'lookup', answer: lookup.reason, detail: lookup.message };
  const isInVain = lookup.outcome === 'not-found';
  if (isInVain && isDisproved(parts, intent)) {
    const proof = { lockToken, reason: 'disproved', evidence, actor: 'resolver' };
    const { verdict } = await rejectIntent(parts.database, intent, proof);
    return verdict === 'rejected' ? 'rejected' : 'open';
  }
  await noteEvidence(parts.database, intent, { lockToken, evidence, isInVain });
  return 'open';
}

function isDisproved(parts: LifecycleParts, { venue, ageMs, lookupsInVain }: UndecidedIntent): boolean {
  if (ageMs < parts.settings.submitWindowMs || lookupsInVain + 1 < LOOKUPS_IN_VAIN_MIN) return false;
  return remembers(parts.venueOf(venue), ageMs);
}

function remembers({ capabilities: { closedOrdersKeptMs } }: Venue, ageMs: number): boolean {
  return closedOrdersKeptMs === undefined || ageMs < closedOrdersKeptMs;
}

/**
 * A person decides that an intent has no order, where the venue can no longer tell. The venue is asked once more all the
 * same: what it can prove is not for anybody to decide. Should the order turn up later, it is recorded and disputed.
 */
export async function rejectByOperator(
  parts: LifecycleParts,
  ref: IntentRef,
  by: { readonly actor: string; readonly reason: string },
): Promise<Resolution> {
  const listed = await parts.database.statement((tx) => findUndecided(tx, ref));
  if (!listed) return 'open';
  const resolution = await underEntryLock(parts, listed, async (lock): Promise<Resolution> => {
    const lookup = await ask(parts, listed, lock);
    if (lookup.outcome === 'found') return decide(parts, listed, { lock, lookup });
    return parts.database.transaction((tx) => rejectAudited(tx, listed, { ...by, lock, lookup }));
  });
  return resolution ?? 'locked';
}

async function rejectAudited(
  tx: Tx,
  intent: UndecidedIntent,
  by: { readonly actor: string; readonly reason: string; readonly lock: HeldLock; readonly lookup: Lookup },
): Promise<Resolution> {
  const { actor, reason, lock, lookup } = by;
  const evidence: Evidence = { asked: 'operator', answer: 'rejected', detail: reason };
  const proof = { lockToken: lock.token, reason: 'operator', evidence, actor };
  const { verdict } = await rejectIntent(tx, intent, proof);
  if (verdict !== 'rejected') return 'open';
  const { profileId, tradeId, generation, clientOrderId, ageMs } = intent;
  const detail = { reason, clientOrderId, ageMs, lookup: lookup.outcome, evidence: intent.evidence };
  await recordAct(tx, {
    ...{ actor, action: 'trade.reject', profileId, subject: tradeId },
    detail: { ...detail, ...(generation !== undefined && { generation }) },
  });
  return 'rejected';
}
