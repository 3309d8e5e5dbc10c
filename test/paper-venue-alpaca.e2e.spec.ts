import { ApiError, type trading } from '@alpacahq/alpaca-trade-api';
import { describe, expect, it } from 'vitest';
import { alpacaClient, alpacaUpdates } from './harness/paper-clients.js';
import { startPaperVenue, type PaperVenue } from './harness/paper-venue.js';

const BUY = { symbol: 'BTC/USD', side: 'buy', type: 'limit', timeInForce: 'gtc' } as const;

async function setup(): Promise<{ venue: PaperVenue; client: ReturnType<typeof alpacaClient> }> {
  const venue = await startPaperVenue();
  await venue.control('POST', '/paper/prices', { symbol: 'BTC/USD', bid: '100', ask: '101' });
  return { venue, client: alpacaClient(venue) };
}

function limit(qty: string, limitPrice: string, more: Partial<trading.PostOrderRequest> = {}) {
  return { ...BUY, qty, limitPrice, ...more };
}

async function refusal(call: Promise<unknown>): Promise<{ status: number; code: unknown; message: string }> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ApiError)) throw new Error(`Expected a refusal, got ${String(error)}.`);
  return { status: error.status, code: error.code, message: error.message };
}

describe("Alpaca's client", () => {
  it('trades: submits, finds, fills, and sees its position and its activities', async () => {
    const { client } = await setup();
    const order = await client.submit(limit('2', '101', { clientOrderId: 'one' }));
    expect(order).toMatchObject({ status: 'filled', filledQty: '2', filledAvgPrice: '101', symbol: 'BTC/USD' });
    expect(await client.orders.getOrderByClientOrderId({ clientOrderId: 'one' })).toMatchObject({ id: order.id });
    expect(await client.orders.getOrderByOrderID({ orderId: order.id ?? '' })).toMatchObject({ clientOrderId: 'one' });

    // A quarter of a hundredth of what came in is the fee, in the same asset.
    const [position] = await client.positions.getAllOpenPositions();
    expect(position).toMatchObject({ symbol: 'BTCUSD', qty: '1.995', costBasis: '202' });
    expect(await client.account.getAccount()).toMatchObject({ cash: '999798', buyingPower: '999798' });
    const activities = await client.activities.getAccountActivities({ activityTypes: ['FILL', 'CFEE'] });
    expect(activities).toMatchObject([
      { activityType: 'FILL', price: '101', qty: '2', cumQty: '2', leavesQty: '0', orderId: order.id },
      { activityType: 'CFEE', qty: '-0.005' },
    ]);
  });

  it('is refused a client order id that was ever used, also after the order ended', async () => {
    const { venue, client } = await setup();
    const { id } = await client.submit(limit('1', '50', { clientOrderId: 'same' }));
    await client.orders.deleteOrderByOrderID({ orderId: id ?? '' });
    const duplicate = { status: 422, code: 40010001, message: 'client_order_id must be unique' };
    expect(await refusal(client.submit(limit('1', '50', { clientOrderId: 'same' })))).toEqual(duplicate);
    await venue.control('POST', '/paper/purge', { olderThanMs: 0 });
    expect(await refusal(client.submit(limit('1', '50', { clientOrderId: 'same' })))).toEqual(duplicate);
    const { items } = await venue.control<{ items: { status: string; refusal: string | null }[] }>(
      'GET',
      '/paper/submissions',
    );
    expect(items.map(({ status, refusal: why }) => [status, why])).toEqual([
      ['canceled', null],
      ['refused', 'duplicate-client-order-id'],
      ['refused', 'duplicate-client-order-id'],
    ]);
  });

  it('pages through its open orders', async () => {
    const { client } = await setup();
    const ids: (string | undefined)[] = [];
    for (let index = 0; index < 7; index += 1) ids.push((await client.submit(limit('1', '50'))).id);
    const seen: (string | undefined)[] = [];
    for (;;) {
      const afterOrderId = seen.at(-1);
      const page = await client.orders.getAllOrders({
        status: 'open',
        limit: 3,
        direction: 'asc',
        ...(afterOrderId && { afterOrderId }),
      });
      if (page.length === 0) break;
      seen.push(...page.map(({ id }) => id));
    }
    expect(seen).toEqual(ids);
    expect(await client.orders.getAllOrders({ status: 'closed' })).toEqual([]);
  });

  it('cancels what is open, and is told the state of what is not', async () => {
    const { client } = await setup();
    const { id: open = '' } = await client.submit(limit('1', '50'));
    await client.orders.deleteOrderByOrderID({ orderId: open });
    expect(await client.orders.getOrderByOrderID({ orderId: open })).toMatchObject({ status: 'canceled' });
    const { id: filled = '' } = await client.submit(limit('1', '101'));
    expect(await refusal(client.orders.deleteOrderByOrderID({ orderId: filled }))).toEqual({
      status: 422,
      code: 42210000,
      message: 'order is already in "filled" state',
    });
    const stranger = { orderId: '00000000-0000-4000-8000-000000000000' };
    expect(await refusal(client.orders.deleteOrderByOrderID(stranger))).toMatchObject({ status: 404, code: 40410000 });
  });

  it('is refused what the account cannot pay, what makes no sense, and wrong credentials', async () => {
    const { venue, client } = await setup();
    expect(await refusal(client.submit(limit('1000000', '101')))).toMatchObject({ status: 403, code: 40310000 });
    expect(await refusal(client.submit(limit('1', '101', { side: 'sell' })))).toMatchObject({
      status: 403,
      code: 40310000,
    });
    expect(await refusal(client.submit(limit('0.001', '101')))).toMatchObject({ status: 403, code: 40310000 });
    expect(await refusal(client.submit(limit('1', '101', { symbol: 'NOPE' })))).toMatchObject({ status: 422 });
    expect(await refusal(client.submit({ ...BUY, qty: '1' }))).toMatchObject({ status: 422, code: 40010001 });
    const stranger = alpacaClient(venue, { key: 'paper', secret: 'wrong' });
    expect(await refusal(stranger.account.getAccount())).toMatchObject({ status: 401, code: 40110000 });
  });

  it('does not find what was purged', async () => {
    const { venue, client } = await setup();
    const { id = '' } = await client.submit(limit('1', '101', { clientOrderId: 'old' }));
    expect(await venue.control('POST', '/paper/purge', { olderThanMs: 3_600_000 })).toEqual({ purged: 0 });
    expect(await venue.control('POST', '/paper/purge', { olderThanMs: 0 })).toEqual({ purged: 1 });
    expect(await refusal(client.orders.getOrderByOrderID({ orderId: id }))).toMatchObject({ status: 404 });
    expect(await refusal(client.orders.getOrderByClientOrderId({ clientOrderId: 'old' }))).toMatchObject({
      status: 404,
    });
    expect(await venue.orders()).toMatchObject([{ id, status: 'filled', clientOrderId: 'old' }]);
  });

  it('hears of its orders on the stream, with ids that grow', async () => {
    const { venue, client } = await setup();
    const updates = await alpacaUpdates(venue);
    await venue.control('POST', '/paper/mode', { fills: 'manual' });
    const { id = '' } = await client.submit(limit('3', '101', { clientOrderId: 'watched' }));
    await venue.control('POST', `/paper/orders/${id}/fill`, { quantity: '1', price: '100.5' });
    await venue.control('POST', `/paper/orders/${id}/fill`, { quantity: '1.5', price: '101' });
    await venue.control('POST', `/paper/orders/${id}/cancel`);
    await expect
      .poll(() => updates.map(({ event }) => event))
      .toEqual(['new', 'partial_fill', 'partial_fill', 'canceled']);
    expect(updates[2]).toMatchObject({
      qty: '1.5',
      price: '101',
      order: { filledQty: '2.5', clientOrderId: 'watched' },
    });
    const ids = updates.map((update) => String(Reflect.get(update, 'event_id')));
    expect(ids).toEqual(ids.toSorted());
    expect(new Set(ids).size).toBe(4);
  });

  it('is turned away from the stream with wrong credentials', async () => {
    const { venue } = await setup();
    const socket = new WebSocket(`${venue.url.replace('http', 'ws')}/alpaca/stream`);
    socket.binaryType = 'arraybuffer';
    const answer = new Promise<string>((resolve) => {
      socket.addEventListener('message', ({ data }) => resolve(Buffer.from(data as ArrayBuffer).toString()));
    });
    socket.addEventListener('open', () =>
      socket.send(JSON.stringify({ action: 'authenticate', data: { key_id: 'paper', secret_key: 'wrong' } })),
    );
    expect(JSON.parse(await answer)).toMatchObject({ stream: 'authorization', data: { status: 'unauthorized' } });
    socket.close();
  });

  it('reads candles that stay the same, quotes and assets', async () => {
    const { client } = await setup();
    const start = new Date(Date.UTC(2026, 10, 1));
    const ask = { loc: 'us', symbols: 'ETH/USD', timeframe: '1Day', start, limit: 5 } as const;
    const first = await client.crypto.cryptoBars(ask);
    expect(first.bars['ETH/USD']?.length).toBeGreaterThan(0);
    expect((await client.crypto.cryptoBars(ask)).bars['ETH/USD']?.[0]).toEqual(first.bars['ETH/USD']?.[0]);
    const { quotes } = await client.crypto.cryptoLatestQuotes({ loc: 'us', symbols: 'BTC/USD' });
    expect(quotes['BTC/USD']).toMatchObject({ bp: 100, ap: 101 });
    expect((await client.stocks.stockLatestTradeSingle({ symbol: 'AAPL' })).trade.p).toBeGreaterThan(0);
    expect((await client.assets.getV2Assets({ assetClass: 'us_equity' })).map(({ symbol }) => symbol)).toContain(
      'AAPL',
    );
  });

  it('meets the rate limit in its own words', async () => {
    const { venue, client } = await setup();
    await venue.control('POST', '/paper/limits', { alpacaRequestsPerMinute: 2 });
    await client.account.getAccount();
    await client.account.getAccount();
    expect(await refusal(client.account.getAccount())).toMatchObject({ status: 429, code: 42910000 });
    const answer = await venue.request('GET', '/alpaca/v2/account');
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(answer.headers.get('x-ratelimit-limit')).toBe('2');
    expect(answer.headers.get('x-ratelimit-remaining')).toBe('0');
  });
});
