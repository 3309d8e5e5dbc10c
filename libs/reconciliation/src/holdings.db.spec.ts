import { describe, expect, it } from 'vitest';
import { noteHoldings, readHoldings } from './holding-records.js';
import { d, setupReconciliation, SYMBOL, VENUE } from './testing/setup.js';

/** A trade that holds 10 BTC of an account whose holdings are noted. */
async function setup(options: Parameters<typeof setupReconciliation>[0] = {}) {
  const world = await setupReconciliation(options);
  const profileId = await world.newProfile();
  const { tradeId } = await world.buy(profileId);
  await world.sweep();
  const noted = async (): Promise<Record<string, string>> => {
    const { known } = await world.database.statement((tx) => readHoldings(tx, 'paper'));
    return Object.fromEntries([...known].map(([asset, { held: amount }]) => [asset, amount.toString()]));
  };
  return { ...world, profileId, tradeId, noted };
}

describe('what an account holds', () => {
  it('is noted first, and then follows from our fills without being written again', async () => {
    const { noted, exit, fillUnseen, tell, profileId, tradeId, sweepQuietly } = await setup();
    expect(await noted()).toEqual({ BTC: '10', USD: '999000' });
    const { orderId } = await exit({ profileId, tradeId });
    fillUnseen(orderId, 'x1', '10', { price: d('120'), fee: { amount: d('1.2'), asset: 'USD' } });
    await tell(orderId);
    expect(await sweepQuietly()).toMatchObject({ outcome: 'clean' });
    expect(await noted()).toEqual({ BTC: '10', USD: '999000' });
  });

  it('is not noted by a sweep that began before the one that noted it last', async () => {
    const { clock, database, noted } = await setup();
    const note = (amount: string, at: number) =>
      database.transaction((tx) =>
        noteHoldings(tx, { venue: VENUE, held: new Map([['BTC', d(amount)]]), heldAt: new Date(clock.now() + at) }),
      );
    await note('12', 2_000);
    await note('11', 1_000);
    expect(await noted()).toMatchObject({ BTC: '12' });
    await note('13', 3_000);
    expect(await noted()).toMatchObject({ BTC: '13' });
  });

  it('is noted as nothing of an asset that is traded and not held', async () => {
    const { newProfile, enter, sweep, database } = await setupReconciliation();
    await enter(await newProfile());
    await sweep();
    const { known } = await database.statement((tx) => readHoldings(tx, 'paper'));
    expect(known.get('BTC')).toMatchObject({ held: d('0') });
  });

  it.each([
    ['up', 'USD', '500', ['999000', '999500']],
    ['down', 'USD', '-500', ['999000', '998500']],
    ['up', 'BTC', '0.5', ['10', '10.5']],
  ] as const)('that somebody else moved %s is noted once: %s by %s', async (_, asset, by, [expected, total]) => {
    const { account, sweep, sweepQuietly, corrections, halts, noted } = await setup();
    account.move(asset, d(by));
    expect(await sweep()).toMatchObject({ outcome: 'clean', figures: { mismatches: 0 } });
    expect(await corrections()).toMatchObject([
      {
        ...{ kind: 'holding-moved', rule: 15, state: 'noted', times: 1 },
        ...{ recorded: { asset, held: expected }, reported: { asset, held: total } },
      },
    ]);
    expect(await halts()).toEqual([]);
    expect(await noted()).toMatchObject({ [asset]: total });
    await sweepQuietly();
  });

  it('below what our trades hold is asked about, and stops entries of the symbol', async () => {
    const { account, sweep, sweepQuietly, corrections, halts, balances, contradictions, profileId } = await setup();
    const before = await balances(profileId);
    account.move('BTC', d('-3'));
    expect(await sweep()).toMatchObject({ outcome: 'corrected', figures: { openQuestions: 1, corrected: 0 } });
    const found = await corrections();
    expect(found).toHaveLength(2);
    expect(found.find(({ kind }) => kind === 'holding-short')).toMatchObject({
      ...{ rule: 14, state: 'asked', symbol: SYMBOL, haltId: expect.any(String) },
      ...{ recorded: { asset: 'BTC', held: '10' }, reported: { asset: 'BTC', held: '7' } },
    });
    expect(found.find(({ kind }) => kind === 'holding-short')?.profileId).toBeUndefined();
    expect(await halts()).toEqual([`symbol paper ${SYMBOL.toLowerCase()}`]);
    expect(await balances(profileId)).toEqual(before);
    expect(await sweepQuietly()).toMatchObject({ figures: { openQuestions: 1, mismatches: 1 } });
    expect(await contradictions(profileId)).toEqual([]);
  });

  it('is compared as positions where the venue has them', async () => {
    const { account, sweep, corrections } = await setup();
    account.hasPositions = true;
    account.held.delete('BTC');
    account.positions = [{ symbol: SYMBOL, quantity: d('7'), averagePrice: d('100') }];
    await sweep();
    expect((await corrections()).map(({ kind }) => kind).toSorted()).toEqual(['holding-moved', 'holding-short']);
  });

  it('within what a venue takes as a fee without telling is no difference', async () => {
    const { account, enter, newProfile, fillUnseen, tell, sweepQuietly } = await setup();
    const { orderId } = await enter(await newProfile());
    fillUnseen(orderId, 'f2', '10');
    await tell(orderId);
    account.move('BTC', d('-0.05'));
    await sweepQuietly();
  });
});

describe('what an account holds is not compared while it moves:', () => {
  it('a fill that we have not booked', async () => {
    const { account, clock, newProfile, enter, fillUnseen, sweep, corrections } = await setup({
      settings: { settleMs: 600_000 },
    });
    const { orderId } = await enter(await newProfile());
    fillUnseen(orderId, 'f2', '4');
    account.change(orderId, { updatedAt: new Date(clock.now()) });
    expect(await sweep()).toMatchObject({ outcome: 'clean', figures: { leftAlone: 1 } });
    expect(await corrections()).toEqual([]);
  });

  it('an order that the venue says is filled, and whose fills it does not list yet', async () => {
    const { account, clock, lifecycle, newProfile, enter, fillUnseen, sweep, corrections } = await setup({
      settings: { settleMs: 600_000 },
    });
    const { orderId } = await enter(await newProfile());
    fillUnseen(orderId, 'f2', '4');
    account.change(orderId, { updatedAt: new Date(clock.now()) });
    account.hiddenFills.add('f2');
    await lifecycle.apply({ venue: VENUE, source: 'stream' }, { order: account.get(orderId) });
    expect(await sweep()).toMatchObject({ outcome: 'clean', figures: { leftAlone: 1 } });
    expect(await corrections()).toEqual([]);
  });

  it('a fill of an order that we are submitting right now', async () => {
    const { newProfile, tryEnter, fillUnseen, sweep, corrections, onTradeStep, tell } = await setup({
      settings: { submitWindowMs: 600_000 },
    });
    const answered = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    onTradeStep((step) => {
      if (step !== 'entry:answered') return;
      answered.resolve();
      return goOn.promise;
    });
    const entering = tryEnter(await newProfile());
    await answered.promise;
    fillUnseen('v2', 'f2', '10');
    await sweep();
    goOn.resolve();
    await entering;
    await tell('v2');
    await sweep();
    expect(await corrections()).toEqual([]);
  });

  it('the same, of an order that is in no list yet', async () => {
    const { account, newProfile, tryEnter, fillUnseen, sweep, corrections, tell } = await setup({
      settings: { submitWindowMs: 600_000 },
    });
    account.submission = 'lost';
    account.failing.add('findByClientOrderId');
    const profileId = await newProfile();
    account.beforeAnswer = async (verb) => {
      if (verb !== 'balances') return;
      account.beforeAnswer = () => undefined;
      await tryEnter(profileId);
      fillUnseen('v2', 'f2', '10');
    };
    await sweep();
    await tell('v2');
    await sweep();
    expect(await corrections()).toEqual([]);
  });

  it.each(['openOrders', 'balances', 'fills'])(
    'a fill that came and was booked before %s were answered',
    async (verb) => {
      const { account, newProfile, enter, fillUnseen, tell, sweep, corrections } = await setup();
      const { orderId } = await enter(await newProfile());
      account.beforeAnswer = async (asked) => {
        if (asked !== verb) return;
        account.beforeAnswer = () => undefined;
        fillUnseen(orderId, 'f2', '10');
        await tell(orderId);
      };
      await sweep();
      await sweep();
      expect(await corrections()).toEqual([]);
    },
  );

  it.each(['sweep:proved', 'sweep:locked'])(
    'a fill that came and was booked at %s, before anything is noted',
    async (at) => {
      const { account, newProfile, enter, fillUnseen, tell, sweep, corrections, onStep } = await setup();
      const { orderId } = await enter(await newProfile());
      account.move('USD', d('500'));
      onStep(async (step) => {
        if (step !== at) return;
        onStep(() => undefined);
        fillUnseen(orderId, 'f2', '10');
        await tell(orderId);
      });
      await sweep();
      await sweep();
      await sweep();
      expect((await corrections()).map(({ kind, times, recorded }) => [kind, times, recorded?.['asset']])).toEqual([
        ['holding-moved', 1, 'USD'],
      ]);
    },
  );
});
