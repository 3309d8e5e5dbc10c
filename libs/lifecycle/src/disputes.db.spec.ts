import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { settleDispute } from './dispute.js';
import { d, fillOf, orderOf, setupLifecycle, SYMBOL } from './testing/setup.js';

const BY = { actor: 'admin', reason: 'looked at the account' };

async function setup() {
  const all = await setupLifecycle();
  const { admin, database, newProfile, enter, leave, apply, trade } = all;
  const profileId = await newProfile();
  const settle = (tradeId: string) => settleDispute(database, { profileId, tradeId }, BY);
  const stateOf = async (tradeId: string) => (await trade(profileId, tradeId))?.state;
  const buy = async () => {
    const entry = await enter(profileId);
    const { clientOrderId } = entry;
    const order = orderOf(clientOrderId, { status: 'filled', filledQuantity: d('10') });
    await apply({ order, fills: [fillOf(clientOrderId, 'f1', { quantity: d('10') })] });
    return entry;
  };
  const sell = async (tradeId: string, sold: { quantity?: string; filled: string; leftBehind?: string }) => {
    const { quantity = '10', filled, leftBehind = '0' } = sold;
    const { clientOrderId } = await leave(profileId, tradeId, { quantity, leftBehind });
    const changes = { status: 'filled', side: 'sell', quantity: d(quantity), filledQuantity: d(filled) } as const;
    const fills = [fillOf(clientOrderId, 'x1', { quantity: d(filled) })];
    await apply({ order: orderOf(clientOrderId, changes), fills });
  };
  const liftHalts = () => admin.query('delete from halts');
  return { ...all, profileId, settle, stateOf, buy, sell, liftHalts };
}

/** More than was ordered: disputed with a position. */
async function overfill({ apply, enter, profileId }: Awaited<ReturnType<typeof setup>>) {
  const entry = await enter(profileId);
  await apply({ fills: [fillOf(entry.clientOrderId, 'f1', { quantity: d('11') })] });
  return entry;
}

describe('a disputed trade', () => {
  it('stays disputed when the order ends that gave rise to it, and is settled by a person once', async () => {
    const { admin, buy, sell, settle, stateOf, contradictions, profileId, begin, liftHalts } = await setup();
    const { tradeId } = await buy();
    await sell(tradeId, { filled: '12' });
    expect(await stateOf(tradeId)).toBe('disputed');
    expect(await contradictions(profileId)).toEqual([]);

    expect(await settle(tradeId)).toEqual({ outcome: 'settled', state: 'closed' });
    expect(await settle(tradeId)).toEqual({ outcome: 'not_disputed', state: 'closed' });
    expect((await admin.query('select from positions where closed_at is not null')).rowCount).toBe(1);
    const { rows: acts } = await admin.query(
      `select actor, subject, detail from audit_log where action = 'trade.settle'`,
    );
    expect(acts).toEqual([{ actor: 'admin', subject: tradeId, detail: { reason: BY.reason, state: 'closed' } }]);
    const { rows: events } = await admin.query(`select detail from trade_history where event = 'dispute-settled'`);
    expect(events).toEqual([{ detail: BY }]);
    expect(await begin(profileId)).toMatchObject({ verdict: 'halted' });
    await liftHalts();
    expect(await begin(profileId)).toMatchObject({ verdict: 'begun' });
    expect(await contradictions(profileId)).toEqual([]);
  });

  it('stays disputed when an order of it ends that bought nothing', async () => {
    const { enter, apply, settle, stateOf, profileId } = await setup();
    const { tradeId, clientOrderId } = await enter(profileId);
    await apply({ order: orderOf(clientOrderId, { venueOrderId: 'another' }) });
    await apply({ order: orderOf(clientOrderId, { status: 'cancelled' }) });
    expect(await stateOf(tradeId)).toBe('disputed');
    expect(await settle(tradeId)).toEqual({ outcome: 'settled', state: 'cancelled' });
  });

  it('goes on as what its rows say: working, open, being left', async () => {
    const all = await setup();
    const { enter, leave, apply, settle, stateOf, profileId, liftHalts } = all;
    const { tradeId: working, clientOrderId } = await enter(profileId, { symbol: 'ETH/USD' });
    await apply({ order: orderOf(clientOrderId, { symbol: 'ETH/USD', venueOrderId: 'another' }) });
    expect(await settle(working)).toEqual({ outcome: 'settled', state: 'entering' });

    const { tradeId: open } = await overfill(all);
    expect(await settle(open)).toEqual({ outcome: 'settled', state: 'open' });
    const { clientOrderId: exit } = await leave(profileId, open, { quantity: '11' });
    await apply({ order: orderOf(exit, { quantity: d('11'), side: 'sell' }) });
    await apply({ order: orderOf(exit, { venueOrderId: 'another' }) });
    expect(await stateOf(open)).toBe('disputed');
    expect(await settle(open)).toEqual({ outcome: 'settled', state: 'exiting' });
    await liftHalts();
    await apply({
      order: orderOf(exit, { status: 'filled', side: 'sell', quantity: d('11'), filledQuantity: d('11') }),
      fills: [fillOf(exit, 'x1', { quantity: d('11') })],
    });
    expect(await stateOf(open)).toBe('closed');
  });

  it('can be left while it is disputed', async () => {
    const all = await setup();
    const { tradeId } = await overfill(all);
    await all.sell(tradeId, { quantity: '11', filled: '11' });
    expect(await all.stateOf(tradeId)).toBe('disputed');
    expect(await all.settle(tradeId)).toEqual({ outcome: 'settled', state: 'closed' });
    expect(await all.balances(all.profileId)).toEqual(['10000', '0', '0', '0', '10000']);
  });

  it('is not settled into a symbol that another trade has', async () => {
    const { begin, enter, apply, settle, stateOf, profileId, liftHalts } = await setup();
    const { tradeId, clientOrderId } = await enter(profileId);
    await apply({ order: orderOf(clientOrderId, { status: 'cancelled' }) });
    await apply({ fills: [fillOf(clientOrderId, 'f1', { quantity: d('2') })] });
    await liftHalts();
    const other = await enter(profileId);
    expect(await settle(tradeId)).toEqual({ outcome: 'active_entry', tradeId: other.tradeId });
    expect(await stateOf(tradeId)).toBe('disputed');
    await apply({ order: orderOf(other.clientOrderId, { status: 'cancelled' }) });
    expect(await settle(tradeId)).toEqual({ outcome: 'settled', state: 'open' });
    expect(await begin(profileId)).toMatchObject({ verdict: 'active_entry' });
  });

  it('is not settled into a symbol that another trade takes at this moment', async () => {
    const { admin, enter, apply, settle, stateOf, profileId, liftHalts } = await setup();
    const { tradeId, clientOrderId } = await enter(profileId);
    await apply({ order: orderOf(clientOrderId, { status: 'cancelled' }) });
    await apply({ fills: [fillOf(clientOrderId, 'f1', { quantity: d('2') })] });
    await liftHalts();
    const other = await enter(profileId);
    await apply({ order: orderOf(other.clientOrderId, { status: 'cancelled' }) });
    await admin.query('begin');
    await admin.query('update entry_intents set is_active = true where trade_id = $1', [other.tradeId]);
    const settled = settle(tradeId);
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    while ((await admin.query(waiting)).rowCount === 0) await admin.query('select pg_stat_clear_snapshot()');
    await admin.query('commit');
    expect(await settled).toEqual({ outcome: 'active_entry' });
    expect(await stateOf(tradeId)).toBe('disputed');
  });

  it('is told apart from one that is not, and from one that is not there', async () => {
    const { enter, settle, profileId } = await setup();
    const { tradeId } = await enter(profileId);
    expect(await settle(tradeId)).toEqual({ outcome: 'not_disputed', state: 'entering' });
    expect(await settle(randomUUID())).toEqual({ outcome: 'unknown_trade' });
  });
});

it.each([
  ['', undefined],
  [', also where an earlier version wrote that down', `update trade_history set detail = detail - 'afterBooking'`],
])('what was left behind stays left behind when a fill comes after it%s', async (_, rewrite) => {
  const { admin, buy, sell, apply, stateOf, contradictions, balances, profileId, settle } = await setup();
  const { tradeId, clientOrderId } = await buy();
  await sell(tradeId, { quantity: '9.97', leftBehind: '0.03', filled: '9.97' });
  if (rewrite !== undefined) {
    await admin.query('set session_replication_role = replica');
    await admin.query(rewrite);
    await admin.query('set session_replication_role = origin');
  }
  await apply({ fills: [fillOf(clientOrderId, 'late', { quantity: d('2'), price: d('90') })] });
  expect(await stateOf(tradeId)).toBe('disputed');
  expect(await contradictions(profileId)).toEqual([]);
  expect((await admin.query('select * from fn_lifecycle_rebuild($1, $2)', [profileId, 't'])).rows).toEqual([]);
  expect(await balances(profileId)).toEqual(['10000', '0', '180', '-3', '9817']);
  expect(await settle(tradeId)).toEqual({ outcome: 'settled', state: 'open' });
  const { rows } = await admin.query('select symbol, quantity from positions where trade_id = $1', [tradeId]);
  expect(rows).toEqual([{ symbol: SYMBOL, quantity: '2' }]);
});
