import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { stringify } from 'yaml';
import { TestFleet } from './harness/fleet.js';
import { startPaperVenue, type PaperVenue } from './harness/paper-venue.js';
import { temporaryFolder } from './harness/process.js';

const PROFILE = '5d2c1f6e-7b1a-4c3d-9e2f-000000000001';
/** Whoever was killed leaves its lock behind; these are the times that it is waited for. */
const QUICK = { ENTRY_LOCK_TTL_MS: '2000', SUBMIT_TIMEOUT_MS: '1000', SUBMIT_WINDOW_MS: '2000' };
const PATIENCE = { timeout: 60_000, interval: 100 };

interface Ledger {
  readonly allocatedCapital: string;
  readonly reservedForOrders: string;
  readonly reservedForPositions: string;
  readonly realizedPnl: string;
  readonly invariant: { readonly holds: boolean };
}

interface Entry {
  readonly command: string;
  readonly tradeId: string | null;
}

/** A fleet of one pair that goes in and out every two seconds, on a venue of its own. */
async function setup() {
  const venue = await startPaperVenue();
  const folder = temporaryFolder();
  const [VENUES_FILE, PAIRS_FILE] = [join(folder, 'venues.yaml'), join(folder, 'pairs.yaml')];
  writeFileSync(VENUES_FILE, venuesOf(venue));
  const strategy = { name: 'metronome', params: { periodSec: 2 } };
  writeFileSync(
    PAIRS_FILE,
    stringify({ pairs: [{ id: 'BTC-USD', venue: 'paper', symbol: 'BTC/USD', strategy, profiles: [PROFILE] }] }),
  );
  const credentials = { VENUE_KEY: 'paper', VENUE_SECRET: 'paper-secret' };
  const fleet = await TestFleet.create({
    VENUES_FILE,
    PAIRS_FILE,
    ...credentials,
    ORDER_SYNC_INTERVAL_MS: '200',
    ...QUICK,
  });
  await fleet.start();
  const body = { id: PROFILE, name: 'alice', ownerId: 'alice', allocatedCapital: '10000' };
  expect((await fleet.api('/api/profiles', { method: 'POST', body })).status).toBe(201);
  const ledger = async () => (await (await fleet.api(`/api/profiles/${PROFILE}/ledger`)).json()) as Ledger;
  const entries = async () => {
    const answer = await fleet.api(`/api/profiles/${PROFILE}/ledger/entries?limit=500`);
    return ((await answer.json()) as { items: Entry[] }).items;
  };
  const closed = async () => new Set((await entries()).filter((e) => e.command === 'close').map((e) => e.tradeId));
  const whenClosed = (count: number) => vi.waitUntil(async () => (await closed()).size >= count, PATIENCE);
  return { fleet, venue, ledger, entries, whenClosed };
}

function venuesOf({ url }: PaperVenue): string {
  const addresses = { baseUrl: `${url}/alpaca`, dataUrl: `${url}/alpaca`, requestsPerMinute: 100_000 };
  const names = { keyEnv: 'VENUE_KEY', secretEnv: 'VENUE_SECRET' };
  return stringify({ venues: [{ id: 'paper', adapter: 'alpaca', paper: true, ...addresses, ...names }] });
}

describe('a pair that trades', () => {
  it('enters and leaves at the venue, and the ledger moves with every fill', async () => {
    const { fleet, venue, ledger, entries, whenClosed } = await setup();
    await whenClosed(2);
    expect((await entries()).map(({ command }) => command)).toEqual(
      expect.arrayContaining(['deposit', 'reserve', 'fill', 'close']),
    );
    expect(await ledger()).toMatchObject({ allocatedCapital: '10000', invariant: { holds: true } });
    expect(Number((await ledger()).realizedPnl)).not.toBe(0);
    const orders = await venue.orders();
    expect(orders.filter(({ side }) => side === 'sell').length).toBeGreaterThanOrEqual(2);
    expect(new Set(orders.map(({ clientOrderId }) => clientOrderId)).size).toBe(orders.length);
    expect(await fleet.state('BTC-USD')).toMatchObject({ status: 'running', errorMsg: null });
  });

  it('goes on after kill -9 as if nothing had been, with one order for each reservation', async () => {
    const { fleet, venue, entries, ledger, whenClosed } = await setup();
    await whenClosed(1);
    let pid = await fleet.whenRunning('BTC-USD');
    for (let kills = 1; kills <= 3; kills += 1) {
      const reserved = (await entries()).filter(({ command }) => command === 'reserve').length;
      // Right after a reservation: its order is on its way, at the venue, or filled already.
      await vi.waitUntil(
        async () => (await entries()).filter(({ command }) => command === 'reserve').length > reserved,
        { timeout: 60_000, interval: 5 },
      );
      process.kill(pid, 'SIGKILL');
      pid = await fleet.whenRunning('BTC-USD', pid);
      await whenClosed(kills + 1);
    }
    await fleet.api('/api/orchestrator/workers/BTC-USD/drain', { method: 'POST' });
    await vi.waitUntil(async () => {
      const { reservedForOrders } = await ledger();
      return Number(reservedForOrders) === 0;
    }, PATIENCE);
    const reserved = (await entries()).filter(({ command }) => command === 'reserve');
    const bought = (await venue.orders()).filter(({ side }) => side === 'buy');
    expect(new Set(bought.map(({ clientOrderId }) => clientOrderId)).size).toBe(bought.length);
    expect(bought.length).toBeLessThanOrEqual(reserved.length);
    expect((await ledger()).invariant.holds).toBe(true);
  });
});
