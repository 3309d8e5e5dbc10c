import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { Database } from '#libs/database';
import { asSuperuser } from '../../../test/harness/database.js';
import * as ledger from '../index.js';
import { LedgerService, LedgerStopped, LedgerUnavailable } from '../index.js';
import { d, setupLedger } from './testing/setup.js';
import { deposit, reserve, withdraw } from './testing/steps.js';

async function setup() {
  const kit = await setupLedger({ poolSize: 6 });
  const service = new LedgerService(kit.database);
  const profileId = await kit.newProfile();
  /** Keeps the ledger row of a profile locked, so that whatever comes must gather, until it is told to let go. */
  const hold = async (id = profileId) => {
    await kit.admin.query('begin');
    await kit.admin.query('select from capital_ledger where profile_id = $1 for update', [id]);
    return () => kit.admin.query('commit');
  };
  /** Resolves once this many sessions of ours wait for a lock. */
  const whenWaiting = async (count: number) => {
    for (;;) {
      const { rows } = await asSuperuser(
        inject('superuserUrl'),
        `select count(*)::int as waiting from pg_stat_activity
          where application_name = '${kit.name}' and wait_event_type = 'Lock'`,
      );
      if ((rows[0] as { waiting: number }).waiting >= count) return;
    }
  };
  const transactionsOf = async () => {
    const { rows } = await kit.admin.query<{ count: number }>(
      `select count(distinct recorded_at)::int as count from ledger_entries`,
    );
    return rows[0]?.count;
  };
  return { ...kit, service, profileId, hold, whenWaiting, transactionsOf };
}

describe('LedgerService', () => {
  it('sends a single command at once', async () => {
    const { service, profileId } = await setup();
    expect(await service.deposit({ profileId, key: 'k', actor: 'tests', amount: d('5') })).toEqual({
      outcome: 'applied',
      sequence: 1n,
    });
  });

  it('gathers what comes while batches are on their way, and keeps the order of each profile', async () => {
    const { service, newProfile, profileId, hold, whenWaiting, transactionsOf, inTx } = await setup();
    const other = await newProfile();
    const letGo = await hold();
    const first = service.apply(deposit('1')(profileId));
    await whenWaiting(1);
    const gathered = Array.from({ length: 500 }, () => service.apply(deposit('1')(profileId)));
    // A profile that is not on its way does not wait for one that is.
    expect(await service.apply(deposit('1')(other))).toMatchObject({ outcome: 'applied' });
    await letGo();
    expect(await first).toEqual({ outcome: 'applied', sequence: 1n });
    const verdicts = await Promise.all(gathered);
    expect(verdicts.map((verdict) => 'sequence' in verdict && verdict.sequence)).toEqual(
      Array.from({ length: 500 }, (_, index) => BigInt(index + 2)),
    );
    expect(await transactionsOf()).toBe(3);
    expect(String((await inTx((tx) => ledger.findLedger(tx, profileId)))?.availableCapital)).toBe('501');
  });

  it('has at most two batches on their way, of at most a thousand commands', async () => {
    const { service, newProfile, profileId, hold, whenWaiting, transactionsOf, admin } = await setup();
    const [second, third] = [await newProfile(), await newProfile()];
    const letGo = await hold();
    await admin.query('select from capital_ledger where profile_id = $1 for update', [second]);
    const sent = [service.apply(deposit('1')(profileId))];
    await whenWaiting(1);
    sent.push(service.apply(deposit('1')(second)));
    await whenWaiting(2);
    const many = Array.from({ length: 1_500 }, () => service.apply(deposit('1')(third)));
    let isThirdDone = false;
    void many[0]?.then(() => (isThirdDone = true));
    // The third profile is free, yet nothing of it travels: both ways are taken.
    await whenWaiting(2);
    expect(isThirdDone).toBe(false);
    await letGo();
    await Promise.all([...sent, ...many]);
    expect(await transactionsOf()).toBe(4);
  });

  it('lets nothing malformed travel with others', async () => {
    const { service, profileId, hold, whenWaiting } = await setup();
    const letGo = await hold();
    const first = service.apply(deposit('1')(profileId));
    await whenWaiting(1);
    const good = service.apply(deposit('2')(profileId));
    const bad = [
      service.apply(deposit('1', { key: 'a\0b' })(profileId)),
      service.apply(deposit('1')('not-a-uuid')),
      service.apply(deposit('-1')(profileId)),
      service.apply(reserve('a', '1', { symbol: '\ud800' })(profileId)),
      service.apply({ ...reserve('a', '1')(profileId), tradeId: 'x' } as ledger.LedgerCommand),
    ];
    const codes = (await Promise.all(bad)).map((verdict) => 'code' in verdict && verdict.code);
    expect(codes).toEqual(['invalid_key', 'unknown_profile', 'amount_not_positive', 'field_missing', 'field_missing']);
    await letGo();
    expect([await first, await good]).toMatchObject([{ outcome: 'applied' }, { outcome: 'applied' }]);
  });

  it('says that the outcome is unknown when Postgres cuts it off, and the same key is then applied once', async () => {
    const { service, profileId, hold, whenWaiting, name, inTx } = await setup();
    const letGo = await hold();
    const steps = [deposit('1'), deposit('2')];
    const lost = service.apply(deposit('10', { key: 'first' })(profileId)).catch((reason: unknown) => reason);
    await whenWaiting(1);
    await asSuperuser(
      inject('superuserUrl'),
      `select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = '${name}' and wait_event_type = 'Lock'`,
    );
    const error = await lost;
    expect(error).toBeInstanceOf(LedgerUnavailable);
    expect((error as Error).message).toMatch(/outcome is unknown.*same command with the same key again/s);
    await letGo();
    const again = [deposit('10', { key: 'first' }), ...steps].map((step) => service.apply(step(profileId)));
    expect(await Promise.all(again)).toMatchObject([{}, {}, {}].map(() => ({ outcome: 'applied' })));
    expect(String((await inTx((tx) => ledger.findLedger(tx, profileId)))?.availableCapital)).toBe('13');
  });

  it('rejects the callers of one batch that timed out, and no others', async () => {
    const { url, profileId, hold, newProfile } = await setup();
    const patience = { connectTimeoutMs: 5_000, statementTimeoutMs: 5_000, lockTimeoutMs: 50 };
    const database = await Database.open(
      { url, applicationName: 'impatient', poolSize: 2, ...patience },
      { lost: () => undefined },
    );
    onTestFinished(() => database.close());
    const service = new LedgerService(database);
    const other = await newProfile();
    const letGo = await hold();
    const late = service.apply(withdraw('1')(profileId));
    await expect(late).rejects.toThrow(LedgerUnavailable);
    expect(await service.apply(deposit('1')(other))).toMatchObject({ outcome: 'applied' });
    await letGo();
  });

  it('waits at its stop for what is on its way or gathered, and refuses what comes later', async () => {
    const { service, profileId, hold, whenWaiting, inTx } = await setup();
    const letGo = await hold();
    const first = service.apply(deposit('1')(profileId));
    await whenWaiting(1);
    const gathered = service.apply(deposit('2')(profileId));
    let isStopped = false;
    const stopped = service.stop().then(() => (isStopped = true));
    await expect(service.apply(deposit('4')(profileId))).rejects.toThrow(LedgerStopped);
    await expect(service.openLedger(profileId)).rejects.toThrow(LedgerStopped);
    expect(isStopped).toBe(false);
    await letGo();
    await stopped;
    expect([await first, await gathered]).toMatchObject([{ outcome: 'applied' }, { outcome: 'applied' }]);
    expect(String((await inTx((tx) => ledger.findLedger(tx, profileId)))?.availableCapital)).toBe('3');
    await service.stop();
  });

  it('opens, rebuilds and proves as well', async () => {
    const { service, profileId } = await setup();
    await service.openLedger(profileId);
    expect(await service.rebuild({ profileId, key: 'k', actor: 'a', untilSequence: 0n, trades: [] })).toEqual([]);
    expect(await service.verifyLedger(profileId)).toMatchObject([{ profileId, problem: undefined }]);
    await expect(service.openLedger('7c9a3f0e-0000-4000-8000-000000000000')).rejects.toThrow(ledger.UnknownProfile);
  });
});

describe('reading', () => {
  it('gives the journal page by page, oldest first', async () => {
    const { service, profileId, inTx } = await setup();
    const happenedAt = new Date(Date.UTC(2025, 0, 2, 3, 4, 5, 678));
    for (const step of [deposit('5', { happenedAt, key: 'one' }), deposit('6'), withdraw('1')]) {
      await service.apply(step(profileId));
    }
    const page = await inTx((tx) => ledger.listEntries(tx, { profileId, limit: 2 }));
    expect(page.map(({ sequence }) => sequence)).toEqual([1n, 2n]);
    expect(page[0]).toMatchObject({
      ...{ profileId, command: 'deposit', part: 0, source: 'outside', target: 'available', key: 'one', happenedAt },
      ...{ actor: 'tests', tradeId: undefined, amount: d('5') },
    });
    const rest = await inTx((tx) => ledger.listEntries(tx, { profileId, after: 2n, limit: 2 }));
    expect(rest.map(({ sequence, command }) => [sequence, command])).toEqual([[3n, 'withdraw']]);
    for (const limit of [0, -1, 1_001, 1.5]) {
      await expect(inTx((tx) => ledger.listEntries(tx, { profileId, limit }))).rejects.toThrow(RangeError);
    }
  });

  it('finds no ledger where none is', async () => {
    const { inTx } = await setup();
    expect(await inTx((tx) => ledger.findLedger(tx, '7c9a3f0e-0000-4000-8000-000000000000'))).toBeUndefined();
  });
});
