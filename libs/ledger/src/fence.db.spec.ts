import { describe, expect, it } from 'vitest';
import { EntryLocks, requireEntryLock, StaleLock } from '#libs/locks';
import * as ledger from '../index.js';
import { d, setupLedger } from './testing/setup.js';
import { deposit, reserve } from './testing/steps.js';

const TRIALS = 1_000;

async function setup() {
  const kit = await setupLedger({ poolSize: 8 });
  const profileId = await kit.newProfile();
  await kit.inTx((tx) => ledger.applyBatch(tx, [deposit('1000000')(profileId)]));
  const locks = new EntryLocks(kit.database, { ttlMs: 600_000 });
  const expireAll = () => kit.admin.query('update entry_locks set expires_at = clock_timestamp()');
  const available = async () => String((await kit.inTx((tx) => ledger.findLedger(tx, profileId)))?.availableCapital);
  return { ...kit, profileId, locks, expireAll, available };
}

describe('a reservation that names the token of an entry lock', () => {
  it('passes while the lock is held, for its own symbol and profile only', async () => {
    const { locks, profileId, newProfile, inTx } = await setup();
    const other = await newProfile();
    const lock = await locks.tryAcquire({ profileId, symbol: 'BTC/USD' });
    const lockToken = lock?.token ?? 0n;
    const say = (trade: string, symbol: string, id = profileId) =>
      inTx(async (tx) => {
        await ledger.deposit(tx, { profileId: id, key: `for-${trade}`, actor: 'tests', amount: d('10') });
        return ledger.applyBatch(tx, [reserve(trade, '1', { symbol, lockToken })(id)]);
      });
    expect(await say('a', 'btc/usd')).toMatchObject([{ outcome: 'applied' }]);
    expect(await say('b', 'ETH/USD')).toEqual([{ outcome: 'refused', code: 'stale_lock' }]);
    expect(await say('c', 'BTC/USD', other)).toEqual([{ outcome: 'refused', code: 'stale_lock' }]);
    expect(await locks.release(lock ?? ({} as never))).toBe(true);
    expect(await say('d', 'BTC/USD')).toEqual([{ outcome: 'refused', code: 'stale_lock' }]);
  });

  it(`is refused in each of ${TRIALS} trials with a token that ran out or was taken over`, async () => {
    const { locks, profileId, inTx, expireAll, available } = await setup();
    const symbols = Array.from({ length: TRIALS }, (_, index) => `S${index}/USD`);
    const acquire = async (chosen: readonly string[]) => {
      const held: { symbol: string; token: bigint }[] = [];
      for (let at = 0; at < chosen.length; at += 50) {
        const asked = chosen.slice(at, at + 50).map((symbol) => locks.tryAcquire({ profileId, symbol }));
        for (const lock of await Promise.all(asked)) {
          if (!lock) throw new Error('Expected the lock to be free.');
          held.push({ symbol: lock.key.symbol, token: lock.token });
        }
      }
      return held;
    };
    const write = (held: readonly { symbol: string; token: bigint }[], round: string) =>
      inTx((tx) =>
        ledger.applyBatch(
          tx,
          held.map(({ symbol, token }) => reserve(`${round} ${symbol}`, '1', { symbol, lockToken: token })(profileId)),
        ),
      );
    const stale = await acquire(symbols);
    await expireAll();
    // For every second one there is a successor; the others nobody took.
    const fresh = await acquire(symbols.filter((_, index) => index % 2 === 0));

    const refused = await write(stale, 'stale');
    expect(refused.filter((verdict) => !('code' in verdict && verdict.code === 'stale_lock'))).toEqual([]);
    for (const [index, { symbol, token }] of stale.entries()) {
      if (index % 10 !== 0) continue;
      const command = { ...reserve(`alone ${symbol}`, '1', { symbol, lockToken: token })(profileId) };
      expect(await inTx((tx) => ledger.reserve(tx, command as ledger.Reservation))).toMatchObject({
        code: 'stale_lock',
      });
      await expect(inTx((tx) => requireEntryLock(tx, { profileId, symbol, token }))).rejects.toThrow(StaleLock);
    }
    expect(await available()).toBe('1000000');

    expect((await write(fresh, 'fresh')).every(({ outcome }) => outcome === 'applied')).toBe(true);
    expect(await available()).toBe(String(1_000_000 - TRIALS / 2));
  });
});
