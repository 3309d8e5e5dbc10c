import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { asPrincipal } from '#libs/tenancy';
import { findCorrection, listCorrections, recordCorrection, resolveCorrection } from './correction-records.js';
import { correctionOf, type Correction } from './correction.js';
import { beginRun } from './run-records.js';
import { d, setupReconciliation, SYMBOL, VENUE } from './testing/setup.js';

/** A profile with a question: an exit that the venue knows nothing of. */
async function setup() {
  const world = await setupReconciliation();
  const { newProfile, buy, exit, account, sweep, corrections, database } = world;
  const profileId = await newProfile();
  const { tradeId } = await buy(profileId);
  const { orderId } = await exit({ profileId, tradeId });
  account.purged.add(orderId);
  await sweep();
  const [correction] = await corrections();
  if (!correction) throw new Error('Expected a question.');
  const resolve = (correctionId = correction.correctionId) =>
    database.transaction((tx) => resolveCorrection(tx, { correctionId, actor: 'alice', resolution: 'sold by hand' }));
  return { ...world, profileId, tradeId, orderId, correction, resolve };
}

describe('a question that a person has decided', () => {
  it('lifts its halt, is in the audit log, and is not asked again', async () => {
    const { correction, resolve, halts, admin, sweep, sweepQuietly, corrections, profileId } = await setup();
    expect(await halts()).toEqual([`symbol paper ${SYMBOL.toLowerCase()}`]);
    expect(await resolve()).toMatchObject({ state: 'resolved', resolvedBy: 'alice', resolution: 'sold by hand' });
    expect(await halts()).toEqual([]);
    const { rows } = await admin.query(`select actor, subject, profile_id, detail from audit_log where action = $1`, [
      'correction.resolve',
    ]);
    expect(rows).toEqual([
      {
        ...{ actor: 'alice', subject: correction.correctionId, profile_id: profileId },
        detail: { resolution: 'sold by hand', kind: 'vanished-exit', venue: VENUE, haltLifted: true },
      },
    ]);
    expect(await sweep()).toMatchObject({ outcome: 'clean', figures: { openQuestions: 0 } });
    await sweepQuietly();
    expect(await corrections()).toMatchObject([{ state: 'resolved', times: 1 }]);
    expect(await halts()).toEqual([]);
    expect(await resolve(), 'it is decided once').toBeUndefined();
  });

  it('leaves the halts of other questions, and those of people, where they are', async () => {
    const { account, correction, resolve, halts, admin, newProfile, enter, sweep, tell } = await setup();
    const other = await enter(await newProfile());
    account.change(other.orderId, { status: 'cancelled' });
    await tell(other.orderId);
    account.change(other.orderId, { status: 'open' });
    await sweep();
    await admin.query(
      `insert into halts (venue, profile_id, symbol, reason, created_by)
       select venue, profile_id, symbol, 'by hand', 'bob' from halts where halt_id = $1`,
      [correction.haltId],
    );
    await resolve();
    const { rows } = await admin.query<{ reason: string }>('select reason from halts order by created_at');
    expect(rows.map(({ reason }) => reason)).toEqual([expect.stringMatching(/has ended by our tables/), 'by hand']);
    expect(await halts()).toHaveLength(2);
  });

  it('is asked anew when it is another one', async () => {
    const { account, resolve, sweep, corrections, orderId } = await setup();
    await resolve();
    account.purged.clear();
    account.change(orderId, { quantity: d('9') });
    await sweep();
    expect((await corrections()).map(({ kind, state }) => [kind, state])).toEqual([
      ['order-differs', 'asked'],
      ['vanished-exit', 'resolved'],
    ]);
  });
});

describe('a correction that does not last', () => {
  it('is made three times, then quarantined, and halts', async () => {
    const { account, newProfile, enter, admin, sweep, sweepQuietly, corrections, halts } = await setupReconciliation();
    const profileId = await newProfile();
    const { orderId } = await enter(profileId);
    account.change(orderId, { status: 'cancelled' });
    const outcomes: string[] = [];
    for (let round = 0; round < 4; round += 1) {
      const { figures } = await sweep();
      outcomes.push(`${figures.corrected} of ${figures.mismatches}`);
      // Somebody keeps undoing it.
      if (round < 3) await admin.query(`update orders set status = 'open', settled_at = null`);
    }
    expect(outcomes).toEqual(['1 of 1', '1 of 1', '1 of 1', '0 of 1']);
    expect(await corrections()).toMatchObject([{ kind: 'cancel', state: 'quarantined', times: 4, profileId }]);
    expect(await halts()).toEqual([`symbol paper ${SYMBOL.toLowerCase()}`]);
    expect(await sweepQuietly()).toMatchObject({ figures: { openQuestions: 1, mismatches: 1, corrected: 0 } });
  });
});

describe('who may see and write corrections', () => {
  it('shows a tenant those of its own profiles only', async () => {
    const { database, account, newProfile, enter, sweep, profileId } = await setup();
    const others = await newProfile('10000', 'bob');
    const { orderId } = await enter(others);
    account.change(orderId, { status: 'cancelled' });
    account.move('USD', d('7'));
    await sweep();
    account.move('USD', d('7'));
    await sweep();
    const seenBy = (tenantId: string) =>
      asPrincipal(database, { kind: 'tenant', tenantId }, (tx) => listCorrections(tx, { limit: 100 }));
    expect((await seenBy('alice')).map((each) => each.profileId)).toEqual([profileId]);
    expect((await seenBy('bob')).map((each) => each.profileId)).toEqual([others]);
    expect(await seenBy('carol')).toEqual([]);
    const all = await database.statement((tx) => listCorrections(tx, { limit: 100 }));
    expect(all.some((each) => each.profileId === undefined)).toBe(true);
    await expect(
      asPrincipal(database, { kind: 'tenant', tenantId: 'alice' }, (tx) =>
        resolveCorrection(tx, { correctionId: all[0]?.correctionId ?? '', actor: 'tenant:alice', resolution: 'mine' }),
      ),
    ).rejects.toThrow(/permission denied/);
  });

  it('refuses a token that is stale, of another profile, or missing', async () => {
    const { database, newProfile, newReconciliation, admin } = await setupReconciliation();
    const [profileId, other] = [await newProfile(), await newProfile()];
    const { locks } = newReconciliation();
    const [runId, finding] = [randomUUID(), { venue: VENUE, kind: 'cancel', recorded: null, reported: {} } as const];
    await database.statement((tx) => beginRun(tx, { runId, venue: VENUE, askedBy: 'test' }));
    const correction: Correction = correctionOf({ ...finding, profileId });
    const record = (lockToken: bigint | undefined) =>
      database.statement((tx) => recordCorrection(tx, runId, { lockToken, correction }));
    const first = await locks.tryAcquire({ profileId });
    await admin.query('update reconciliation_locks set expires_at = clock_timestamp()');
    expect(await record(first?.token), 'ended').toBe('stale_lock');
    const second = await locks.tryAcquire({ profileId });
    expect(await record(first?.token), 'taken over').toBe('stale_lock');
    expect(await record(undefined), 'missing').toBe('stale_lock');
    const foreign = await locks.tryAcquire({ profileId: other });
    expect(await record(foreign?.token), 'of another profile').toBe('stale_lock');
    expect(await database.statement((tx) => findCorrection(tx, correction.id))).toBeUndefined();
    expect(await record(second?.token)).toBe('applied');
  });
});
