import { describe, expect, it } from 'vitest';
import { setupReconciliation } from './testing/setup.js';

describe('a sweep', () => {
  it('finds nothing where nothing differs, and writes nothing', async () => {
    const { newProfile, enter, fillUnseen, tell, sweep, sweepQuietly, corrections } = await setupReconciliation();
    const { orderId } = await enter(await newProfile());
    fillUnseen(orderId, 'f1', '3');
    await tell(orderId);
    await sweep();
    expect(await sweepQuietly()).toMatchObject({
      ...{ outcome: 'clean', figures: { mismatches: 0, leftAlone: 0, orders: 1, fills: 1 } },
    });
    expect(await corrections()).toEqual([]);
  });

  it('that somebody asked for is on record even when it finds nothing', async () => {
    const { reconciliation, admin } = await setupReconciliation();
    const { runId } = await reconciliation.sweep({ venue: 'paper', askedBy: 'alice' });
    const { rows } = await admin.query('select run_id, asked_by, state from reconciliation_runs');
    expect(rows).toEqual([{ run_id: runId, asked_by: 'alice', state: 'clean' }]);
  });

  it('reports orders of others and touches nothing', async () => {
    const { account, clock, sweep, sweepQuietly, corrections, newProfile, enter } = await setupReconciliation();
    await enter(await newProfile());
    const mine = account.get('v1');
    const now = new Date(clock.now());
    for (const [venueOrderId, clientOrderId] of [
      ['theirs', 'by-hand'],
      ['nameless', ''],
    ] as const) {
      account.set({ ...mine, venueOrderId, clientOrderId, createdAt: now });
    }
    expect(await sweep()).toMatchObject({ outcome: 'clean', figures: { foreignOrders: 2, missingInDb: 0 } });
    expect(await sweepQuietly()).toMatchObject({ figures: { foreignOrders: 2 } });
    expect(await corrections()).toEqual([]);
    expect([...account.asked].filter((verb) => verb.startsWith('find'))).toEqual([]);
  });
});
