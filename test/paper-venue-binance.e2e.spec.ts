import ccxt from 'ccxt';
import { describe, expect, it, onTestFinished } from 'vitest';
import { binanceClient } from './harness/paper-clients.js';
import { startPaperVenue, type PaperVenue } from './harness/paper-venue.js';

const SYMBOL = 'BTC/USDT';

async function setup(): Promise<{ venue: PaperVenue; exchange: Awaited<ReturnType<typeof binanceClient>> }> {
  const venue = await startPaperVenue();
  await venue.control('POST', '/paper/prices', { symbol: 'BTCUSDT', bid: '100', ask: '101' });
  return { venue, exchange: await binanceClient(venue) };
}

function refusal(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'accepted',
    (error: unknown) => (error instanceof Error ? `${error.constructor.name}: ${error.message}` : String(error)),
  );
}

function idOf({ id }: { id: string | undefined }): string {
  if (id === undefined) throw new Error('Expected the order to have an id.');
  return id;
}

describe("ccxt's client for Binance", () => {
  it('trades: submits, finds, fills, and sees its trades and its balance', async () => {
    const { exchange } = await setup();
    const order = await exchange.createOrder(SYMBOL, 'market', 'buy', 2, undefined, { clientOrderId: 'one' });
    expect(order).toMatchObject({ status: 'closed', filled: 2, average: 101, clientOrderId: 'one' });
    expect(await exchange.fetchOrder(idOf(order), SYMBOL)).toMatchObject({
      id: idOf(order),
      status: 'closed',
      cost: 202,
    });
    expect(await exchange.fetchOrder('', SYMBOL, { origClientOrderId: 'one' })).toMatchObject({ id: idOf(order) });
    expect(await exchange.fetchMyTrades(SYMBOL)).toMatchObject([
      { order: idOf(order), amount: 2, price: 101, takerOrMaker: 'taker', fee: { currency: 'BTC', cost: 0.002 } },
    ]);
    const balance = await exchange.fetchBalance();
    expect([balance['USDT']?.total, balance['BTC']?.free]).toEqual([999_798, 1.998]);
  });

  it('is refused a client order id of an open order only', async () => {
    const { exchange } = await setup();
    const place = (price: number) => exchange.createOrder(SYMBOL, 'limit', 'buy', 1, price, { clientOrderId: 'same' });
    const first = await place(50);
    expect(await refusal(place(50))).toContain('{"code":-2010,"msg":"Duplicate order sent."}');
    await exchange.cancelOrder(idOf(first), SYMBOL);
    const second = await place(101);
    expect(second).toMatchObject({ status: 'closed' });
    expect((await place(50)).id).not.toBe(idOf(first));
    expect(await exchange.fetchOrder('', SYMBOL, { origClientOrderId: 'same' })).toMatchObject({ status: 'open' });
  });

  it('lists its open orders, of one symbol and of all, and pages through all orders', async () => {
    const { exchange } = await setup();
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1)
      ids.push(idOf(await exchange.createOrder(SYMBOL, 'limit', 'buy', 1, 50)));
    const other = await exchange.createOrder('ETH/USDT', 'limit', 'buy', 1, 10);
    expect((await exchange.fetchOpenOrders(SYMBOL)).map(({ id }) => id)).toEqual(ids);
    expect((await exchange.fetchOpenOrders()).map(({ id }) => id)).toEqual([...ids, idOf(other)]);
    const page = await exchange.fetchOrders(SYMBOL, undefined, 2, { orderId: Number(ids[2]) });
    expect(page.map(({ id }) => id)).toEqual(ids.slice(2, 4));
    await exchange.cancelAllOrders(SYMBOL);
    expect((await exchange.fetchOpenOrders()).map(({ id }) => id)).toEqual([idOf(other)]);
  });

  it('cancels what is open, and is told that the venue does not know what is not', async () => {
    const { exchange } = await setup();
    const open = await exchange.createOrder(SYMBOL, 'limit', 'buy', 1, 50, { clientOrderId: 'mine' });
    expect(await exchange.cancelOrder('', SYMBOL, { origClientOrderId: 'mine' })).toMatchObject({ status: 'canceled' });
    expect(await refusal(exchange.cancelOrder(idOf(open), SYMBOL))).toContain('-2011');
    const filled = await exchange.createOrder(SYMBOL, 'limit', 'buy', 1, 101);
    expect(await refusal(exchange.cancelOrder(idOf(filled), SYMBOL))).toContain('OrderNotFound');
    expect(await refusal(exchange.fetchOrder('999999', SYMBOL))).toContain('-2013');
  });

  it('keeps to the time in force', async () => {
    const { venue, exchange } = await setup();
    await venue.control('POST', '/paper/prices', { symbol: 'BTCUSDT', bid: '100', ask: '101', askSize: '3' });
    const send = (timeInForce: string, amount: number) =>
      exchange.createOrder(SYMBOL, 'limit', 'buy', amount, 101, { timeInForce });
    expect(await send('FOK', 4)).toMatchObject({ status: 'expired', filled: 0 });
    expect(await send('FOK', 1)).toMatchObject({ status: 'closed', filled: 1 });
    expect(await send('IOC', 4)).toMatchObject({ status: 'expired', filled: 2 });
    expect(await send('GTC', 1)).toMatchObject({ status: 'open', filled: 0 });
  });

  it('triggers a stop when the price reaches it', async () => {
    const { venue, exchange } = await setup();
    const stop = await exchange.createOrder(SYMBOL, 'market', 'buy', 1, undefined, { triggerPrice: 110 });
    expect(await exchange.fetchOrder(idOf(stop), SYMBOL)).toMatchObject({ status: 'open' });
    await venue.control('POST', '/paper/prices', { symbol: 'BTC/USD', bid: '110', ask: '111' });
    expect(await exchange.fetchOrder(idOf(stop), SYMBOL)).toMatchObject({ status: 'closed', average: 111 });
  });

  it.each([
    [
      'the account cannot pay',
      (it: Exchange) => it.createOrder(SYMBOL, 'limit', 'buy', 100_000, 101),
      'InsufficientFunds',
    ],
    ['is worth too little', (it: Exchange) => it.createOrder(SYMBOL, 'limit', 'buy', 0.01, 101), 'NOTIONAL'],
    [
      'has too many digits',
      (it: Exchange) => it.privatePostOrder({ ...RAW, quantity: '1.000001', price: '101' }),
      'lot size',
    ],
    [
      'has a price between the ticks',
      (it: Exchange) => it.privatePostOrder({ ...RAW, quantity: '1', price: '1.001' }),
      'order price is invalid',
    ],
  ])('is refused what %s', async (_what, send, answer) => {
    const { exchange } = await setup();
    expect(await refusal(send(exchange))).toContain(answer);
  });

  it('is refused with a wrong key, a wrong secret, or a clock that differs', async () => {
    const { venue, exchange } = await setup();
    const stranger = await binanceClient(venue, { key: 'other', secret: 'paper-secret' });
    expect(await refusal(stranger.fetchBalance())).toContain('-2015');
    const forger = await binanceClient(venue, { key: 'paper', secret: 'wrong' });
    expect(await refusal(forger.fetchBalance())).toContain('-1022');
    await venue.control('POST', '/paper/clock', { skewMs: -5_000 });
    expect(await refusal(exchange.fetchBalance())).toContain('-1021');
    await venue.control('POST', '/paper/clock', { skewMs: 60_000 });
    expect(await refusal(exchange.fetchBalance())).toContain('-1021');
    await exchange.loadTimeDifference();
    expect(await refusal(exchange.fetchBalance())).toBe('accepted');
  });

  it('is refused the stream of the account with a wrong signature', async () => {
    const { venue, exchange } = await setup();
    const socket = new WebSocket(`${venue.url.replace('http', 'ws')}/binance/ws-api/v3`);
    onTestFinished(() => socket.close());
    const answers: unknown[] = [];
    socket.addEventListener('message', ({ data }) => answers.push(JSON.parse(String(data))));
    await new Promise((resolve) => socket.addEventListener('open', resolve, { once: true }));
    const signed = exchange.signParams({}) as Record<string, unknown>;
    const method = 'userDataStream.subscribe.signature';
    for (const params of [signed, { ...signed, signature: '0'.repeat(64) }, { ...signed, apiKey: 'other' }]) {
      socket.send(JSON.stringify({ id: answers.length, method, params }));
    }
    await expect
      .poll(() => answers)
      .toMatchObject([
        { status: 200, result: { subscriptionId: 0 } },
        { status: 400, error: { code: -1022 } },
        { status: 401, error: { code: -2015 } },
      ]);
  });

  it('does not find what was purged: archived if nothing was filled, unknown else', async () => {
    const { venue, exchange } = await setup();
    const filled = await exchange.createOrder(SYMBOL, 'limit', 'buy', 1, 101);
    const empty = await exchange.createOrder(SYMBOL, 'limit', 'buy', 1, 50);
    await exchange.cancelOrder(idOf(empty), SYMBOL);
    await venue.control('POST', '/paper/purge', { olderThanMs: 0 });
    expect(await refusal(exchange.fetchOrder(idOf(filled), SYMBOL))).toContain('-2013');
    expect(await refusal(exchange.fetchOrder(idOf(empty), SYMBOL))).toContain('-2026');
  });

  it('hears of its orders, its trades and its balance on the stream', async () => {
    const { venue, exchange } = await setup();
    const [orders, trades, balance] = [
      exchange.watchOrders(SYMBOL),
      exchange.watchMyTrades(SYMBOL),
      exchange.watchBalance(),
    ];
    await expect
      .poll(async () => (await venue.request('GET', '/metrics')).text())
      .toContain('flotilla_paper_stream_listeners{stream="binance-user"} 1');
    const order = await exchange.createOrder(SYMBOL, 'limit', 'buy', 1, 101, { clientOrderId: 'watched' });
    expect(await orders).toMatchObject([{ id: idOf(order), clientOrderId: 'watched', symbol: SYMBOL }]);
    expect(await trades).toMatchObject([{ order: idOf(order), amount: 1, price: 101, fee: { cost: 0.001 } }]);
    expect((await balance)['BTC']).toMatchObject({ free: 0.999 });
    const resting = await exchange.createOrder(SYMBOL, 'limit', 'buy', 1, 50, { clientOrderId: 'leaves' });
    await exchange.cancelOrder(idOf(resting), SYMBOL);
    await expect
      .poll(() => (exchange.orders as { id: string }[]).find(({ id }) => id === idOf(resting)))
      .toMatchObject({ status: 'canceled', clientOrderId: 'leaves' });
  });

  it('reads candles that stay the same, and the ticker, on both roads', async () => {
    const { exchange } = await setup();
    const since = Date.UTC(2026, 10, 1);
    const first = await exchange.fetchOHLCV('ETH/USDT', '1h', since, 5);
    expect(first).toHaveLength(5);
    expect(await exchange.fetchOHLCV('ETH/USDT', '1h', since, 5)).toEqual(first);
    expect(await exchange.fetchTicker(SYMBOL)).toMatchObject({ bid: 100, ask: 101 });
    expect(await exchange.watchTicker(SYMBOL)).toMatchObject({ last: 100.5 });
  });

  it('meets the rate limits in its own words, and the ban when it goes on', async () => {
    const { venue, exchange } = await setup();
    await venue.control('POST', '/paper/limits', { binanceOrdersPer10Seconds: 0 });
    expect(await refusal(exchange.createOrder(SYMBOL, 'limit', 'buy', 1, 50))).toContain('-1015');
    await venue.control('POST', '/paper/limits', { binanceWeightPerMinute: 3, binanceOrdersPer10Seconds: 100 });
    const ask = () => venue.request('GET', '/binance/api/v3/ping');
    expect((await ask()).headers.get('x-mbx-used-weight-1m')).toBe('1');
    const statuses: number[] = [];
    for (let index = 0; index < 14; index += 1) statuses.push((await ask()).status);
    expect([...new Set(statuses)]).toEqual([200, 429, 418]);
    const banned = await ask();
    expect(Number(banned.headers.get('retry-after'))).toBeGreaterThan(60);
    expect(await refusal(exchange.fetchTime())).toContain(ccxt.DDoSProtection.name);
  });
});

type Exchange = Awaited<ReturnType<typeof binanceClient>>;
const RAW = { symbol: 'BTCUSDT', side: 'BUY', type: 'LIMIT', timeInForce: 'GTC' };
