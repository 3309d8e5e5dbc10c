import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { d, setupReconciliation, SYMBOL } from './testing/setup.js';

describe('an order of one of our intents that was not recorded', () => {
  it('is recorded with its fills when the process died before it could', async () => {
    const { newProfile, tryEnter, onTradeStep, fillUnseen, ...world } = await setupReconciliation();
    const { sweep, sweepQuietly, trade, corrections, contradictions } = world;
    const profileId = await newProfile();
    onTradeStep((step) => {
      if (step === 'entry:answered') throw new Error('died');
    });
    await expect(tryEnter(profileId)).rejects.toThrow('died');
    fillUnseen('v1', 'f1', '10');
    expect(await sweep()).toMatchObject({ outcome: 'corrected', figures: { corrected: 1, missingInDb: 1 } });
    const [correction, ...others] = await corrections();
    expect(others).toEqual([]);
    expect(correction).toMatchObject({
      ...{ kind: 'log-order', rule: 5, state: 'applied', profileId, orderId: 'v1', recorded: null },
      reported: { status: 'filled', filledQuantity: '10' },
    });
    expect(await trade(profileId, correction?.tradeId ?? '')).toMatchObject({
      state: 'open',
      positionQuantity: d('10'),
    });
    await sweep();
    expect(await sweepQuietly()).toMatchObject({ outcome: 'clean', figures: { mismatches: 0 } });
    expect(await contradictions(profileId)).toEqual([]);
  });

  it('is recorded when the answer was lost, and left alone while it may be on its way', async () => {
    const make = async (submitWindowMs: number) => {
      const { newProfile, tryEnter, sweep, sweepQuietly, trade, account } = await setupReconciliation({
        settings: { submitWindowMs },
      });
      const profileId = await newProfile();
      account.submission = 'lost';
      account.failing.add('findByClientOrderId');
      const { tradeId, outcome } = await tryEnter(profileId);
      expect(outcome).toBe('unknown');
      account.failing.clear();
      const swept = await sweep();
      await sweepQuietly();
      return { figures: swept.figures, state: (await trade(profileId, tradeId))?.state };
    };
    const [late, early] = await Promise.all([make(0), make(600_000)]);
    expect(late).toMatchObject({ state: 'entering', figures: { missingInDb: 1, corrected: 1, leftAlone: 0 } });
    expect(early).toMatchObject({ state: 'unknown', figures: { missingInDb: 0, corrected: 0, leftAlone: 1 } });
  });

  it('is recorded, disputed and halted when its intent had been given up', async () => {
    const { newProfile, tryEnter, sweep, sweepQuietly, trade, account, ...world } = await setupReconciliation();
    const profileId = await newProfile();
    account.submission = 'refused';
    const { tradeId, outcome } = await tryEnter(profileId);
    expect(outcome).toBe('rejected');
    world.fillUnseen('v1', 'f1', '3');
    expect(await sweep()).toMatchObject({ outcome: 'corrected' });
    expect(await world.corrections()).toMatchObject([{ kind: 'log-order', state: 'applied', tradeId }]);
    expect(await trade(profileId, tradeId)).toMatchObject({ state: 'disputed', positionQuantity: d('3') });
    expect(await world.halts()).toEqual([`symbol ${SYMBOL.toLowerCase()}`]);
    await sweep();
    await sweepQuietly();
    expect(await world.contradictions(profileId)).toEqual([]);
  });

  it('is recorded when it is an exit', async () => {
    const { newProfile, buy, onTradeStep, exit, sweep, sweepQuietly, ...world } = await setupReconciliation();
    const profileId = await newProfile();
    const { tradeId } = await buy(profileId);
    await sweep();
    onTradeStep((step) => {
      if (step === 'exit:answered') throw new Error('died');
    });
    await expect(exit({ profileId, tradeId })).rejects.toThrow('died');
    world.fillUnseen('v2', 'x1', '10');
    expect(await sweep()).toMatchObject({ outcome: 'corrected', figures: { corrected: 1 } });
    expect(await world.corrections()).toMatchObject([{ kind: 'log-order', orderId: 'v2', tradeId }]);
    expect(await world.trade(profileId, tradeId)).toMatchObject({ state: 'closed' });
    await sweepQuietly();
    expect(await world.contradictions(profileId)).toEqual([]);
  });
});

describe('an order with our mark that no intent made', () => {
  const id = (profileId: string): string => `test-${profileId}-${randomUUID()}`;

  it.each([
    ['of a profile that we know', true],
    ['of a profile that we do not know', false],
  ])('%s is asked about, and stops entries of its symbol', async (_, isKnown) => {
    const { account, clock, newProfile, enter, sweep, sweepQuietly, ...world } = await setupReconciliation();
    const profileId = await newProfile();
    await enter(await newProfile());
    await sweep();
    const stray = {
      ...account.get('v1'),
      venueOrderId: 'stray',
      clientOrderId: id(isKnown ? profileId : randomUUID()),
    };
    account.set({ ...stray, createdAt: new Date(clock.now()) });
    expect(await sweep()).toMatchObject({ outcome: 'corrected', figures: { missingInDb: 1, corrected: 0 } });
    const [correction] = await world.corrections();
    expect(correction).toMatchObject({
      ...{ kind: 'stray-order', rule: 13, state: 'asked', orderId: 'stray', symbol: SYMBOL, recorded: null },
      reported: { clientOrderId: stray.clientOrderId },
    });
    expect(correction?.profileId).toBe(isKnown ? profileId : undefined);
    expect(await world.halts()).toEqual([`symbol paper ${SYMBOL.toLowerCase()}`]);
    expect(await world.tryEnter(profileId)).toMatchObject({ outcome: 'skipped', reason: 'halted' });
    expect(await sweepQuietly()).toMatchObject({ figures: { openQuestions: 1, mismatches: 1 } });
  });

  it('is left alone while it is young', async () => {
    const { account, clock, newProfile, enter, sweep, corrections } = await setupReconciliation({
      settings: { submitWindowMs: 600_000 },
    });
    const profileId = await newProfile();
    await enter(profileId);
    account.set({
      ...{ ...account.get('v1'), venueOrderId: 'stray', clientOrderId: id(profileId) },
      createdAt: new Date(clock.now()),
    });
    expect(await sweep()).toMatchObject({ outcome: 'clean', figures: { leftAlone: 1 } });
    expect(await corrections()).toEqual([]);
  });

  it('is a second order under the id of one of ours, and the trade is not touched', async () => {
    const { account, newProfile, enter, sweep, sweepQuietly, trade, ...world } = await setupReconciliation();
    const profileId = await newProfile();
    const { tradeId, orderId } = await enter(profileId);
    await sweep();
    account.set({ ...account.get(orderId), venueOrderId: 'twin' });
    await sweep();
    const clientOrderId = account.get(orderId).clientOrderId;
    expect(await world.corrections()).toMatchObject([
      {
        ...{ kind: 'stray-order', state: 'asked', orderId: 'twin', profileId, tradeId },
        ...{ recorded: { clientOrderId, intent: 'confirmed' }, reported: { clientOrderId, orderId: 'twin' } },
      },
    ]);
    expect(await trade(profileId, tradeId)).toMatchObject({ state: 'entering' });
    await sweepQuietly();
    expect(await world.contradictions(profileId)).toEqual([]);
  });
});
