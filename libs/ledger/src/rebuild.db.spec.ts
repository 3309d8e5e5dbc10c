import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import * as ledger from '../index.js';
import type { Rebuild, TradeTruth } from '../index.js';
import { d, setupLedger, snapshotOf } from './testing/setup.js';
import { close, deposit, fill, reserve, tradeId, type Step } from './testing/steps.js';

/** orders: amount of quantity; positions: amount of quantity. */
function truth(trade: string, orders: [string, string], positions: [string, string]): TradeTruth {
  return {
    tradeId: tradeId(trade),
    ...{ orderAmount: d(orders[0]), orderQuantity: d(orders[1]) },
    ...{ positionAmount: d(positions[0]), positionQuantity: d(positions[1]) },
  };
}

async function setup() {
  const kit = await setupLedger();
  const profileId = await kit.newProfile();
  const play = async (...steps: Step[]) => {
    const verdicts = await kit.inTx((tx) =>
      ledger.applyBatch(
        tx,
        steps.map((step) => step(profileId)),
      ),
    );
    for (const verdict of verdicts) expect(verdict).toMatchObject({ outcome: 'applied' });
  };
  const find = async () => {
    const row = await kit.inTx((tx) => ledger.findLedger(tx, profileId));
    if (!row) throw new Error('Expected a ledger.');
    return row;
  };
  const balances = async () => {
    const row = await find();
    return [row.reservedForOrders, row.reservedForPositions, row.availableCapital, row.openTrades].map(String);
  };
  const rebuild = async (trades: TradeTruth[], more: Partial<Rebuild> = {}) => {
    const { lastSequence } = await find();
    const command = { profileId, key: randomUUID(), actor: 'sweep', untilSequence: lastSequence, trades, ...more };
    return kit.inTx((tx) => ledger.rebuild(tx, command));
  };
  await play(deposit('1000'));
  return { ...kit, profileId, play, find, balances, rebuild };
}

const applied = expect.objectContaining({ outcome: 'applied' }) as unknown;

describe('rebuild', () => {
  it('makes each trade what the venue says, and sets to nothing what the venue does not name', async () => {
    const { play, balances, rebuild, inTx, profileId } = await setup();
    await play(
      reserve('a', '100'),
      reserve('b', '200'),
      fill('b', { quantity: '10', amount: '200' }),
      reserve('c', '50'),
    );
    const verdicts = await rebuild([truth('a', ['40', '4'], ['60', '6']), truth('new', ['0', '0'], ['5', '1'])]);
    expect(verdicts).toEqual([applied, applied, applied, applied]);
    expect(await balances()).toEqual(['40', '65', '895', '2']);
    expect(await inTx((tx) => ledger.verifyLedger(tx, profileId))).toMatchObject([{ problem: undefined }]);
    await play(close('a', { quantity: '3', pnl: '1' }));
    expect((await balances())[1]).toBe('35');
  });

  it('changes nothing when the ledger already says so', async () => {
    const { play, rebuild, admin } = await setup();
    await play(reserve('a', '100'));
    const before = await snapshotOf(admin);
    expect(await rebuild([truth('a', ['100', '10'], ['0', '0'])])).toEqual([{ outcome: 'refused', code: 'unchanged' }]);
    expect(await snapshotOf(admin)).toEqual(before);
  });

  it('of nothing, where nothing is open, is no error', async () => {
    const { rebuild } = await setup();
    expect(await rebuild([])).toEqual([]);
  });

  it('corrects a quantity alone', async () => {
    const { play, rebuild, balances } = await setup();
    await play(reserve('a', '100'), fill('a', { quantity: '10', amount: '100' }));
    expect(await rebuild([truth('a', ['0', '0'], ['100', '20'])])).toEqual([applied]);
    await play(close('a', { quantity: '5', pnl: '0' }));
    expect(await balances()).toEqual(['0', '75', '925', '1']);
  });

  it('sent again after more has happened changes nothing', async () => {
    const { play, rebuild, find, admin } = await setup();
    await play(reserve('a', '100'));
    const { lastSequence: untilSequence } = await find();
    const again = () => rebuild([truth('a', ['40', '4'], ['60', '6'])], { key: 'sweep-1', untilSequence });
    expect(await again()).toEqual([applied]);
    await play(reserve('later', '10'), close('a', { quantity: '1', pnl: '0' }));
    const before = await snapshotOf(admin);
    expect(await again()).toEqual([expect.objectContaining({ outcome: 'duplicate' })]);
    expect(await snapshotOf(admin)).toEqual(before);
  });

  it('leaves alone what changed after the venue was asked', async () => {
    const { play, rebuild, find, balances } = await setup();
    await play(reserve('a', '100'), reserve('b', '100'));
    const { lastSequence: untilSequence } = await find();
    await play(fill('a', { quantity: '10', amount: '100' }), reserve('c', '7'));
    expect(await rebuild([truth('a', ['100', '10'], ['0', '0'])], { untilSequence })).toHaveLength(2);
    expect(await balances()).toEqual(['7', '100', '893', '2']);
    const verdicts = await rebuild([truth('a', ['1', '1'], ['0', '0'])], { untilSequence });
    expect(verdicts).toEqual([{ outcome: 'refused', code: 'changed_since' }]);
  });

  it('records a breach, and halts', async () => {
    const { rebuild, find, inTx, profileId } = await setup();
    expect(await rebuild([truth('a', ['0', '0'], ['1500', '1'])])).toEqual([applied]);
    expect((await find()).breachedAt).toBeInstanceOf(Date);
    expect(await inTx((tx) => ledger.listHalts(tx, { profileId }))).toHaveLength(1);
  });

  it.each<[string, Partial<Rebuild>, ledger.RefusalCode]>([
    ['a bad key', { key: 'a b' }, 'invalid_key'],
    ['a key too long for what is added to it', { key: 'k'.repeat(64) }, 'invalid_key'],
    ['a bad actor', { actor: '' }, 'invalid_actor'],
    ['a bad profile', { profileId: 'nobody' }, 'unknown_profile'],
    ['an unknown profile', { profileId: randomUUID() }, 'unknown_profile'],
    ['a bad trade', { trades: [{ ...truth('a', ['1', '1'], ['0', '0']), tradeId: 'x' }] }, 'field_missing'],
    ['a negative amount', { trades: [truth('a', ['-1', '1'], ['0', '0'])] }, 'amount_not_positive'],
    [
      'an amount too precise',
      { trades: [truth('a', ['1', '1'], ['0.0000000000000000001', '0'])] },
      'amount_too_precise',
    ],
    ['an impossible sequence', { untilSequence: -1n }, 'field_missing'],
    ['a time that never was', { happenedAt: new Date(Number.NaN) }, 'invalid_time'],
  ])('is refused with %s, and nothing changes', async (_name, more, code) => {
    const { rebuild, admin } = await setup();
    const before = await snapshotOf(admin);
    expect(await rebuild([truth('a', ['1', '1'], ['0', '0'])], more)).toMatchObject([{ outcome: 'refused', code }]);
    expect(await snapshotOf(admin)).toEqual(before);
  });
});
