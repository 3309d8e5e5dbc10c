import { describe, expect, it } from 'vitest';
import type { Outcome } from '#libs/lifecycle';
import { paperVenueOfFile } from './harness/paper-venue.js';
import { ADAPTERS, buy, finish, rebuild, setupTrading } from './harness/trading.js';

const IS_WHOLE = process.env['FLOTILLA_CRASH'] === 'all';
const SEED = 4;
const paper = paperVenueOfFile();
const some = (turn: number) => (IS_WHOLE ? ADAPTERS : ADAPTERS.slice(turn, turn + 1));

describe.each(some(1))('a venue over %s', (adapter) => {
  it('that has forgotten an order takes nothing from the position that the order left', async () => {
    const trading = await setupTrading(paper(), { adapter, seed: SEED });
    const trader = trading.startTrader();
    const exit = await buy(trading, trader);
    await trading.paper.control('POST', '/paper/purge', { olderThanMs: 0 });
    const before = await trading.reserved();
    await rebuild(trading, trader);
    expect(await trading.trade()).toMatchObject({ state: 'open' });
    expect(await trading.reserved()).toBe(before);
    expect(await trader.tell(exit)).toMatchObject({ outcome: 'submitted' });
    expect(await finish(trading, trader)).toBe('closed');
  });

  it('that refuses our time stamp is sent the order once more, under the same id', async () => {
    const trading = await setupTrading(paper(), { adapter, seed: SEED });
    const trader = trading.startTrader();
    await buy({ ...trading, signal: { ...trading.signal, signalId: 'before' } }, trader);
    await finish({ ...trading, signal: { ...trading.signal, signalId: 'before' } }, trader);
    await trading.paper.control('POST', '/paper/clock', { skewMs: 3_600_000 });
    try {
      expect(await trader.tell({ do: 'enter', signal: trading.signal })).toMatchObject({ outcome: 'submitted' });
      expect(await finish(trading, trader)).toBe('closed');
    } finally {
      await trading.paper.control('POST', '/paper/clock', { skewMs: 0 });
    }
  });
});

describe.each(some(0))('a venue over %s', (adapter) => {
  it('that ended and forgot an order while nobody looked is told of, and nothing is guessed', async () => {
    const trading = await setupTrading(paper(), { adapter, seed: SEED });
    const { signal, symbol, profileId, openOrders } = trading;
    const trader = trading.startTrader();
    await trader.tell<Outcome>({ do: 'enter', signal });
    for (const { id } of await openOrders()) await trading.paper.control('POST', `/paper/orders/${id}/cancel`);
    await trading.paper.control('POST', '/paper/purge', { olderThanMs: 0 });
    const before = await trading.reserved();
    await rebuild(trading, trader);
    await trader.tell({ do: 'cancel', profileId, tradeId: (await trading.trade())?.tradeId ?? '' });
    await trader.tell({ do: 'report', symbol });
    expect(trader.process.output).toMatch(/could not read order .*the venue knows no such order/);
    expect(await trading.trade()).toMatchObject({ state: 'entering' });
    expect([before, await trading.reserved()]).toEqual([before, before]);
    expect(await trading.broken()).toEqual([]);
  });
});

it('a venue whose memory ends before the intent began proves nothing by not knowing it', async () => {
  const trading = await setupTrading(paper(), { adapter: 'ccxt', seed: SEED });
  const { signal, symbol, admin, strike } = trading;
  const trader = trading.startTrader();
  await strike({ operation: 'submit', fault: 'drop-request', times: 1 });
  expect(await trader.tell({ do: 'enter', signal })).toMatchObject({ outcome: 'unknown' });
  await admin.query(`update entry_intents set created_at = created_at - interval '91 days'`);
  for (let time = 1; time <= 4; time += 1) {
    expect(await trader.tell({ do: 'resolve', symbol })).toEqual({ left: 1 });
  }
  expect(await trading.reserved()).not.toBe('0');
  await admin.query(`update entry_intents set created_at = created_at + interval '2 days'`);
  expect(await trader.tell({ do: 'resolve', symbol })).toEqual({ left: 0 });
  expect(await trading.trade()).toMatchObject({ state: 'rejected' });
  expect(await trading.reserved()).toBe('0');
});

it('orders of others in the same account are left alone, and theirs are not taken for ours', async () => {
  const trading = await setupTrading(paper(), { adapter: 'alpaca', seed: SEED });
  const { signal, symbol, profileId, paper: venue, openOrders, fill } = trading;
  const trader = trading.startTrader();
  const order = { symbol, side: 'buy', type: 'limit', time_in_force: 'gtc', qty: '0.01', limit_price: '50000' };
  const answer = await fetch(`${venue.url}/alpaca/v2/orders`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...{ 'apca-api-key-id': 'paper', 'apca-api-secret-key': 'paper-secret' },
    },
    body: JSON.stringify({ ...order, client_order_id: 'by hand' }),
  });
  expect(answer.ok).toBe(true);
  const [foreign] = await openOrders();
  await trader.tell({ do: 'enter', signal });
  await fill(foreign?.id ?? '', { quantity: '0.004' });
  await trader.tell({ do: 'rebuild', symbol, profiles: [profileId] });
  await trader.tell({ do: 'report', symbol });
  const { rows } = await trading.admin.query(
    'select count(*)::int as orders, sum(filled_quantity)::int as filled from orders',
  );
  expect(rows).toEqual([{ orders: 1, filled: 0 }]);
  expect((await openOrders()).map(({ clientOrderId }) => clientOrderId)).toContain('by hand');
});
