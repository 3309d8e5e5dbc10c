import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { SystemClock } from '#libs/clock';
import { Decimal } from '#libs/money';
import type * as BuildVenue from '../../apps/paper-venue/src/build-venue.js';
import type * as Instruments from '../../apps/paper-venue/src/market/instruments.js';
import type * as VenueFile from '../../apps/paper-venue/src/store/venue-file.js';

const CONNECTIONS = 64;
const HISTORIES = [1_000, 100_000, 1_000_000];
const SEED_BATCH = 10_000;
const ROUNDS = 7;
const TURN_MS = 700;
const HEADERS = {
  'apca-api-key-id': 'paper',
  'apca-api-secret-key': 'paper-secret',
  'content-type': 'application/json',
};

const clock = new SystemClock();
const dist = (path: string): string => new URL(`../../dist/apps/paper-venue/src/${path}`, import.meta.url).href;

/** Durable orders over the wire, and what one costs as the history grows. Everything is measured in turns. */
export async function benchPaperVenue(print: (what: string, value: string) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-bench-'));
  const venues: VenueUnderLoad[] = [];
  try {
    for (const size of HISTORIES) await writeHistory(join(folder, String(size)), size);
    for (const size of HISTORIES) venues.push(await VenueUnderLoad.start(join(folder, String(size))));
    const { commit, question, orders } = await measure(folder, venues);
    const [fewest = Number.NaN] = orders;
    print('paper venue: durable orders per commit of a bare SQLite (at least 1)', (commit / fewest).toFixed(2));
    print('paper venue: an order / a question that touches nothing', (fewest / question).toFixed(2));
    for (const [index, size] of HISTORIES.entries()) {
      if (index === 0) continue;
      const what = `paper venue: an order after ${size.toLocaleString('en')} / after 1,000 (at most 1.30)`;
      print(what, ((orders[index] ?? Number.NaN) / fewest).toFixed(2));
    }
  } finally {
    for (const venue of venues) await venue.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Medians of what each costs, in milliseconds. */
async function measure(
  folder: string,
  venues: readonly VenueUnderLoad[],
): Promise<{ commit: number; question: number; orders: number[] }> {
  const [commits, questions]: [number[], number[]] = [[], []];
  const orders = venues.map((): number[] => []);
  for (let round = 0; round < ROUNDS; round += 1) {
    commits.push(bareCommit(join(folder, `bare-${round}.db`)));
    const [first] = venues;
    if (first) questions.push(await first.question(TURN_MS));
    for (const [index, venue] of venues.entries()) orders[index]?.push(await venue.order(TURN_MS));
  }
  return { commit: median(commits), question: median(questions), orders: orders.map(median) };
}

/** What a commit of one row costs that waits for the disk: what an order would cost at least if each had its own. */
function bareCommit(path: string): number {
  const database = new DatabaseSync(path);
  database.exec('pragma journal_mode = wal; pragma synchronous = full; create table rows (id text, body text) strict');
  const insert = database.prepare('insert into rows values (?, ?)');
  const startedAt = clock.monotonic();
  let count = 0;
  for (; clock.monotonic() - startedAt < TURN_MS; count += 1) insert.run(randomUUID(), 'x'.repeat(200));
  const cost = (clock.monotonic() - startedAt) / count;
  database.close();
  return cost;
}

/** A paper venue in a process of its own, and a way to keep all connections to it busy. */
class VenueUnderLoad {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  private readonly child: ChildProcess;
  private readonly url: string;

  private constructor(child: ChildProcess, url: string) {
    this.child = child;
    this.url = url;
  }

  static async start(dataDir: string): Promise<VenueUnderLoad> {
    const child = spawn(process.execPath, ['dist/apps/paper-venue/src/main.js'], {
      env: { ...process.env, DATA_DIR: dataDir, PAPER_PORT: '0', LOG_LEVEL: 'warn', DRAIN_MS: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const url = await new Promise<string>((resolve) => {
      child.stdout.on('data', (chunk: Buffer) => resolve(/http:\S+\d/.exec(chunk.toString())?.[0] ?? ''));
    });
    const venue = new VenueUnderLoad(child, url);
    await venue.call('POST', '/paper/prices', { symbol: 'BTC/USD', bid: '1', ask: '1' });
    return venue;
  }

  /** Milliseconds that one order costs. */
  order(forMs: number): Promise<number> {
    const order = { symbol: 'BTC/USD', qty: '1', side: 'buy', type: 'limit', limit_price: '1', time_in_force: 'gtc' };
    return this.load(forMs, () => this.call('POST', '/alpaca/v2/orders', { ...order, client_order_id: randomUUID() }));
  }

  /** Milliseconds that a question costs which touches nothing. */
  question(forMs: number): Promise<number> {
    return this.load(forMs, () => this.call('GET', '/alpaca/v2/clock'));
  }

  async stop(): Promise<void> {
    this.agent.destroy();
    const exited = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGTERM');
    await exited;
  }

  private async load(forMs: number, call: () => Promise<number>): Promise<number> {
    const startedAt = clock.monotonic();
    let count = 0;
    const caller = async (): Promise<void> => {
      while (clock.monotonic() - startedAt < forMs) {
        if ((await call()) !== 200) throw new Error('Expected every call to succeed.');
        count += 1;
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, caller));
    return (clock.monotonic() - startedAt) / count;
  }

  private call(method: string, path: string, body?: object): Promise<number> {
    const { agent } = this;
    return new Promise((resolve, reject) => {
      const sent = request(`${this.url}${path}`, { method, agent, headers: HEADERS }, (answer) => {
        answer.resume();
        answer.once('end', () => resolve(answer.statusCode ?? 0));
      });
      sent.once('error', reject);
      sent.end(body && JSON.stringify(body));
    });
  }
}

/** Fills a store through the engine, as fast as it goes. */
async function writeHistory(dataDir: string, size: number): Promise<void> {
  const { openVenueFile } = (await import(dist('store/venue-file.js'))) as typeof VenueFile;
  const { buildVenue } = (await import(dist('build-venue.js'))) as typeof BuildVenue;
  const { INSTRUMENTS } = (await import(dist('market/instruments.js'))) as typeof Instruments;
  const [instrument] = INSTRUMENTS;
  if (!instrument) throw new Error('Expected the venue to trade something.');
  const database = openVenueFile(join(dataDir, 'paper-venue'));
  const commits = {
    committed: () => undefined,
    failed: (error: unknown) => {
      throw error;
    },
  };
  const venue = buildVenue(database, { seed: 1, clock, commits });
  const { store, engine, market, commit } = venue.parts;
  const one = Decimal.parse('1');
  await venue.setFree('USD', Decimal.parse('1000000000'));
  await venue.pin(instrument, { bid: one, ask: one });
  const order = {
    protocol: 'alpaca',
    instrument,
    side: 'buy',
    type: 'limit',
    timeInForce: 'gtc',
    quantity: one,
  } as const;
  for (let done = 0; done < size; done += SEED_BATCH) {
    engine.offer(instrument, market.liquidity(instrument, 0));
    await commit.run(() => {
      for (let seq = done; seq < Math.min(done + SEED_BATCH, size); seq += 1) {
        const placed = engine.place({ ...order, clientOrderId: randomUUID(), limitPrice: one }, seq);
        if ('refusal' in placed) throw new Error(`Expected an order, got ${placed.refusal.reason}.`);
        store.saveEvents(placed.events, engine.counters);
      }
      store.saveBalances(engine.balances.drainChanged());
    });
  }
  database.close();
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
