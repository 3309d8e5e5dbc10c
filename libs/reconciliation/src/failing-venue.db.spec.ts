import { describe, expect, it } from 'vitest';
import { setupReconciliation } from './testing/setup.js';

/** An account with a difference in it that a sweep would correct, were it not for the venue. */
async function setup() {
  const world = await setupReconciliation();
  const { newProfile, enter, fillUnseen, sweep, admin } = world;
  const profileId = await newProfile();
  const [{ orderId }] = [await enter(profileId), await enter(await newProfile())];
  await sweep();
  fillUnseen(orderId, 'f1', '4');
  /** Everything but the record of the run. */
  const written = async () =>
    (await world.written()).split('\n').filter((line) => !line.startsWith('reconciliation_runs '));
  const runs = async () =>
    (await admin.query<object>('select state, reason from reconciliation_runs order by started_at')).rows;
  return { ...world, profileId, orderId, written, runs };
}

const LISTS = ['openOrders', 'closedOrders', 'fills', 'balances', 'positions'] as const;

describe('a sweep that cannot read the whole account', () => {
  it.each(LISTS)('fails and changes nothing when the venue does not answer %s', async (verb) => {
    const { account, sweep, written, runs, corrections } = await setup();
    account.hasPositions = true;
    account.failing.add(verb);
    const before = await written();
    expect(await sweep()).toMatchObject({
      outcome: 'failed',
      runId: expect.any(String),
      reason: expect.stringMatching(verb),
    });
    expect(await written()).toEqual(before);
    expect(await runs()).toEqual([{ state: 'failed', reason: expect.stringMatching(verb) }]);
    account.failing.clear();
    account.hasPositions = false;
    expect(await sweep()).toMatchObject({ outcome: 'corrected', figures: { corrected: 1 } });
    expect(await corrections()).toHaveLength(1);
  });

  it('fails when the fills stay away at the second look', async () => {
    const { account, sweep, written } = await setup();
    account.beforeAnswer = (verb) => {
      if (verb === 'findByVenueOrderId') account.failing.add('fills');
    };
    const before = await written();
    expect(await sweep()).toMatchObject({ outcome: 'failed', reason: expect.stringMatching('fills') });
    expect(await written()).toEqual(before);
  });

  it.each(['all of them', 'one of them'])('fails when the list of open orders lacks %s', async (which) => {
    const { account, sweep, written, runs, corrections, halts, orderId } = await setup();
    const open = [...account.orders.values()];
    account.openList = which === 'all of them' ? [] : open.filter(({ venueOrderId }) => venueOrderId !== orderId);
    const before = await written();
    expect(await sweep()).toMatchObject({
      ...{ outcome: 'failed', figures: { corrected: 0 } },
      reason: expect.stringMatching(/left the open order v1 out/),
    });
    expect(await written()).toEqual(before);
    expect(await runs()).toMatchObject([{ state: 'failed' }]);
    expect([await corrections(), await halts()]).toEqual([[], []]);
    expect(account.asked.filter((verb) => verb.startsWith('find'))).toHaveLength(1);
    account.openList = undefined;
    expect(await sweep()).toMatchObject({ outcome: 'corrected', figures: { corrected: 1 } });
  });

  it('ends with the signal, and leaves everything to the next', async () => {
    const { account, reconciliation, written, sweep } = await setup();
    const abort = new AbortController();
    account.beforeAnswer = (verb) => {
      if (verb !== 'findByVenueOrderId') return;
      abort.abort(new Error('told to stop'));
      account.failing.add('fills');
    };
    const before = await written();
    await expect(reconciliation.sweepIfDue({ venue: 'paper', signal: abort.signal })).rejects.toThrow();
    expect(await written()).toEqual(before);
    account.beforeAnswer = () => undefined;
    account.failing.clear();
    expect(await sweep()).toMatchObject({ outcome: 'corrected' });
  });
});
