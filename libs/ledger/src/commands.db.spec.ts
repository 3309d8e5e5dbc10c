import { describe, expect, it } from 'vitest';
import * as ledger from '../index.js';
import { setupDoors, type Balances } from './testing/doors.js';
import { close, deposit, fill, release, reserve, withdraw, type Step } from './testing/steps.js';

interface Case {
  readonly name: string;
  readonly given: readonly Step[];
  readonly when: Step;
  readonly then: Balances;
  readonly openTrades?: number;
}

const filled = { quantity: '10', amount: '400' };

describe('a command that is applied', () => {
  it.each<Case>([
    { name: 'a deposit', given: [], when: deposit('1000.5'), then: ['1000.5', '0', '0', '0', '1000.5'] },
    {
      name: 'a withdrawal of everything',
      given: [deposit('1000')],
      when: withdraw('1000'),
      then: ['0', '0', '0', '0', '0'],
    },
    {
      name: 'a reservation of everything',
      given: [deposit('1000')],
      when: reserve('a', '1000'),
      then: ['1000', '1000', '0', '0', '0'],
      openTrades: 1,
    },
    {
      name: 'a release of a part',
      given: [deposit('1000'), reserve('a', '400')],
      when: release('a', '150'),
      then: ['1000', '250', '0', '0', '750'],
      openTrades: 1,
    },
    {
      name: 'a release of the rest, by its amount',
      given: [deposit('1000'), reserve('a', '400')],
      when: release('a', '400'),
      then: ['1000', '0', '0', '0', '1000'],
    },
    {
      name: 'a release of whatever is left',
      given: [deposit('1000'), reserve('a', '400'), release('a', '1')],
      when: release('a'),
      then: ['1000', '0', '0', '0', '1000'],
    },
    {
      name: 'a fill of everything at the reserved price',
      given: [deposit('1000'), reserve('a', '400')],
      when: fill('a', filled),
      then: ['1000', '0', '400', '0', '600'],
      openTrades: 1,
    },
    {
      name: 'a partial fill, which takes its share',
      given: [deposit('1000'), reserve('a', '400')],
      when: fill('a', { quantity: '4', amount: '160' }),
      then: ['1000', '240', '160', '0', '600'],
      openTrades: 1,
    },
    {
      name: 'a cheaper fill, which gives the rest of its share back',
      given: [deposit('1000'), reserve('a', '400')],
      when: fill('a', { quantity: '5', amount: '150' }),
      then: ['1000', '200', '150', '0', '650'],
      openTrades: 1,
    },
    {
      name: 'a dearer fill, which takes the overrun from what is available',
      given: [deposit('1000'), reserve('a', '400')],
      when: fill('a', { quantity: '10', amount: '450' }),
      then: ['1000', '0', '450', '0', '550'],
      openTrades: 1,
    },
    {
      name: 'a fill with a fee, charged to the profit at once',
      given: [deposit('1000'), reserve('a', '400')],
      when: fill('a', filled, { fee: '1.25' }),
      then: ['1000', '0', '400', '-1.25', '598.75'],
      openTrades: 1,
    },
    {
      name: 'a fill with a rebate',
      given: [deposit('1000'), reserve('a', '400')],
      when: fill('a', filled, { fee: '-0.5' }),
      then: ['1000', '0', '400', '0.5', '600.5'],
      openTrades: 1,
    },
    {
      name: 'a share that is no finite decimal, rounded down at the 18th digit',
      given: [deposit('1000'), reserve('a', '20', { quantity: '3' })],
      when: fill('a', { quantity: '1', amount: '6' }),
      then: ['1000', '13.333333333333333334', '6', '0', '980.666666666666666666'],
      openTrades: 1,
    },
    {
      name: 'a last fill, which takes the whole rest whatever was rounded before',
      given: [
        deposit('1000'),
        reserve('a', '20', { quantity: '3' }),
        fill('a', { quantity: '1', amount: '6' }),
        fill('a', { quantity: '1', amount: '6' }),
      ],
      when: fill('a', { quantity: '1', amount: '6' }),
      then: ['1000', '0', '18', '0', '982'],
      openTrades: 1,
    },
    {
      name: 'a fill of more than was ordered',
      given: [deposit('1000'), reserve('a', '400')],
      when: fill('a', { quantity: '12', amount: '480' }),
      then: ['1000', '0', '480', '0', '520'],
      openTrades: 1,
    },
    {
      name: 'a fill that comes after the order was given up',
      given: [deposit('1000'), reserve('a', '400'), release('a')],
      when: fill('a', { quantity: '2', amount: '80' }),
      then: ['1000', '0', '80', '0', '920'],
      openTrades: 1,
    },
    {
      name: 'a close with profit',
      given: [deposit('1000'), reserve('a', '400'), fill('a', filled)],
      when: close('a', { quantity: '10', pnl: '50' }),
      then: ['1000', '0', '0', '50', '1050'],
    },
    {
      name: 'a close with loss and fee',
      given: [deposit('1000'), reserve('a', '400'), fill('a', filled)],
      when: close('a', { quantity: '10', pnl: '-30' }, { fee: '2' }),
      then: ['1000', '0', '0', '-32', '968'],
    },
    {
      name: 'a close at cost',
      given: [deposit('1000'), reserve('a', '400'), fill('a', filled)],
      when: close('a', { quantity: '10', pnl: '0' }),
      then: ['1000', '0', '0', '0', '1000'],
    },
    {
      name: 'a partial close, which gives back its share of the cost',
      given: [deposit('1000'), reserve('a', '400'), fill('a', filled)],
      when: close('a', { quantity: '4', pnl: '8' }),
      then: ['1000', '0', '240', '8', '768'],
      openTrades: 1,
    },
    {
      name: 'a close while a part of the order is still open',
      given: [deposit('1000'), reserve('a', '400'), fill('a', { quantity: '5', amount: '200' })],
      when: close('a', { quantity: '5', pnl: '1' }),
      then: ['1000', '200', '0', '1', '801'],
      openTrades: 1,
    },
    {
      name: 'the largest and the smallest amount together',
      given: [deposit('99999999999999999999')],
      when: deposit('0.000000000000000001'),
      then: ['99999999999999999999.000000000000000001', '0', '0', '0', '99999999999999999999.000000000000000001'],
    },
  ])('$name', async ({ given, when, then, openTrades = 0 }) => {
    const { doors, newProfile, balances, inTx } = await setupDoors();
    for (const [name, door] of Object.entries(doors)) {
      const profileId = await newProfile();
      for (const step of given) expect(await door(step(profileId)), name).toMatchObject({ outcome: 'applied' });
      const first = await door(when(profileId));
      expect(first, name).toMatchObject({ outcome: 'applied' });
      expect(await balances(profileId), name).toEqual({ balances: then, openTrades });
      expect(await door(when(profileId)), `${name}, sent again`).toEqual({ ...first, outcome: 'duplicate' });
      expect(await balances(profileId), `${name}, sent again`).toEqual({ balances: then, openTrades });
      expect(await inTx((tx) => ledger.verifyLedger(tx, profileId)), name).toMatchObject([{ problem: undefined }]);
    }
  });
});
