import { describe, expect, it } from 'vitest';
import type { Tx } from '#libs/database';
import * as ledger from '../index.js';
import { LedgerService, type LedgerCommand, type Verdict } from '../index.js';
import { setupLedger, snapshotOf } from './testing/setup.js';
import { close, deposit, fill, release, reserve, withdraw, type Step } from './testing/steps.js';

/** allocated, orders, positions, pnl, available */
type Balances = readonly [string, string, string, string, string];

interface Case {
  readonly name: string;
  readonly given: readonly Step[];
  readonly when: Step;
  readonly then: Balances;
  readonly openTrades?: number;
}

const refusalOf = (code: ledger.RefusalCode, detail?: string): Verdict =>
  detail === undefined ? { outcome: 'refused', code } : { outcome: 'refused', code, detail };

/** The same command through each of the doors. All must say and do the same. */
type Door = (command: LedgerCommand) => Promise<Verdict>;

function applyAlone(tx: Tx, { kind, ...command }: LedgerCommand): Promise<Verdict> {
  return (ledger[kind] as (tx: Tx, command: object) => Promise<Verdict>)(tx, command);
}

async function setup() {
  const { inTx, database, newProfile, admin } = await setupLedger();
  const service = new LedgerService(database);
  const doors: Record<string, Door> = {
    'function of its own': (command) => inTx((tx) => applyAlone(tx, command)),
    batch: (command) => inTx(async (tx) => (await ledger.applyBatch(tx, [command]))[0] as Verdict),
    service: (command) => service.apply(command),
  };
  const balances = async (profileId: string): Promise<{ balances: Balances; openTrades: number }> => {
    const row = await inTx((tx) => ledger.findLedger(tx, profileId));
    if (!row) throw new Error('Expected a ledger.');
    const figures = [
      row.allocatedCapital,
      row.reservedForOrders,
      row.reservedForPositions,
      row.realizedPnl,
      row.availableCapital,
    ];
    return { balances: figures.map(String) as unknown as Balances, openTrades: row.openTrades };
  };
  return { inTx, admin, newProfile, doors, balances };
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
    const { doors, newProfile, balances, inTx } = await setup();
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
    const { doors, newProfile, admin } = await setup();
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
    const { doors, newProfile, admin } = await setup();
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

describe('a key that was used', () => {
  const others: [string, Step][] = [
    ['another amount', deposit('101', { key: 'k' })],
    ['another command', withdraw('100', { key: 'k' })],
    ['a trade', reserve('b', '100', { key: 'k' })],
  ];
  it.each(others)('is refused for %s, and nothing changes', async (_case, other) => {
    const { doors, newProfile, admin } = await setup();
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
    const { doors, newProfile } = await setup();
    for (const [name, door] of Object.entries(doors)) {
      const profileId = await newProfile();
      await door(deposit('100')(profileId));
      await door(reserve('a', '5', { key: 'k' })(profileId));
      expect(await door(other(profileId)), name).toEqual({ outcome: 'refused', code: 'key_reused' });
    }
  });

  it('is a duplicate whoever sends it, whenever, and however the same number is written', async () => {
    const { doors, newProfile } = await setup();
    for (const [name, door] of Object.entries(doors)) {
      const profileId = await newProfile();
      const first = await door(deposit('100', { key: 'k' })(profileId));
      const again = deposit('100.000', { key: 'k', actor: 'another', happenedAt: new Date(0) });
      expect(await door(again(profileId)), name).toEqual({ ...first, outcome: 'duplicate' });
    }
  });

  it('is a duplicate whatever else the caller has in its object: only what belongs to the command is sent', async () => {
    const { doors, newProfile } = await setup();
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
    const { doors, newProfile } = await setup();
    for (const door of Object.values(doors)) {
      for (const profileId of [await newProfile(), await newProfile()]) {
        expect(await door(deposit('100', { key: 'k' })(profileId))).toEqual({ outcome: 'applied', sequence: 1n });
      }
    }
  });

  it('is found within one batch as well', async () => {
    const { inTx, newProfile, balances } = await setup();
    const profileId = await newProfile();
    const steps = [deposit('1', { key: 'k' }), deposit('1', { key: 'k' }), deposit('2', { key: 'k' })];
    expect(
      await inTx((tx) =>
        ledger.applyBatch(
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
