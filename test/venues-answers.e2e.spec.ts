import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Decimal } from '#libs/money';
import { createLogger } from '#libs/telemetry';
import { Secret, type VenueSettings } from '#libs/venues';
import { setup, type Protocol } from './harness/venue-setup.js';

const ALPACA: Protocol = { adapter: 'alpaca', symbol: 'BTC/USD', otherSymbol: 'ETH/USD' };
const BINANCE: Protocol = { adapter: 'ccxt', symbol: 'BTC/USDT', otherSymbol: 'ETH/USDT' };

/** Stands before the paper venue: passes on what is read, and answers submissions itself, as no sane venue would. */
async function setupBehind(protocol: Protocol, answer: (response: ServerResponse) => void) {
  const harness = await setup(protocol);
  let submissions = 0;
  let isCut = false;
  const server = createServer((request, response) => {
    if (isCut) return void request.socket.destroy();
    if (request.method === 'POST') {
      submissions += 1;
      request.resume().on('end', () => answer(response));
      return;
    }
    const headers = Object.entries(request.headers).filter(
      ([name]) => name.startsWith('apca') || name.startsWith('x-mbx'),
    );
    void fetch(`${harness.paper.url}${request.url ?? ''}`, { headers: headers as [string, string][] }).then(
      async (real) => {
        response.writeHead(real.status, { 'content-type': 'application/json' }).end(await real.text());
      },
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const baseUrl = `${origin}/${protocol.adapter === 'alpaca' ? 'alpaca' : 'binance'}`;
  const open = (changes: Partial<VenueSettings> = {}) => harness.open({ settings: { baseUrl, ...changes } });
  return { ...harness, venue: open(), open, submissions: () => submissions, cut: () => (isCut = true) };
}

function body(status: number, text: string, headers: Record<string, string> = {}) {
  return (response: ServerResponse): void =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
}

const STRANGE: [string, (response: ServerResponse) => void][] = [
  ['a page of HTML with 200', body(200, '<html>Welcome</html>')],
  ['an empty body with 200', body(200, '')],
  ['half a JSON with 200', body(200, '{"id":"x","client_')],
  ['an order without a quantity', body(200, '{"id":"1","orderId":1,"symbol":"BTCUSDT","status":"NEW"}')],
  ['a page of HTML with 403, as a firewall sends', body(403, '<html>Forbidden</html>')],
  ['a page of HTML with 404, as a gateway sends', body(404, '<html>No such page</html>')],
  ['a redirection', body(307, '', { location: 'https://example.com/' })],
  ['502', body(502, '<html>Bad gateway</html>')],
  [
    '504 in the words of Binance',
    body(504, '{"code":-1007,"msg":"Timeout waiting for response from backend server."}'),
  ],
  ['503 in the words of Alpaca', body(503, '{"code":50310000,"message":"client_order_id must be unique"}')],
  [
    'a body that never ends',
    (response) => void response.writeHead(200, { 'content-type': 'application/json' }).write('{"id":'),
  ],
];

describe.each([ALPACA, BINANCE])('$adapter', (protocol) => {
  it.each(STRANGE)('knows nothing after %s, and does not send again', async (_name, answer) => {
    const { venue, request, submissions } = await setupBehind(protocol, answer);
    const outcome = await venue.submit(request(), { timeoutMs: 1_000 });
    expect(outcome.outcome).toBe('unknown');
    expect(submissions()).toBe(1);
  });

  it('is quiet for as long as the venue asks, in every process', async () => {
    const { venue, open, request, submissions, redis, context } = await setupBehind(
      protocol,
      body(protocol.adapter === 'alpaca' ? 429 : 418, '{"code":-1003,"msg":"Way too many requests","message":"x"}', {
        'retry-after': '77',
      }),
    );
    expect(await venue.submit(request())).toMatchObject({ outcome: 'unknown', reason: 'rate-limited' });
    const another = open();
    expect(await another.submit(request())).toMatchObject({ outcome: 'refused' });
    expect(submissions()).toBe(1);
    const [key] = await redis.keys(`${context.config.KEY_PREFIX}:*:block`);
    expect(await redis.pttl(key ?? '')).toBeGreaterThan(70_000);
  });

  it('shows no key, secret or signature, whatever goes wrong', async () => {
    const key = 'AKIDLONGANDSECRETKEY01';
    const secret = 'verySecretValue/with+signs==';
    const { open, cut, request, lost, changes, context, redis, registry } = await setupBehind(
      protocol,
      body(500, '{}'),
    );
    const venue = open({ key: new Secret(key), secret: new Secret(secret) });
    const stop = new AbortController();
    const shown: unknown[] = [venue, await venue.submit(request()), await venue.findByClientOrderId(request())];
    const read = async (): Promise<void> => {
      shown.push(await venue.findByVenueOrderId({ symbol: protocol.symbol, venueOrderId: '1' }));
      shown.push(await venue.openOrders().catch((error: unknown) => error));
      shown.push(await venue.balances().catch((error: unknown) => error));
    };
    await read();
    cut();
    await read();
    const streaming = venue.stream(() => undefined, stop.signal);
    await changes.until(() => lost.length > 0);
    stop.abort();
    await streaming;
    const logged = new PassThrough();
    const logger = createLogger({ LOG_LEVEL: 'info', LOG_FORMAT: 'json' }, { process: 'test' }, logged);
    for (const each of shown)
      logger.info({ each, err: each instanceof Error ? each : undefined, key: new Secret(key) }, 'shown');
    const text = [
      String(logged.read()),
      ...shown.map((each) => inspect(each, { depth: 10, showHidden: true })),
      JSON.stringify(shown),
      ...shown.map((each) => (each instanceof Error ? `${each.stack} ${inspect(each.cause)}` : '')),
      lost.join('\n'),
      await registry.metrics(),
      (await redis.keys(`${context.config.KEY_PREFIX}*`)).join('\n'),
    ].join('\n');
    expect(text).toContain('unknown');
    for (const hidden of [key, secret, encodeURIComponent(secret), 'signature=']) expect(text).not.toContain(hidden);
  });
});

describe('binance', () => {
  it.each([
    ['-1006', body(400, '{"code":-1006,"msg":"An unexpected response was received from the message bus."}')],
    ['-1007', body(400, '{"code":-1007,"msg":"Timeout waiting for response from backend server."}')],
  ])('says itself that it does not know: %s', async (_code, answer) => {
    const { venue, request } = await setupBehind(BINANCE, answer);
    expect(await venue.submit(request())).toMatchObject({ outcome: 'unknown', reason: 'venue-unsure' });
  });

  it('refuses by the clock, which proves that nothing was taken; the offset is measured, and nothing sent again', async () => {
    const { venue, request, paper, submissionsOf } = await setup(BINANCE);
    await venue.instrument(BINANCE.symbol);
    await paper.control('POST', '/paper/clock', { skewMs: 3_600_000 });
    const wanted = request();
    expect(await venue.submit(wanted)).toMatchObject({ outcome: 'refused', reason: 'clock', code: '-1021' });
    expect(await submissionsOf(wanted.clientOrderId)).toBe(0);
    expect(await venue.submit(wanted)).toMatchObject({ outcome: 'accepted' });
    expect(await paper.orders()).toHaveLength(1);
  });

  it('sends no quantity or price that ccxt would change on the way', async () => {
    const { venue, request, submissionsOf } = await setup(BINANCE);
    for (const change of [{ quantity: Decimal.parse('0.001234') }, { limitPrice: Decimal.parse('50000.001') }]) {
      const wanted = request(change);
      expect(await venue.submit(wanted)).toMatchObject({ outcome: 'refused', reason: 'invalid-request' });
      expect(await submissionsOf(wanted.clientOrderId)).toBe(0);
    }
  });

  it('has no positions, and says so', async () => {
    const { venue } = await setup(BINANCE);
    expect(venue.capabilities.hasPositions).toBe(false);
    await expect(venue.positions()).rejects.toThrow('has no positions');
  });

  it('lets no rejection of a socket escape, however the sockets end', async () => {
    const { venue, paper, lost, changes } = await setup(BINANCE);
    const escaped: unknown[] = [];
    const onEscape = (error: unknown): void => void escaped.push(error);
    process.on('unhandledRejection', onEscape);
    onTestFinished(() => void process.off('unhandledRejection', onEscape));
    const stop = new AbortController();
    let gaps = 0;
    const streaming = venue.stream((event) => {
      gaps += event.kind === 'gap' ? 1 : 0;
      changes.notify();
    }, stop.signal);
    const reach = (count: number): Promise<void> => changes.until(() => gaps >= count);
    await reach(1);
    for (let round = 2; round < 6; round += 1) {
      await paper.control('POST', '/paper/streams/cut');
      await reach(round);
    }
    const lostBefore = lost.length;
    await paper.kill('SIGKILL');
    await changes.until(() => lost.length > lostBefore + 2);
    await paper.restart();
    await reach(6);
    stop.abort();
    await streaming;
    expect(escaped).toEqual([]);
  });
});

describe('alpaca', () => {
  it('tells positions with their sign and symbol', async () => {
    const { venue, accept, fill } = await setup(ALPACA);
    const order = await accept();
    await fill(order.venueOrderId, '0.00123', '50000');
    const positions = await venue.positions();
    expect(JSON.parse(JSON.stringify(positions))).toEqual([
      expect.objectContaining({ symbol: 'BTC/USD', averagePrice: expect.stringMatching(/^5\d{4}/) }),
    ]);
  });
});
