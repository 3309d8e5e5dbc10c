import { describe, expect, it } from 'vitest';
import { setupReconciliation } from './testing/setup.js';

const LONG_MS = 600_000;

describe('a sweep leaves alone', () => {
  it('an order that was recorded a moment ago', async () => {
    const { account, newProfile, enter, sweep, corrections } = await setupReconciliation({
      settings: { submitWindowMs: LONG_MS },
    });
    const { orderId } = await enter(await newProfile());
    account.purged.add(orderId);
    expect(await sweep()).toMatchObject({ outcome: 'clean', figures: { leftAlone: 1, mismatches: 0 } });
    expect(await corrections()).toEqual([]);
    expect(account.asked).not.toContain('findByVenueOrderId');
  });

  it.each(['listed', 'not listed any more'])('an order that moved a moment ago, %s', async (how) => {
    const { account, clock, newProfile, enter, fillUnseen, sweepQuietly, sweep, corrections } =
      await setupReconciliation({ settings: { settleMs: LONG_MS } });
    const { orderId } = await enter(await newProfile());
    await sweep();
    const before = new Date(clock.now() - 2 * LONG_MS);
    fillUnseen(orderId, 'f1', '10');
    account.change(orderId, { updatedAt: new Date(clock.now()) });
    // Ended orders are listed by when they were created.
    if (how !== 'listed') account.change(orderId, { createdAt: new Date(before.getTime() - 3_600_000) });
    expect(await sweepQuietly()).toMatchObject({ outcome: 'clean', figures: { leftAlone: 1 } });
    expect(await corrections()).toEqual([]);
    account.change(orderId, { updatedAt: before });
    account.fills[0] = { ...account.fills[0]!, happenedAt: before };
    expect(await sweep()).toMatchObject({ outcome: 'corrected', figures: { leftAlone: 0, corrected: 1 } });
  });

  it('an order of which we booked more than the venue lists, a moment ago', async () => {
    const { account, clock, newProfile, enter, fillUnseen, tell, sweep, corrections } = await setupReconciliation({
      settings: { settleMs: LONG_MS },
    });
    const { orderId } = await enter(await newProfile());
    const before = new Date(clock.now() - 2 * LONG_MS);
    account.change(orderId, { updatedAt: before });
    const asItWas = account.get(orderId);
    fillUnseen(orderId, 'f1', '4', { happenedAt: before });
    await tell(orderId);
    // The lists of the venue are behind its stream, all of them.
    account.set(asItWas);
    account.hiddenFills.add('f1');
    expect(await sweep()).toMatchObject({ outcome: 'clean', figures: { leftAlone: 1 } });
    expect(await corrections()).toEqual([]);
  });

  it('an order that ended by our tables a moment ago and is still listed', async () => {
    const { account, clock, newProfile, enter, tell, sweep, corrections } = await setupReconciliation({
      settings: { settleMs: LONG_MS },
    });
    const { orderId } = await enter(await newProfile());
    account.change(orderId, { updatedAt: new Date(clock.now() - 2 * LONG_MS) });
    const asItWas = account.get(orderId);
    account.change(orderId, { status: 'cancelled' });
    await tell(orderId);
    account.set(asItWas);
    expect(await sweep()).toMatchObject({ outcome: 'clean', figures: { leftAlone: 1 } });
    expect(await corrections()).toEqual([]);
  });

  it('a fill that happened a moment ago, of an order that has ended', async () => {
    const { account, clock, newProfile, buy, fillUnseen, sweep, corrections } = await setupReconciliation({
      settings: { settleMs: LONG_MS },
    });
    const { orderId } = await buy(await newProfile());
    const before = new Date(clock.now() - 2 * LONG_MS);
    fillUnseen(orderId, 'late', '1');
    // Created too long ago to be listed among those that ended.
    account.change(orderId, { updatedAt: before, createdAt: new Date(0) });
    expect(await sweep()).toMatchObject({ outcome: 'clean', figures: { leftAlone: 1 } });
    expect(await corrections()).toEqual([]);
  });

  it('what the venue says nothing of when it is asked again', async () => {
    const { account, newProfile, enter, sweep, corrections } = await setupReconciliation();
    const { orderId } = await enter(await newProfile());
    account.change(orderId, { status: 'cancelled' });
    account.failing.add('findByVenueOrderId');
    expect(await sweep()).toMatchObject({ outcome: 'clean', figures: { leftAlone: 1, mismatches: 0 } });
    expect(await corrections()).toEqual([]);
    account.failing.clear();
    expect(await sweep()).toMatchObject({ outcome: 'corrected', figures: { leftAlone: 0, corrected: 1 } });
  });
});

describe('a second look', () => {
  it('clears an order that a stale list shows as open', async () => {
    const { account, newProfile, enter, tell, sweep, sweepQuietly, corrections } = await setupReconciliation();
    const { orderId } = await enter(await newProfile());
    account.openList = [account.get(orderId)];
    account.change(orderId, { status: 'cancelled' });
    await tell(orderId);
    // Only the open list: the other one is asked for what was created later.
    account.change(orderId, { createdAt: new Date(0) });
    await sweep();
    expect(await sweepQuietly()).toMatchObject({ outcome: 'clean', figures: { mismatches: 0, leftAlone: 0 } });
    expect(await corrections()).toEqual([]);
    expect(account.asked).toContain('findByVenueOrderId');
  });

  it('clears an order that a stale list shows as filled less than we know', async () => {
    const { account, newProfile, enter, fillUnseen, tell, sweep, corrections } = await setupReconciliation();
    const { orderId } = await enter(await newProfile());
    account.openList = [account.get(orderId)];
    fillUnseen(orderId, 'f1', '4');
    await tell(orderId);
    expect(await sweep()).toMatchObject({ outcome: 'clean', figures: { mismatches: 0, leftAlone: 0 } });
    expect(await corrections()).toEqual([]);
  });

  it('takes an order once that ended while the lists were read', async () => {
    const { account, newProfile, enter, fillUnseen, sweep, corrections } = await setupReconciliation();
    const { orderId } = await enter(await newProfile());
    fillUnseen(orderId, 'f1', '1');
    account.beforeAnswer = (verb) => {
      if (verb === 'closedOrders') account.change(orderId, { status: 'cancelled' });
    };
    expect(await sweep()).toMatchObject({ figures: { mismatches: 1, corrected: 1, leftAlone: 0 } });
    expect(await corrections()).toMatchObject([{ kind: 'entry-fill', times: 1 }]);
  });

  it('writes nothing where the stream was quicker', async () => {
    const { account, newProfile, enter, tell, sweep, corrections, onStep } = await setupReconciliation();
    const { orderId } = await enter(await newProfile());
    account.change(orderId, { status: 'cancelled' });
    onStep((step) => (step === 'sweep:locked' ? tell(orderId) : undefined));
    expect(await sweep()).toMatchObject({ outcome: 'clean', figures: { mismatches: 0, corrected: 0 } });
    expect(await corrections()).toEqual([]);
  });

  it('writes nothing where somebody else has just recorded the order', async () => {
    const { account, newProfile, tryEnter, tell, sweep, corrections, onStep } = await setupReconciliation();
    account.submission = 'lost';
    account.failing.add('findByClientOrderId');
    expect(await tryEnter(await newProfile())).toMatchObject({ outcome: 'unknown' });
    account.failing.clear();
    onStep((step) => (step === 'sweep:locked' ? tell('v1') : undefined));
    expect(await sweep()).toMatchObject({ outcome: 'clean', figures: { missingInDb: 1, mismatches: 0, corrected: 0 } });
    expect(await corrections()).toEqual([]);
  });
});
