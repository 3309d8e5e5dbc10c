import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { isProcessAlive } from '#libs/embedded';
import { createTestDatabase } from './harness/database.js';
import { startApp, temporaryFolder, type Started } from './harness/process.js';

interface VenueProcess {
  readonly pid: number;
  readonly url: string;
}

/** An orchestrator without a configured venue, on the servers of the test run. */
async function setup() {
  const { url } = await createTestDatabase({ template: 'template0' });
  const dataDir = temporaryFolder();
  const env = {
    ...{ DATA_DIR: dataDir, DATABASE_URL: url, REDIS_URL: inject('redisUrl'), PAPER_PORT: '0' },
    ...{ KEY_PREFIX: `t${randomBytes(4).toString('hex')}`, VENUES_FILE: '' },
    HEALTH_CHECK_INTERVAL_MS: '200',
  };
  const venue = (): VenueProcess =>
    JSON.parse(readFileSync(join(dataDir, 'paper-venue', 'process.json'), 'utf8')) as VenueProcess;
  const start = async (): Promise<Started> => {
    const orchestrator = startApp('orchestrator', { env });
    await orchestrator.says(/Ctrl-C stops everything/);
    return orchestrator;
  };
  return { env, start, venue };
}

const isAlive = (pid: number): boolean => isProcessAlive(pid, 'paper-venue');

async function submit(url: string, clientOrderId: string): Promise<number> {
  const order = { symbol: 'BTC/USD', qty: '0.1', side: 'buy', type: 'market', time_in_force: 'gtc' };
  const headers = {
    'content-type': 'application/json',
    'APCA-API-KEY-ID': 'paper',
    'APCA-API-SECRET-KEY': 'paper-secret',
  };
  const body = JSON.stringify({ ...order, client_order_id: clientOrderId });
  return (await fetch(`${url}/alpaca/v2/orders`, { method: 'POST', headers, body })).status;
}

async function ordersOf(url: string): Promise<string[]> {
  const answer = (await (await fetch(`${url}/paper/orders`)).json()) as { items: { clientOrderId: string }[] };
  return answer.items.map(({ clientOrderId }) => clientOrderId);
}

describe('an orchestrator without a configured venue', () => {
  it('starts the paper venue, says that it is paper money, and stops it', async () => {
    const { start, venue } = await setup();
    const orchestrator = await start();
    const { pid, url } = venue();
    expect(orchestrator.output).toContain(`${url}  (simulated, PAPER MONEY`);
    expect(await ordersOf(url)).toEqual([]);
    expect((await orchestrator.stop()).code).toBe(0);
    expect(isAlive(pid)).toBe(false);
  });

  it('starts it again when it is killed, where it was and with what it had acknowledged', async () => {
    const { start, venue } = await setup();
    const orchestrator = await start();
    const { pid, url } = venue();
    expect(await submit(url, 'before-the-crash')).toBe(200);
    process.kill(pid, 'SIGKILL');
    await orchestrator.says(/The paper venue died; starting it again/);
    await vi.waitUntil(() => venue().pid !== pid, { timeout: 60_000 });
    expect(venue().url).toBe(url);
    expect(await ordersOf(url)).toEqual(['before-the-crash']);
  });

  it('takes charge of the one that a killed orchestrator left', async () => {
    const { start, venue } = await setup();
    const first = await start();
    const { pid, url } = venue();
    // Once they are up, the next one finds the workers as well, and stops them.
    for (const pair of ['BTC-USD', 'ETH-USD']) await first.says(new RegExp(`Worker ${pair} is up`));
    await first.stop('SIGKILL');
    const second = await start();
    expect(venue()).toEqual({ pid, url });
    expect(second.output).toContain(url);
    await second.stop();
    expect(isAlive(pid)).toBe(false);
  });

  it('refuses to start when somebody else listens there, and says what to do', async () => {
    const { env } = await setup();
    const other = createServer();
    await new Promise<void>((listening) => other.listen(0, '127.0.0.1', listening));
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    const orchestrator = startApp('orchestrator', { env: { ...env, PAPER_PORT: String(port) } });
    expect((await orchestrator.exited).code).toBe(1);
    expect(orchestrator.output).toContain(`The paper venue cannot listen on 127.0.0.1:${port}`);
    expect(orchestrator.output).toContain('PAPER_PORT');
  });
});

describe('an orchestrator with VENUES_FILE', () => {
  it('names its venues and starts no paper venue', async () => {
    const { env, venue } = await setup();
    const file = inject('venuesFile');
    const orchestrator = startApp('orchestrator', { env: { ...env, VENUES_FILE: file } });
    await orchestrator.says(/Venues\s+paper {2}\(VENUES_FILE\)/);
    expect(venue).toThrow(/ENOENT/);
  });

  it('is refused a start with a faulty file, every fault named and no key told', async () => {
    const { env } = await setup();
    const orchestrator = startApp('orchestrator', { env: { ...env, VENUES_FILE: 'package.json' } });
    expect((await orchestrator.exited).code).toBe(1);
    expect(orchestrator.output).toMatch(/VENUES_FILE|package\.json/);
  });
});
