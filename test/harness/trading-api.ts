import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { vi } from 'vitest';
import { itemsOf, makeProfile, startApi, type Answer, type Caller } from './api.js';
import { PAPER_CREDENTIALS, startPaperVenue, type PaperVenue } from './paper-venue.js';
import { temporaryFolder } from './process.js';

export const PATIENCE = { timeout: 30_000, interval: 20 };
export const BUY = { venue: 'paper', symbol: 'BTC/USD', side: 'buy', quantity: '0.1', type: 'market', signalId: 'one' };
export const RESTING = { ...BUY, type: 'limit', limitPrice: '40000' };

/** An orchestrator without workers, and a paper venue of its own where a coin costs 50,000 and trading nothing. */
export async function startTrading(env: Record<string, string> = {}) {
  const venue = await startPaperVenue();
  await setPrice(venue, '50000');
  await venue.control('POST', '/paper/fees', { makerBps: 0, takerBps: 0 });
  const api = await startApi({ VENUES_FILE: venuesFile(venue), ORDER_SYNC_INTERVAL_MS: '50', ...env });
  const alice = await api.tenant('alice');
  const profileId = await makeProfile(alice, 'alice', '100000');
  return { ...api, venue, alice, profileId, ...handsOf(alice, profileId) };
}

export function handsOf(caller: Caller, profileId: string) {
  const path = `/api/profiles/${profileId}`;
  const trade = async (tradeId: string) => (await caller('GET', `${path}/trades/${tradeId}`)).body;
  return {
    path,
    trade,
    enter: (changes: Record<string, unknown> = {}) => caller('POST', `${path}/signals`, { ...BUY, ...changes }),
    ledger: async () => (await caller('GET', `${path}/ledger`)).body,
    whenTrade: (tradeId: string, state: string) =>
      vi.waitUntil(async () => {
        const found = await trade(tradeId);
        return found['state'] === state ? found : false;
      }, PATIENCE),
  };
}

export function venuesFile({ url }: PaperVenue, others: Record<string, unknown>[] = []): string {
  const folder = temporaryFolder();
  const [keyFile, secretFile] = [join(folder, 'key'), join(folder, 'secret')];
  writeFileSync(keyFile, PAPER_CREDENTIALS.key);
  writeFileSync(secretFile, PAPER_CREDENTIALS.secret);
  const shared = { keyFile, secretFile, requestsPerMinute: 1_000_000, fleetShare: 1 };
  const alpaca = { adapter: 'alpaca', paper: true, baseUrl: `${url}/alpaca`, dataUrl: `${url}/alpaca` };
  const file = join(folder, 'venues.yaml');
  const venues = [{ id: 'paper', ...alpaca, ...shared }, ...others.map((other) => ({ ...shared, ...other }))];
  writeFileSync(file, stringify({ venues }));
  return file;
}

export async function setPrice(venue: PaperVenue, price: string): Promise<void> {
  await venue.control('POST', '/paper/prices', { symbol: 'BTC/USD', bid: price, ask: price });
}

/** The venue takes, or does not hear, the next submission; either way nobody is told, and it cannot be asked. */
export async function goSilent(venue: PaperVenue, fault: 'drop-response' | 'drop-request'): Promise<void> {
  await venue.control('POST', '/paper/faults', { operation: 'submit', fault, times: 1 });
  await venue.control('POST', '/paper/faults', { operation: 'lookup', fault: 'http-500' });
}

export function tradeIdOf(answer: Answer): string {
  return answer.body['tradeId'] as string;
}

export async function actsOn(admin: Caller, action: string): Promise<Record<string, unknown>[]> {
  return itemsOf(await admin('GET', '/api/audit')).filter((act) => act['action'] === action);
}
