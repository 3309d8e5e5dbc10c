import { describe, expect, it } from 'vitest';
import { alpacaClient, alpacaUpdates, binanceClient } from './harness/paper-clients.js';
import { startPaperVenue, type PaperVenue } from './harness/paper-venue.js';

/** What a client of either protocol does, in the same words. */
interface Client {
  submit(clientOrderId: string): Promise<unknown>;
  lookUp(clientOrderId: string): Promise<unknown>;
  openOrders(): Promise<readonly { readonly clientOrderId?: string | undefined }[]>;
  cancel(id: string): Promise<unknown>;
}

const CLIENTS: Record<'alpaca' | 'binance', (venue: PaperVenue) => Promise<Client>> = {
  alpaca: async (venue) => {
    const { orders, submit } = alpacaClient(venue);
    const order = {
      symbol: 'BTC/USD',
      side: 'buy',
      type: 'limit',
      timeInForce: 'gtc',
      qty: '1',
      limitPrice: '50',
    } as const;
    return {
      submit: (clientOrderId) => submit({ ...order, clientOrderId }),
      lookUp: (clientOrderId) => orders.getOrderByClientOrderId({ clientOrderId }),
      openOrders: () => orders.getAllOrders({ status: 'open' }),
      cancel: (orderId) => orders.deleteOrderByOrderID({ orderId }),
    };
  },
  binance: async (venue) => {
    const exchange = await binanceClient(venue);
    return {
      submit: (clientOrderId) => exchange.createOrder('BTC/USDT', 'limit', 'buy', 1, 50, { clientOrderId }),
      lookUp: (origClientOrderId) => exchange.fetchOrder('', 'BTC/USDT', { origClientOrderId }),
      openOrders: () => exchange.fetchOpenOrders('BTC/USDT'),
      cancel: (id) => exchange.cancelOrder(id, 'BTC/USDT'),
    };
  },
};

async function setup(protocol: keyof typeof CLIENTS): Promise<{ venue: PaperVenue; client: Client }> {
  const venue = await startPaperVenue();
  await venue.control('POST', '/paper/prices', { symbol: 'BTC/USD', bid: '100', ask: '101' });
  return { venue, client: await CLIENTS[protocol](venue) };
}

function failure(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'none',
    (error: unknown) => `${String(error)} ${JSON.stringify(error, Object.getOwnPropertyNames(error))}`,
  );
}

const clientIds = async (venue: PaperVenue): Promise<string[]> =>
  (await venue.orders()).map((order) => order.clientOrderId);

describe.each(['alpaca', 'binance'] as const)('over %s', (protocol) => {
  it('drop-request keeps a submission from the engine, and the connection closes without an answer', async () => {
    const { venue, client } = await setup(protocol);
    await venue.control('POST', '/paper/faults', { operation: 'submit', fault: 'drop-request', times: 1 });
    expect(await failure(client.submit('lost'))).not.toBe('none');
    expect(await venue.control('GET', '/paper/submissions')).toEqual({ items: [] });
    await client.submit('next');
    expect(await clientIds(venue)).toEqual(['next']);
  });

  it('drop-response accepts a submission and loses the answer', async () => {
    const { venue, client } = await setup(protocol);
    await venue.control('POST', '/paper/faults', { operation: 'submit', fault: 'drop-response', times: 1 });
    expect(await failure(client.submit('taken'))).not.toBe('none');
    expect(await clientIds(venue)).toEqual(['taken']);
    expect(await client.lookUp('taken')).toMatchObject({ clientOrderId: 'taken' });
  });

  it.each(['reset', 'http-500', 'http-429'])('%s strikes before the work, or after it when told so', async (fault) => {
    const { venue, client } = await setup(protocol);
    await venue.control('POST', '/paper/faults', { operation: 'submit', fault, times: 1 });
    const before = await failure(client.submit('before'));
    await venue.control('POST', '/paper/faults', { operation: 'submit', fault, times: 1, phase: 'response' });
    const after = await failure(client.submit('after'));
    expect(await clientIds(venue)).toEqual(['after']);
    const words = { reset: /reset|fetch failed|closed|hang up/i, 'http-500': /500|-1001/, 'http-429': /429/ };
    for (const text of [before, after]) expect(text).toMatch(words[fault as keyof typeof words]);
  });

  it('delay lets the client wait: after the work, or before it when told so', async () => {
    const { venue, client } = await setup(protocol);
    const delay = { operation: 'submit', fault: 'delay', times: 1, delayMs: 60_000 };
    await venue.control('POST', '/paper/faults', delay);
    const accepted = failure(client.submit('accepted'));
    await expect.poll(() => clientIds(venue)).toEqual(['accepted']);
    // Longer than the client waits: it looks for its order, finds nothing, and the order is accepted after that.
    await venue.control('POST', '/paper/faults', { ...delay, phase: 'request', delayMs: 7_000 });
    const held = failure(client.submit('held'));
    for (const text of await Promise.all([accepted, held])) expect(text).toMatch(/time|abort/i);
    expect(await failure(client.lookUp('held'))).not.toBe('none');
    await expect.poll(() => clientIds(venue), { timeout: 10_000 }).toEqual(['accepted', 'held']);
  });

  it('each operation has its own faults', async () => {
    const { venue, client } = await setup(protocol);
    await client.submit('mine');
    const [order] = await venue.orders();
    const calls = {
      lookup: () => client.lookUp('mine'),
      'open-orders': () => client.openOrders(),
      cancel: () => client.cancel(order?.id ?? ''),
    };
    for (const [operation, call] of Object.entries(calls)) {
      await venue.control('POST', '/paper/faults', { operation, fault: 'http-500' });
      for (const [other, otherCall] of Object.entries(calls)) {
        if (other !== operation && other !== 'cancel') expect(await failure(otherCall())).toBe('none');
      }
      expect(await failure(call())).toMatch(/500|-1001/);
      await venue.control('DELETE', '/paper/faults');
    }
    expect(await failure(calls.cancel())).toBe('none');
  });

  it('a cancellation whose answer is lost has happened', async () => {
    const { venue, client } = await setup(protocol);
    await client.submit('mine');
    const [order] = await venue.orders();
    await venue.control('POST', '/paper/faults', { operation: 'cancel', fault: 'drop-response', times: 1 });
    expect(await failure(client.cancel(order?.id ?? ''))).not.toBe('none');
    expect(await venue.orders()).toMatchObject([{ status: 'canceled' }]);
  });

  it('stale-list shows what was open when it was set, in the list of open orders only', async () => {
    const { venue, client } = await setup(protocol);
    await client.submit('first');
    await venue.control('POST', '/paper/faults', { operation: 'open-orders', fault: 'stale-list', times: 1 });
    const [first] = await venue.orders();
    await client.cancel(first?.id ?? '');
    await client.submit('second');
    const listed = async () => (await client.openOrders()).map(({ clientOrderId }) => clientOrderId);
    expect(await client.lookUp('second')).toMatchObject({ clientOrderId: 'second' });
    expect(await listed()).toEqual(['first']);
    expect(await listed(), 'once, as it was told').toEqual(['second']);
  });

  it('truncated-list leaves out the newer half of what is open', async () => {
    const { venue, client } = await setup(protocol);
    for (const id of ['a', 'b', 'c']) await client.submit(id);
    await venue.control('POST', '/paper/faults', { operation: 'open-orders', fault: 'truncated-list' });
    const listed = async () => (await client.openOrders()).map(({ clientOrderId }) => clientOrderId).toSorted();
    expect([await listed(), await listed()]).toEqual([['a'], ['a']]);
    await venue.control('DELETE', '/paper/faults');
    expect(await listed()).toEqual(['a', 'b', 'c']);
  });

  it('any befalls every request, as often as it is told, and with the probability it is told', async () => {
    const { venue, client } = await setup(protocol);
    await venue.control('POST', '/paper/faults', { operation: 'any', fault: 'http-500', times: 2 });
    const first = [
      await failure(client.submit('one')),
      await failure(client.submit('two')),
      await failure(client.submit('three')),
    ];
    expect(first.map((text) => text === 'none')).toEqual([false, false, true]);
    await venue.control('POST', '/paper/faults', { operation: 'submit', fault: 'http-500', probability: 0.5 });
    const outcomes: boolean[] = [];
    for (let index = 0; index < 30; index += 1) outcomes.push((await failure(client.submit(`p${index}`))) === 'none');
    expect(new Set(outcomes).size).toBe(2);
  });
});

describe('on the stream of Alpaca', () => {
  const EVENTS = [
    { fault: 'drop-event', seen: ['fill'] },
    { fault: 'duplicate-event', seen: ['new', 'new', 'fill'] },
    { fault: 'reorder-events', seen: ['fill', 'new'] },
    { fault: 'delay', seen: ['fill', 'new'] },
  ];

  it.each(EVENTS)('$fault befalls one event', async ({ fault, seen }) => {
    const { venue } = await setup('alpaca');
    const updates = await alpacaUpdates(venue);
    await venue.control('POST', '/paper/faults', { operation: 'stream', fault, times: 1, delayMs: 200 });
    const { submit } = alpacaClient(venue);
    await submit({ symbol: 'BTC/USD', side: 'buy', type: 'market', timeInForce: 'gtc', qty: '1' });
    await expect.poll(() => updates.map(({ event }) => event)).toEqual(seen);
  });

  it('reset cuts the connection instead of telling; the client comes back and hears what follows', async () => {
    const { venue, client } = await setup('alpaca');
    const updates = await alpacaUpdates(venue);
    await venue.control('POST', '/paper/faults', { operation: 'stream', fault: 'reset', times: 1 });
    await client.submit('unheard');
    await whenListening(venue, 'alpaca');
    await client.submit('heard');
    await expect.poll(() => updates.map(({ order }) => order.clientOrderId)).toEqual(['heard']);
  });
});

describe('on the stream of Binance', () => {
  it('duplicates and drops', async () => {
    const { venue } = await setup('binance');
    const exchange = await binanceClient(venue);
    const first = exchange.watchOrders();
    await whenListening(venue, 'binance-user');
    // Each event of an order is told with the balances it changed: two messages.
    await venue.control('POST', '/paper/faults', { operation: 'stream', fault: 'drop-event', times: 2 });
    await exchange.createOrder('BTC/USDT', 'limit', 'buy', 1, 50, { clientOrderId: 'unheard' });
    await exchange.createOrder('BTC/USDT', 'limit', 'buy', 1, 50, { clientOrderId: 'heard' });
    expect(await first).toMatchObject([{ clientOrderId: 'heard' }]);
  });

  it('a stream that cannot be opened is refused', async () => {
    const { venue } = await setup('binance');
    await venue.control('POST', '/paper/faults', { operation: 'stream', fault: 'http-500', times: 1 });
    const socket = new WebSocket(`${venue.url.replace('http', 'ws')}/binance/ws-api/v3`);
    await new Promise((resolve) => socket.addEventListener('error', resolve, { once: true }));
    const again = new WebSocket(`${venue.url.replace('http', 'ws')}/binance/ws-api/v3`);
    await new Promise((resolve) => again.addEventListener('open', resolve, { once: true }));
    again.close();
  });
});

describe('control', () => {
  it('cuts all streams', async () => {
    const { venue, client } = await setup('alpaca');
    const updates = await alpacaUpdates(venue);
    expect(await venue.control('POST', '/paper/streams/cut')).toEqual({ cut: 1 });
    await whenListening(venue, 'alpaca');
    await client.submit('after the cut');
    await expect.poll(() => updates.map(({ order }) => order.clientOrderId)).toEqual(['after the cut']);
  });

  it.each([
    [{ operation: 'submit', fault: 'drop-event' }, 'operation'],
    [{ operation: 'any', fault: 'stale-list' }, 'operation'],
    [{ operation: 'submit', fault: 'explode' }, 'fault'],
    [{ operation: 'submit', fault: 'reset', time: 3 }, ''],
    [{ operation: 'submit', fault: 'reset', probability: 2 }, 'probability'],
  ])('refuses %j and names the field', async (body, path) => {
    const venue = await startPaperVenue();
    const answer = await venue.request('POST', '/paper/faults', body);
    expect(answer.status).toBe(400);
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
    expect(await answer.json()).toMatchObject({ errors: expect.arrayContaining([expect.objectContaining({ path })]) });
  });
});

/** The client counts again, and has had the time to ask for its stream: its messages are read in order. */
async function whenListening(venue: PaperVenue, stream: string): Promise<void> {
  await expect
    .poll(async () => (await venue.request('GET', '/metrics')).text(), { timeout: 10_000 })
    .toContain(`flotilla_paper_stream_listeners{stream="${stream}"} 1`);
}
