import { describe, expect, it, onTestFinished } from 'vitest';
import { d, fillOf, orderOf, setupLifecycle } from './testing/setup.js';

describe('an order of the venue', () => {
  it('is ours by its client order id, not by a number that the venue gives out again', async () => {
    const { newProfile, enter, begin, apply, trade, halts, contradictions } = await setupLifecycle();
    const profileId = await newProfile();
    const { tradeId, clientOrderId: id } = await enter(profileId);
    const venueOrderId = `v-${id}`;
    const filled = { status: 'filled', filledQuantity: d('10') } as const;
    expect(await apply({ order: orderOf('somebody', { venueOrderId, ...filled }) })).toBe('unknown-order');
    expect(await trade(profileId, tradeId)).toMatchObject({ state: 'entering' });
    expect(await halts()).toEqual([]);

    const other = await begin(profileId, { symbol: 'ETH/USD' });
    const order = orderOf(other.clientOrderId, { venueOrderId, symbol: 'ETH/USD', ...filled });
    expect(await apply({ order })).toBe('unknown-order');
    expect(await trade(profileId, tradeId)).toMatchObject({ state: 'disputed' });
    expect(await trade(profileId, other.tradeId)).toMatchObject({ state: 'pending' });
    expect(await halts()).toEqual(
      Array.from({ length: 2 }, () => expect.stringContaining('under the client order ids') as string),
    );
    expect(await contradictions(profileId)).toEqual([]);
  });

  it('of another symbol with the same number brings no fill to ours, even where a fill names no client order id', async () => {
    const { newProfile, enter, apply, trade, balances } = await setupLifecycle();
    const profileId = await newProfile();
    const { tradeId, clientOrderId: id } = await enter(profileId);
    const before = await balances(profileId);
    const { clientOrderId, ...fill } = fillOf(id, 'f1', { symbol: 'ETH/USD' });
    expect(clientOrderId).toBe(id);
    expect(await apply({ fills: [fill] })).toBe('unknown-order');
    expect(await balances(profileId)).toEqual(before);
    expect(await apply({ fills: [{ ...fill, symbol: 'BTC/USD' }] })).toBe('changed');
    expect((await trade(profileId, tradeId))?.positionQuantity.toString()).toBe('1');
  });
});

describe('two reports of one order', () => {
  it('that cross while it is recorded do not wait for each other in a circle', async () => {
    const { admin, newProfile, begin, apply, trade, contradictions } = await setupLifecycle();
    const profileId = await newProfile();
    const { tradeId, clientOrderId: id } = await begin(profileId);
    /** Resolves with the backends that wait for another, once there are so many. */
    const waiting = async (count: number): Promise<number[]> => {
      for (;;) {
        await admin.query('select pg_stat_clear_snapshot()');
        const { rows } = await admin.query<{ pid: number }>(
          `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
        if (rows.length === count) return rows.map(({ pid }) => pid);
      }
    };
    const blockedBy = async (pid: number, by: number | undefined): Promise<void> => {
      const sql = 'select $2 = any (pg_blocking_pids($1)) as is_blocked';
      while (!(await admin.query<{ is_blocked: boolean }>(sql, [pid, by])).rows[0]?.is_blocked);
    };
    // The first records the order; the second has not seen it, and is stopped while it waits for the first.
    await admin.query('begin');
    await admin.query('select fn_record_order($1, $2)', [
      'paper',
      JSON.stringify({ orderId: `v-${id}`, clientOrderId: id, createdAt: '2026-01-01T00:00:00Z' }),
    ]);
    const second = apply({ order: orderOf(id) });
    const [stopped = 0] = await waiting(1);
    process.kill(stopped, 'SIGSTOP');
    onTestFinished(() => void process.kill(stopped, 'SIGCONT'));
    await admin.query('commit');
    // The third ends the order, and waits for the ledger when the second goes on.
    await admin.query('begin');
    await admin.query('select from capital_ledger where profile_id = $1 for update', [profileId]);
    const third = apply({ order: orderOf(id, { status: 'cancelled' }) });
    const holder = (await waiting(2)).find((pid) => pid !== stopped);
    process.kill(stopped, 'SIGCONT');
    await blockedBy(stopped, holder);
    await admin.query('commit');
    await Promise.all([second, third]);
    expect(await trade(profileId, tradeId)).toMatchObject({ state: 'cancelled' });
    expect(await contradictions(profileId)).toEqual([]);
  });
});
