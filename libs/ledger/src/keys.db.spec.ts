import { describe, expect, it } from 'vitest';
import { applyBatch, type LedgerCommand } from '../index.js';
import { setupDoors } from './testing/doors.js';
import { snapshotOf } from './testing/setup.js';
import { deposit, reserve, withdraw, type Step } from './testing/steps.js';

describe('a key that was used', () => {
  const others: [string, Step][] = [
    ['another amount', deposit('101', { key: 'k' })],
    ['another command', withdraw('100', { key: 'k' })],
    ['a trade', reserve('b', '100', { key: 'k' })],
  ];
  it.each(others)('is refused for %s, and nothing changes', async (_case, other) => {
    const { doors, newProfile, admin } = await setupDoors();
    for (const [name, door] of Object.entries(doors)) {
      const profileId = await newProfile();
      await door(deposit('100', { key: 'k' })(profileId));
      const before = await snapshotOf(admin);
      expect(await door(other(profileId)), name).toEqual({ outcome: 'refused', code: 'key_reused' });
      expect(await snapshotOf(admin), name).toEqual(before);
    }
  });

  it.each([
    ['quantity', reserve('a', '5', { key: 'k', quantity: '11' })],
    ['venue', reserve('a', '5', { key: 'k', venue: 'other' })],
    ['symbol', reserve('a', '5', { key: 'k', symbol: 'ETH/USD' })],
    ['trade', reserve('b', '5', { key: 'k' })],
  ])('is refused for a reservation with another %s', async (_field, other) => {
    const { doors, newProfile } = await setupDoors();
    for (const [name, door] of Object.entries(doors)) {
      const profileId = await newProfile();
      await door(deposit('100')(profileId));
      await door(reserve('a', '5', { key: 'k' })(profileId));
      expect(await door(other(profileId)), name).toEqual({ outcome: 'refused', code: 'key_reused' });
    }
  });

  it('is a duplicate whoever sends it, whenever, and however the same number is written', async () => {
    const { doors, newProfile } = await setupDoors();
    for (const [name, door] of Object.entries(doors)) {
      const profileId = await newProfile();
      const first = await door(deposit('100', { key: 'k' })(profileId));
      const again = deposit('100.000', { key: 'k', actor: 'another', happenedAt: new Date(0) });
      expect(await door(again(profileId)), name).toEqual({ ...first, outcome: 'duplicate' });
    }
  });

  it('is a duplicate whatever else the caller has in its object: only what belongs to the command is sent', async () => {
    const { doors, newProfile } = await setupDoors();
    for (const [name, door] of Object.entries(doors)) {
      const profileId = await newProfile();
      const plain = deposit('100', { key: 'k' })(profileId);
      const first = await door({
        ...plain,
        tradeId: profileId,
        venue: 'x',
        fee: plain.kind === 'deposit' && plain.amount,
      } as unknown as LedgerCommand);
      expect(first, name).toMatchObject({ outcome: 'applied' });
      expect(await door(plain), name).toEqual({ ...first, outcome: 'duplicate' });
    }
  });

  it('is free in another profile', async () => {
    const { doors, newProfile } = await setupDoors();
    for (const door of Object.values(doors)) {
      for (const profileId of [await newProfile(), await newProfile()]) {
        expect(await door(deposit('100', { key: 'k' })(profileId))).toEqual({ outcome: 'applied', sequence: 1n });
      }
    }
  });

  it('is found within one batch as well', async () => {
    const { inTx, newProfile, balances } = await setupDoors();
    const profileId = await newProfile();
    const steps = [deposit('1', { key: 'k' }), deposit('1', { key: 'k' }), deposit('2', { key: 'k' })];
    expect(
      await inTx((tx) =>
        applyBatch(
          tx,
          steps.map((step) => step(profileId)),
        ),
      ),
    ).toEqual([
      { outcome: 'applied', sequence: 1n },
      { outcome: 'duplicate', sequence: 1n },
      { outcome: 'refused', code: 'key_reused' },
    ]);
    expect((await balances(profileId)).balances[0]).toBe('1');
  });
});
