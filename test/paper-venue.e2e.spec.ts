import { describe, expect, it } from 'vitest';
import { startApp, temporaryFolder } from './harness/process.js';
import { startPaperVenue } from './harness/paper-venue.js';

describe('the paper venue', () => {
  it('says in its first line where it listens and that the money is paper, and ends in order on SIGTERM', async () => {
    const venue = await startPaperVenue();
    expect(venue.output.split('\n')[0]).toBe(
      `Paper venue on ${venue.url}, paper money only; control: ${venue.url}/docs`,
    );
    expect(await venue.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  });

  it('serves health, liveness, metrics and the description of its control routes', async () => {
    const venue = await startPaperVenue();
    expect((await venue.request('GET', '/internal/health')).status).toBe(200);
    expect(await venue.control('GET', '/internal/live')).toEqual({ status: 'ok' });
    expect(await (await venue.request('GET', '/metrics')).text()).toContain('flotilla_paper_open_orders 0');
    expect((await venue.request('GET', '/docs')).status).toBe(200);
    const { paths } = await venue.control<{ paths: object }>('GET', '/docs-json');
    expect(Object.keys(paths)).toEqual(expect.arrayContaining(['/paper/orders', '/paper/prices', '/paper/faults']));
  });

  it('refuses a second one on the same store or port, and arguments', async () => {
    const venue = await startPaperVenue();
    const second = startApp('paper-venue', { env: { ...venue.env, PAPER_PORT: '0' } });
    expect((await second.exited).code).toBe(1);
    expect(second.output).toContain('no other paper venue runs on this DATA_DIR');
    const elsewhere = startApp('paper-venue', { env: { ...venue.env, DATA_DIR: temporaryFolder() } });
    expect((await elsewhere.exited).code).toBe(1);
    expect(elsewhere.output).toContain('set PAPER_PORT to another port');
    const puzzled = startApp('paper-venue', { env: venue.env, args: ['now'] });
    expect((await puzzled.exited).code).toBe(2);
  });

  it('keeps a price that was set until it is released', async () => {
    const venue = await startPaperVenue();
    const ticker = () => venue.control<{ bidPrice: string }>('GET', '/binance/api/v3/ticker/bookTicker?symbol=BTCUSDT');
    await venue.control('POST', '/paper/prices', { symbol: 'BTC/USD', bid: '1', ask: '2' });
    expect(await ticker()).toMatchObject({ bidPrice: '1.00000000', askPrice: '2.00000000' });
    await venue.control('DELETE', '/paper/prices/BTCUSDT');
    expect(Number((await ticker()).bidPrice)).toBeGreaterThan(1_000);
  });

  it.each([
    ['POST', '/paper/prices', { symbol: 'NOPE', bid: '1', ask: '2' }, 404, 'does not trade "NOPE"'],
    ['POST', '/paper/prices', { symbol: 'BTC/USD', bid: '3', ask: '2' }, 400, 'faulty field'],
    ['POST', '/paper/mode', { fills: 'sometimes' }, 400, 'faulty field'],
    ['POST', '/paper/orders/77/fill', { quantity: '1', price: '1' }, 404, 'There is no order 77'],
    ['POST', '/paper/balances', { asset: 'GOLD', free: '1' }, 400, 'does not know the asset'],
  ])('answers %s %s %j with a problem that says what to do', async (method, path, body, status, detail) => {
    const venue = await startPaperVenue();
    const answer = await venue.request(method, path, body);
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ status, detail: expect.stringContaining(detail) });
  });

  it('serves pools as GeckoTerminal does', async () => {
    const venue = await startPaperVenue();
    const base = '/gecko/api/v2/networks/eth/pools';
    const { data: pools } = await venue.control<{ data: { attributes: { address: string } }[] }>('GET', base);
    const address = pools[0]?.attributes.address ?? '';
    const { data } = await venue.control<{ data: { attributes: Record<string, unknown> } }>(
      'GET',
      `${base}/${address}`,
    );
    expect(data.attributes).toMatchObject({
      address,
      reserve_in_usd: expect.stringMatching(/^\d+\.\d+$/),
      volume_usd: { h24: expect.stringMatching(/^\d/) },
      base_token_price_usd: expect.stringMatching(/^\d/),
      quote_token_price_usd: '1',
      pool_fee_percentage: expect.stringMatching(/^\d/),
      price_change_percentage: { h1: expect.any(String), h24: expect.any(String) },
    });
    const candles = await venue.control<{ data: { attributes: { ohlcv_list: number[][] } } }>(
      'GET',
      `${base}/${address}/ohlcv/hour?limit=3`,
    );
    expect(candles.data.attributes.ohlcv_list).toHaveLength(3);
    const unknown = await venue.request('GET', `${base}/0x0000000000000000000000000000000000000000`);
    expect([unknown.status, await unknown.json()]).toEqual([404, { errors: [{ status: '404', title: 'Not Found' }] }]);
  });
});
