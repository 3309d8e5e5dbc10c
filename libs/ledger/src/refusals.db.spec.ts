import { describe, expect, it } from 'vitest';
import type { RefusalCode, Verdict } from '../index.js';
import { setupDoors } from './testing/doors.js';
import { snapshotOf } from './testing/setup.js';
import { close, deposit, fill, release, reserve, withdraw, type Step } from './testing/steps.js';

const refusalOf = (code: RefusalCode, detail?: string): Verdict =>
  detail === undefined ? { outcome: 'refused', code } : { outcome: 'refused', code, detail };

const filled = { quantity: '10', amount: '400' };

describe('a command that is refused changes nothing and does not use up its key', () => {
  const open = [deposit('1000'), reserve('a', '400')];
  const bought = [...open, fill('a', filled)];
  const done = [...bought, close('a', { quantity: '10', pnl: '1' })];
  it.each<{ name: string; given: readonly Step[]; when: Step; verdict: Verdict }>(
    [
      ['a withdrawal of more than there is', [deposit('5')], withdraw('5.01'), refusalOf('insufficient_capital', '5')],
      ['a withdrawal of what is reserved', open, withdraw('600.1'), refusalOf('insufficient_capital', '600')],
      [
        'a reservation of more than there is',
        [deposit('5')],
        reserve('a', '6'),
        refusalOf('insufficient_capital', '5'),
      ],
      ['a second reservation for a trade', open, reserve('a', '1'), refusalOf('trade_exists')],
      ['a reservation for a closed trade', done, reserve('a', '1'), refusalOf('trade_exists')],
      ['a release of an unknown trade', open, release('b'), refusalOf('unknown_trade')],
      ['a release of more than is reserved', open, release('a', '400.1'), refusalOf('exceeds_reservation', '400')],
      ['a release where all was filled', bought, release('a'), refusalOf('nothing_reserved')],
      ['a release of a closed trade', done, release('a'), refusalOf('trade_closed')],
      ['a fill of an unknown trade', open, fill('b', filled), refusalOf('unknown_trade')],
      ['a close of an unknown trade', open, close('b', { quantity: '1', pnl: '0' }), refusalOf('unknown_trade')],
      ['a close of an order', open, close('a', { quantity: '1', pnl: '0' }), refusalOf('nothing_filled')],
      ['a close of too much', bought, close('a', { quantity: '10.1', pnl: '0' }), refusalOf('exceeds_position', '10')],
      ['a second close', done, close('a', { quantity: '10', pnl: '1' }), refusalOf('trade_closed')],
      ['a negative amount', open, deposit('-1'), refusalOf('amount_not_positive', 'amount')],
      ['an amount of zero', open, withdraw('0'), refusalOf('amount_not_positive', 'amount')],
      ['a quantity of zero', open, reserve('b', '1', { quantity: '0' }), refusalOf('amount_not_positive', 'quantity')],
      ['a release of zero', open, release('a', '0'), refusalOf('amount_not_positive', 'amount')],
      ['40 digits', open, deposit('1'.repeat(40)), refusalOf('amount_too_large', 'amount')],
      ['10^20', open, deposit('100000000000000000000'), refusalOf('amount_too_large', 'amount')],
      [
        'a loss of 10^20',
        bought,
        close('a', { quantity: '1', pnl: '-100000000000000000000' }),
        refusalOf('amount_too_large', 'pnl'),
      ],
      ['19 decimals', open, deposit('0.0000000000000000001'), refusalOf('amount_too_precise', 'amount')],
      [
        'a fee of 19 decimals',
        open,
        fill('a', filled, { fee: '0.0000000000000000001' }),
        refusalOf('amount_too_precise', 'fee'),
      ],
      ['an empty key', open, deposit('1', { key: '' }), refusalOf('invalid_key')],
      ['a key with a blank', open, deposit('1', { key: 'a b' }), refusalOf('invalid_key')],
      ['a key with a backslash', open, deposit('1', { key: 'a\\b' }), refusalOf('invalid_key')],
      ['a key with a NUL', open, deposit('1', { key: 'a\0' }), refusalOf('invalid_key')],
      ['a key of 101 characters', open, deposit('1', { key: 'k'.repeat(101) }), refusalOf('invalid_key')],
      ['a key with a line feed at its end', open, deposit('1', { key: 'k\n' }), refusalOf('invalid_key')],
      ['an actor without a name', open, deposit('1', { actor: '' }), refusalOf('invalid_actor')],
      ['an actor with a blank', open, deposit('1', { actor: 'J R' }), refusalOf('invalid_actor')],
      ['no venue', open, reserve('b', '1', { venue: '' }), refusalOf('field_missing', 'venue')],
      ['a symbol with a NUL', open, reserve('b', '1', { symbol: 'B\0' }), refusalOf('field_missing', 'symbol')],
      ['half a character', open, reserve('b', '1', { symbol: '\ud800' }), refusalOf('field_missing', 'symbol')],
      [
        'a day that never was',
        open,
        deposit('1', { happenedAt: new Date(Number.NaN) }),
        refusalOf('invalid_time', 'happenedAt'),
      ],
      [
        'a day that Postgres cannot read',
        open,
        deposit('1', { happenedAt: new Date(8.64e15) }),
        refusalOf('invalid_time', 'happenedAt'),
      ],
      ['a token nobody ever had', open, reserve('b', '1', { lockToken: 1n }), refusalOf('stale_lock')],
      ['a token beyond all tokens', open, reserve('b', '1', { lockToken: 2n ** 64n }), refusalOf('stale_lock')],
    ].map(([name, given, when, verdict]) => ({ name, given, when, verdict }) as never),
  )('$name', async ({ given, when, verdict }) => {
    const { doors, newProfile, admin } = await setupDoors();
    for (const [name, door] of Object.entries(doors)) {
      const profileId = await newProfile();
      for (const step of given) expect(await door(step(profileId)), name).toMatchObject({ outcome: 'applied' });
      const before = await snapshotOf(admin);
      expect(await door(when(profileId)), name).toEqual(verdict);
      expect(await snapshotOf(admin), name).toEqual(before);
      // A key that the ledger could read is free for the next command.
      const { key } = when(profileId);
      if (/^[\w-]+$/.test(key) && key.length <= 100) {
        expect(await door(deposit('1', { key })(profileId)), name).toMatchObject({ outcome: 'applied' });
      }
    }
  });

  it('a command for a profile without a ledger, or whose id is none', async () => {
    const { doors, newProfile, admin } = await setupDoors();
    await newProfile();
    const before = await snapshotOf(admin);
    for (const [name, door] of Object.entries(doors)) {
      for (const profileId of ['7c9a3f0e-0000-4000-8000-000000000000', 'nobody', '']) {
        for (const step of [deposit('1'), withdraw('1'), reserve('a', '1'), release('a'), fill('a', filled)]) {
          expect(await door(step(profileId)), name).toEqual({ outcome: 'refused', code: 'unknown_profile' });
        }
      }
    }
    expect(await snapshotOf(admin)).toEqual(before);
  });
});
