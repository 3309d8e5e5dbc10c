import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { alpacaClient, alpacaUpdates, binanceClient } from './harness/paper-clients.js';
import { startPaperVenue } from './harness/paper-venue.js';
import { start, temporaryFolder } from './harness/process.js';

const ORDER = {
  symbol: 'BTC/USD',
  side: 'buy',
  type: 'limit',
  timeInForce: 'gtc',
  qty: '0.1',
  limitPrice: '101',
} as const;
const LOADERS = 16;
const ACKNOWLEDGED_MIN = 300;

describe('kill -9', () => {
  it('in the middle of load loses no order, no fill and no balance that was acknowledged', async () => {
    const venue = await startPaperVenue();
    await venue.control('POST', '/paper/prices', { symbol: 'BTC/USD', bid: '100', ask: '101' });
    const client = alpacaClient(venue);
    const acknowledged = new Map<string, string | undefined>();
    let isDown = false;
    const load = async (): Promise<void> => {
      while (!isDown) {
        const clientOrderId = randomUUID();
        const order = await client.submit({ ...ORDER, clientOrderId }).catch(() => undefined);
        if (order) acknowledged.set(clientOrderId, order.filledQty ?? undefined);
      }
    };
    const loaders = Array.from({ length: LOADERS }, load);
    await expect.poll(() => acknowledged.size, { timeout: 60_000 }).toBeGreaterThan(ACKNOWLEDGED_MIN);
    await venue.kill('SIGKILL');
    isDown = true;
    await Promise.all(loaders);

    await venue.restart();
    const orders = new Map((await venue.orders()).map((order) => [order.clientOrderId, order]));
    for (const [id, filled] of acknowledged) expect(orders.get(id)?.filledQuantity).toBe(filled);
    // What the account has is what its fills say, to the last digit.
    const spent = [...orders.values()].filter(({ status }) => status === 'filled').length * 101;
    expect(await client.account.getAccount()).toMatchObject({ cash: String(1_000_000 - spent / 10) });
    const [position] = await client.positions.getAllOpenPositions();
    expect(Number(position?.qty)).toBeCloseTo((orders.size * 0.1 * 9975) / 10_000, 9);
    const repeated = [...acknowledged.keys()][0];
    await expect(client.submit({ ...ORDER, ...(repeated && { clientOrderId: repeated }) })).rejects.toThrow('unique');
  });

  it('leaves open orders open, prices pinned and the mode as it was; streams resume with greater ids', async () => {
    const venue = await startPaperVenue();
    await venue.control('POST', '/paper/prices', { symbol: 'BTC/USD', bid: '100', ask: '101' });
    await venue.control('POST', '/paper/mode', { fills: 'manual' });
    const client = alpacaClient(venue);
    const updates = await alpacaUpdates(venue);
    const { id = '' } = await client.submit({ ...ORDER, clientOrderId: 'open' });
    await expect.poll(() => updates.length).toBe(1);
    await venue.kill('SIGKILL');
    await venue.restart();
    expect(await client.orders.getOrderByClientOrderId({ clientOrderId: 'open' })).toMatchObject({ id, status: 'new' });
    await expect
      .poll(async () => (await venue.request('GET', '/metrics')).text(), { timeout: 20_000 })
      .toContain('flotilla_paper_stream_listeners{stream="alpaca"} 1');
    await venue.control('POST', `/paper/orders/${id}/fill`, { quantity: '0.1', price: '101' });
    await expect.poll(() => updates.map(({ event }) => event)).toEqual(['new', 'fill']);
    const [before, after] = updates.map((update) => String(Reflect.get(update, 'event_id')));
    expect((after ?? '') > (before ?? '')).toBe(true);
    await venue.control('POST', '/paper/mode', { fills: 'auto' });
    expect(await client.submit({ ...ORDER, clientOrderId: 'later' })).toMatchObject({ filledAvgPrice: '101' });
  });
});

describe('a disk that takes no more', () => {
  it('ends the venue at once; whoever was not answered knows nothing, and whoever was finds his order', async () => {
    const dataDir = temporaryFolder();
    const env = { DATA_DIR: dataDir, PAPER_PORT: '0', LOG_LEVEL: 'warn' };
    const main = resolve('dist', 'apps', 'paper-venue', 'src', 'main.js');
    // Files of at most 600 blocks of 512 bytes.
    const small = start('/bin/sh', ['-c', `ulimit -f 600; exec "${process.execPath}" "${main}"`], env);
    const url = (await small.says(/http:\/\/127\.0\.0\.1:\d+/))[0];
    const { submit } = alpacaClient({ url });
    const acknowledged: string[] = [];
    for (let index = 0; index < 10_000; index += 1) {
      const order = await submit({ ...ORDER, clientOrderId: `order-${index}` }).catch(() => undefined);
      if (!order) break;
      acknowledged.push(`order-${index}`);
    }
    expect(await small.exited).toMatchObject({ code: 1 });
    expect(small.output).toMatch(/disk|full|too big/i);
    const venue = await startPaperVenue(env);
    expect((await venue.orders()).map(({ clientOrderId }) => clientOrderId)).toEqual(
      expect.arrayContaining(acknowledged),
    );
  });
});

describe('a restart in the middle of a stream', () => {
  it('is noticed by ccxt, which comes back and hears what follows', async () => {
    const venue = await startPaperVenue();
    const exchange = await binanceClient(venue);
    const lost = exchange.watchOrders().then(
      () => 'heard',
      () => 'cut',
    );
    await expect
      .poll(async () => (await venue.request('GET', '/metrics')).text())
      .toContain('flotilla_paper_stream_listeners{stream="binance-user"} 1');
    expect(await venue.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(await lost).toBe('cut');
    await venue.restart();
    const watched = exchange.watchOrders();
    await expect
      .poll(async () => (await venue.request('GET', '/metrics')).text())
      .toContain('flotilla_paper_stream_listeners{stream="binance-user"} 1');
    await exchange.createOrder('BTC/USDT', 'limit', 'buy', 1, 50, { clientOrderId: 'after' });
    expect(await watched).toMatchObject([{ clientOrderId: 'after' }]);
  });
});
