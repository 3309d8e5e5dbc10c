import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Tx } from '#libs/database';
import * as ledger from '../index.js';
import { InvalidHalt, UnknownProfile, type LedgerCommand, type ProfileLimits, type Verdict } from '../index.js';
import { d, setupLedger, snapshotOf } from './testing/setup.js';
import { close, deposit, fill, release, reserve, withdraw, type Step } from './testing/steps.js';

async function setup() {
  const kit = await setupLedger();
  const apply = (command: LedgerCommand) =>
    kit.inTx(async (tx) => (await ledger.applyBatch(tx, [command]))[0] as Verdict);
  const alone = ({ kind, ...command }: LedgerCommand) =>
    kit.inTx((tx) => (ledger[kind] as (tx: Tx, command: object) => Promise<Verdict>)(tx, command));
  const play = async (profileId: string, steps: readonly Step[]) => {
    for (const step of steps) expect(await apply(step(profileId))).toMatchObject({ outcome: 'applied' });
  };
  const find = (profileId: string) => kit.inTx((tx) => ledger.findLedger(tx, profileId));
  return { ...kit, doors: [apply, alone], apply, play, find };
}

const refused = (code: string, detail: string) => ({ outcome: 'refused', code, detail });
const bought = [reserve('x', '100'), fill('x', { quantity: '10', amount: '100' })];

describe('limits inside the reservation', () => {
  it.each<[string, ProfileLimits, Step[], Step, Step, Verdict]>([
    [
      'the largest order',
      { orderNotionalMax: d('50') },
      [],
      reserve('a', '50'),
      reserve('b', '50.000000000000000001'),
      refused('limit_order_notional', '50') as Verdict,
    ],
    [
      'open trades',
      { openPositionsMax: 2 },
      [reserve('x', '1')],
      reserve('a', '1'),
      reserve('b', '1'),
      refused('limit_open_positions', '2') as Verdict,
    ],
    [
      'the loss of a day',
      { dailyLossMax: d('30') },
      [...bought, close('x', { quantity: '5', pnl: '-29.5' })],
      reserve('a', '1'),
      reserve('b', '1'),
      refused('limit_daily_loss', '30') as Verdict,
    ],
  ])('%s: what is just allowed passes, the next is refused', async (name, limits, given, allowed, next, verdict) => {
    const { doors, newProfile, play, inTx, admin } = await setup();
    for (const door of doors) {
      const profileId = await newProfile();
      await play(profileId, [deposit('1000'), ...given]);
      expect(await inTx((tx) => ledger.putLimits(tx, profileId, limits))).toEqual(limits);
      expect(await door(allowed(profileId))).toMatchObject({ outcome: 'applied' });
      if (name === 'the loss of a day') await play(profileId, [close('x', { quantity: '5', pnl: '-0.5' })]);
      const before = await snapshotOf(admin);
      expect(await door(next(profileId))).toEqual(verdict);
      expect(await snapshotOf(admin)).toEqual(before);
      // What is no entry is not limited, and without the limit the same command passes.
      await play(profileId, [withdraw('1'), release('a')]);
      await inTx((tx) => ledger.putLimits(tx, profileId, {}));
      expect(await door(next(profileId))).toMatchObject({ outcome: 'applied' });
    }
  });

  it('a trade that is closed makes room for the next', async () => {
    const { newProfile, play, apply, inTx } = await setup();
    const profileId = await newProfile();
    await inTx((tx) => ledger.putLimits(tx, profileId, { openPositionsMax: 1 }));
    await play(profileId, [deposit('1000'), ...bought]);
    expect(await apply(reserve('a', '1')(profileId))).toEqual(refused('limit_open_positions', '1'));
    await play(profileId, [close('x', { quantity: '10', pnl: '1' }), reserve('a', '1')]);
  });

  it('are read back as they were put, and unknown to a profile that has none', async () => {
    const { newProfile, inTx } = await setup();
    const profileId = await newProfile();
    expect(await inTx((tx) => ledger.findLimits(tx, profileId))).toBeUndefined();
    const limits = { orderNotionalMax: d('12.5'), openPositionsMax: 0, dailyLossMax: d('7') };
    await inTx((tx) => ledger.putLimits(tx, profileId, limits));
    expect(await inTx((tx) => ledger.findLimits(tx, profileId))).toEqual(limits);
    await inTx((tx) => ledger.putLimits(tx, profileId, { openPositionsMax: 3 }));
    expect(await inTx((tx) => ledger.findLimits(tx, profileId))).toEqual({ openPositionsMax: 3 });
    await expect(inTx((tx) => ledger.putLimits(tx, randomUUID(), limits))).rejects.toThrow(UnknownProfile);
  });
});

describe('halts', () => {
  const scopes = (profileId: string) =>
    [
      { scope: 'global' },
      { scope: 'venue', venue: 'paper' },
      { scope: 'profile', profileId },
      { scope: 'profile', profileId, venue: 'paper' },
      { scope: 'symbol', symbol: 'Btc/Usd' },
      { scope: 'symbol', symbol: 'BTC/USD', profileId, venue: 'paper' },
    ] as const;

  it('refuse the very next reservation after their commit, in their scope, until they are lifted', async () => {
    const { doors, newProfile, play, inTx, admin } = await setup();
    const profileId = await newProfile();
    const elsewhere = await newProfile();
    await play(profileId, [deposit('1000'), ...bought]);
    await play(elsewhere, [deposit('1000')]);
    for (const scope of scopes(profileId)) {
      for (const door of doors) {
        const { halt, isNew } = await inTx((tx) =>
          ledger.createHalt(tx, { ...scope, reason: 'storm', createdBy: 'ops' }),
        );
        expect(isNew).toBe(true);
        const before = await snapshotOf(admin);
        const key = randomUUID();
        expect(await door(reserve(key, '1', { key })(profileId))).toEqual(refused('halted', `${scope.scope}: storm`));
        expect(await snapshotOf(admin)).toEqual(before);
        // Whatever leaves a trade goes on.
        await play(profileId, [close('x', { quantity: '0.1', pnl: '-1' }), deposit('1'), withdraw('1')]);
        expect(await inTx((tx) => ledger.liftHalt(tx, halt.haltId))).toEqual(halt);
        expect(await door(reserve(key, '1', { key })(profileId))).toMatchObject({ outcome: 'applied' });
      }
    }
  });

  it('leave alone what is out of their scope', async () => {
    const { newProfile, play, inTx } = await setup();
    const [profileId, other] = [await newProfile(), await newProfile()];
    await play(profileId, [deposit('1000')]);
    const requests: ledger.HaltRequest[] = [
      { scope: 'venue', venue: 'elsewhere', reason: 'r', createdBy: 'ops' },
      { scope: 'profile', profileId: other, reason: 'r', createdBy: 'ops' },
      { scope: 'symbol', symbol: 'ETH/USD', reason: 'r', createdBy: 'ops' },
      { scope: 'symbol', symbol: 'BTC/USD', profileId: other, reason: 'r', createdBy: 'ops' },
      { scope: 'symbol', symbol: 'BTC/USD', venue: 'elsewhere', reason: 'r', createdBy: 'ops' },
    ];
    for (const request of requests) await inTx((tx) => ledger.createHalt(tx, request));
    await play(profileId, [reserve('a', '1')]);
    expect((await inTx((tx) => ledger.listHalts(tx))).length).toBe(5);
    expect((await inTx((tx) => ledger.listHalts(tx, { profileId }))).map(({ scope }) => scope)).toEqual([
      'venue',
      'symbol',
      'symbol',
    ]);
  });

  it('said twice are the first one, also by many at once', async () => {
    const { inTx, newProfile } = await setup();
    const profileId = await newProfile();
    const say = (symbol: string, createdBy: string) =>
      inTx((tx) => ledger.createHalt(tx, { scope: 'symbol', symbol, profileId, reason: 'storm', createdBy }));
    const said = await Promise.all(['a', 'b', 'c', 'd'].map((name) => say('BTC/usd', name)));
    expect(said.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(new Set(said.map(({ halt }) => halt.haltId)).size).toBe(1);
    expect(said[0]?.halt).toMatchObject({ scope: 'symbol', symbol: 'btc/usd', reason: 'storm' });
    expect(await inTx((tx) => ledger.liftHalt(tx, said[0]?.halt.haltId ?? ''))).toBeDefined();
    expect(await inTx((tx) => ledger.liftHalt(tx, said[0]?.halt.haltId ?? ''))).toBeUndefined();
  });

  it('that name less or more than their scope are refused', async () => {
    const { inTx } = await setup();
    const wrong: Pick<ledger.HaltRequest, 'scope' | 'venue' | 'symbol'>[] = [
      { scope: 'global', venue: 'paper' },
      { scope: 'venue' },
      { scope: 'profile', venue: 'paper' },
      { scope: 'symbol', venue: 'paper' },
      { scope: 'venue', venue: 'paper', symbol: 'x' },
    ];
    for (const request of wrong) {
      const attempt = inTx((tx) => ledger.createHalt(tx, { ...request, reason: 'r', createdBy: 'ops' }));
      await expect(attempt).rejects.toThrow(InvalidHalt);
    }
    const unknown = { scope: 'profile', profileId: randomUUID(), reason: 'r', createdBy: 'ops' } as const;
    await expect(inTx((tx) => ledger.createHalt(tx, unknown))).rejects.toThrow(UnknownProfile);
    expect(await inTx((tx) => ledger.listHalts(tx))).toEqual([]);
  });
});

describe('a breach by what a venue proved', () => {
  it('is recorded, marked and halts the profile, in one transaction', async () => {
    const { doors, newProfile, play, find, inTx } = await setup();
    for (const door of doors) {
      const profileId = await newProfile();
      await play(profileId, [deposit('100'), reserve('a', '100')]);
      const step = fill('a', { quantity: '10', amount: '130' });
      const look = async (tx: Tx) => ({
        breachedAt: (await ledger.findLedger(tx, profileId))?.breachedAt,
        halts: (await ledger.listHalts(tx, { profileId })).map(({ scope, reason, createdBy }) => ({
          ...{ scope, reason, createdBy },
        })),
        last: (await ledger.listEntries(tx, { profileId, limit: 10 })).at(-1),
      });
      const before = await inTx(look);
      await expect(
        inTx(async (tx) => {
          await ledger.applyBatch(tx, [step(profileId)]);
          expect((await look(tx)).halts).toHaveLength(1);
          throw new Error('undone');
        }),
      ).rejects.toThrow('undone');
      expect(await inTx(look)).toEqual(before);

      expect(await door(step(profileId))).toMatchObject({ outcome: 'applied' });
      const after = await inTx(look);
      expect(after.halts).toEqual([
        { scope: 'profile', reason: 'available capital is below zero', createdBy: 'ledger' },
      ]);
      expect(after.breachedAt).toEqual(after.last?.recordedAt);
      expect(String((await find(profileId))?.availableCapital)).toBe('-30');

      expect(await door(withdraw('1')(profileId))).toEqual(refused('insufficient_capital', '-30'));
      await play(profileId, [deposit('80')]);
      expect(await find(profileId)).toMatchObject({ breachedAt: undefined });
      expect(await door(reserve('b', '1')(profileId))).toMatchObject({ code: 'halted' });
    }
  });

  it('in the middle of a batch refuses the reservations after it', async () => {
    const { newProfile, inTx } = await setup();
    const profileId = await newProfile();
    const steps = [
      ...[deposit('100'), reserve('a', '100'), fill('a', { quantity: '10', amount: '130' })],
      ...[deposit('1000'), reserve('b', '1')],
    ];
    const verdicts = await inTx((tx) =>
      ledger.applyBatch(
        tx,
        steps.map((step) => step(profileId)),
      ),
    );
    expect(verdicts.at(-1)).toEqual(refused('halted', 'profile: available capital is below zero'));
  });

  it('by a fee or a loss counts as well', async () => {
    const { newProfile, play, find } = await setup();
    const profileId = await newProfile();
    await play(profileId, [deposit('100'), ...bought, close('x', { quantity: '10', pnl: '-100.5' })]);
    expect((await find(profileId))?.breachedAt).toBeInstanceOf(Date);
  });
});
