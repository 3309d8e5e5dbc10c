/**
 * What an adapter costs. The baseline is a bare POST of the same body to the same server with fetch, as a program
 * without us would send it; node:http, the least that Node can do, is measured beside it for comparison. All take
 * turns, so that whatever else the machine does falls on them alike. The adapter does all it does in production:
 * budget in Redis, timeouts, metrics, checking of what came back.
 */
import { createHmac, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { SystemClock } from '#libs/clock';
import { EmbeddedServers } from '#libs/embedded';
import { Decimal } from '#libs/money';
import { clientOrderIdFor, type SubmitRequest, type Venue } from '#libs/venues';
import { control, openPaperVenue, withPaperVenue } from '../paper.ts';
import { median } from '../statistics.ts';

const ROUNDS = 9;
const CALLS = 256;
const RATIO_MAX = 1.5;
const clock = new SystemClock();

interface Post {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

interface Side {
  readonly name: string;
  readonly venue: Venue;
  readonly request: () => SubmitRequest;
  /** The same submission as a client without us would send it, signed beforehand. */
  readonly post: (request: SubmitRequest) => Post;
}

type Print = (what: string, value: string) => void;

/** Resolves with whether every ratio is within its bound. */
export async function benchAdapters(print: Print): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-bench-'));
  const silent = (): void => undefined;
  const servers = new EmbeddedServers(folder, clock, { progress: silent, died: silent, failed: silent });
  try {
    const redis = new Redis(await servers.startRedis());
    const isWithin = await withPaperVenue(join(folder, 'paper'), (url) => benchBoth(url, redis, print));
    redis.disconnect();
    return isWithin;
  } finally {
    await servers.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function benchBoth(paperUrl: string, redis: Redis, print: Print): Promise<boolean> {
  await control(`${paperUrl}/paper/mode`, { fills: 'manual' });
  await control(`${paperUrl}/paper/balances`, { asset: 'USD', free: '1000000000' });
  let isWithin = true;
  for (const adapter of ['alpaca', 'ccxt'] as const) {
    const side = sideOf(adapter, paperUrl, redis);
    for (const concurrency of [1, 32]) {
      const rounds = await compare(side, concurrency);
      const of = (pick: (round: Round) => number): number => median(rounds.map(pick));
      const ratio = of(({ adapterMs, fetchMs }) => adapterMs / fetchMs);
      const toLeast = of(({ adapterMs, leastMs }) => adapterMs / leastMs);
      const times = [of(({ adapterMs }) => adapterMs), of(({ fetchMs }) => fetchMs), of(({ leastMs }) => leastMs)];
      const verdict = ratio <= RATIO_MAX ? 'ok' : 'TOO SLOW';
      isWithin &&= ratio <= RATIO_MAX;
      print(
        `${side.name}: submit / bare POST, ${concurrency} at once (at most ${RATIO_MAX.toFixed(2)})`,
        `${ratio.toFixed(2)} ${verdict}; ${toLeast.toFixed(2)} to node:http; ms: ${times.map((ms) => ms.toFixed(2)).join(', ')}`,
      );
    }
    await side.venue.close();
  }
  return isWithin;
}

/** Milliseconds per call of each, one after the other. */
interface Round {
  readonly fetchMs: number;
  readonly leastMs: number;
  readonly adapterMs: number;
}

async function compare(side: Side, concurrency: number): Promise<Round[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency });
  const rounds: Round[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const posts = (): Post[] => Array.from({ length: CALLS }, () => side.post(side.request()));
    const requests = Array.from({ length: CALLS }, () => side.request());
    rounds.push({
      fetchMs: await timed(concurrency, posts(), fetchPost),
      leastMs: await timed(concurrency, posts(), (post) => leastPost(post, agent)),
      adapterMs: await timed(concurrency, requests, (request) => submit(side.venue, request)),
    });
  }
  agent.destroy();
  // The first round warms all up and does not count.
  return rounds.slice(1);
}

/** Milliseconds per call, with so many in flight at a time. */
async function timed<T>(concurrency: number, items: readonly T[], work: (item: T) => Promise<void>): Promise<number> {
  const queue = items.values();
  const startedAt = clock.monotonic();
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      for (const item of queue) await work(item);
    }),
  );
  return (clock.monotonic() - startedAt) / items.length;
}

async function submit(venue: Venue, request: SubmitRequest): Promise<void> {
  const outcome = await venue.submit(request);
  if (outcome.outcome !== 'accepted') throw new Error(`Expected an accepted order, got ${JSON.stringify(outcome)}.`);
}

async function fetchPost({ url, headers, body }: Post): Promise<void> {
  const answer = await fetch(url, { method: 'POST', headers, body });
  const order: unknown = await answer.json();
  if (!answer.ok) throw new Error(`The bare POST was answered with ${answer.status}: ${JSON.stringify(order)}`);
}

function leastPost({ url, headers, body }: Post, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, { method: 'POST', agent, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => {
        const isOrder = response.statusCode === 200 && typeof JSON.parse(text) === 'object';
        if (isOrder) resolve();
        else reject(new Error(`The bare POST was answered with ${response.statusCode}: ${text}`));
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

function sideOf(adapter: 'alpaca' | 'ccxt', paperUrl: string, redis: Redis): Side {
  const venue = openPaperVenue(adapter, paperUrl, redis);
  const request = (): SubmitRequest => ({
    clientOrderId: clientOrderIdFor(
      { profileId: randomUUID(), tradeId: randomUUID() },
      'bytelyst',
      venue.capabilities.clientOrderIds,
    ),
    symbol: adapter === 'alpaca' ? 'BTC/USD' : 'BTC/USDT',
    side: 'buy',
    type: 'limit',
    quantity: Decimal.parse('0.0002'),
    limitPrice: Decimal.parse('40000'),
    timeInForce: 'gtc',
    purpose: 'exit',
  });
  const post = adapter === 'alpaca' ? alpacaPost : binancePost;
  return {
    name: adapter === 'alpaca' ? 'Alpaca' : 'Binance by ccxt',
    venue,
    request,
    post: (each) => post(paperUrl, each),
  };
}

function alpacaPost(paperUrl: string, request: SubmitRequest): Post {
  const body = JSON.stringify({
    client_order_id: request.clientOrderId,
    limit_price: request.limitPrice?.toString(),
    qty: request.quantity.toString(),
    side: request.side,
    symbol: request.symbol,
    time_in_force: request.timeInForce,
    type: request.type,
  });
  const headers = {
    'content-type': 'application/json',
    'content-length': String(body.length),
    'apca-api-key-id': 'paper',
    'apca-api-secret-key': 'paper-secret',
  };
  return { url: `${paperUrl}/alpaca/v2/orders`, headers, body };
}

function binancePost(paperUrl: string, request: SubmitRequest): Post {
  const query = new URLSearchParams({
    timestamp: String(clock.now()),
    symbol: request.symbol.replace('/', ''),
    side: request.side.toUpperCase(),
    newClientOrderId: request.clientOrderId,
    newOrderRespType: 'FULL',
    type: 'LIMIT',
    quantity: request.quantity.toString(),
    price: request.limitPrice?.toString() ?? '',
    timeInForce: 'GTC',
    recvWindow: '60000',
  }).toString();
  const body = `${query}&signature=${createHmac('sha256', 'paper-secret').update(query).digest('hex')}`;
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    'content-length': String(body.length),
    'x-mbx-apikey': 'paper',
  };
  return { url: `${paperUrl}/binance/api/v3/order`, headers, body };
}
