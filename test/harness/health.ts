import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { stringify } from 'yaml';
import type { HealthFields } from '#libs/fleet';
import { TestFleet } from './fleet.js';
import { startPaperVenue, type PaperVenue } from './paper-venue.js';
import { temporaryFolder } from './process.js';
import { venuesFile } from './trading-api.js';

export const PROFILE = '5d2c1f6e-7b1a-4c3d-9e2f-000000000001';
export const PATIENCE = { timeout: 60_000, interval: 50 };
export const PAIR = 'ETH-USD';

/** Loops that turn within seconds; everything else waits for longer than a busy machine takes. */
const QUICK = {
  ...{ TRADING_INTERVAL_MS: '1000', MONITOR_INTERVAL_MS: '500', ORDER_SYNC_INTERVAL_MS: '500' },
  ...{ LEDGER_VERIFY_INTERVAL_MS: '200', ORCHESTRATOR_LOCK_TTL_MS: '30000', HEARTBEAT_TIMEOUT_MS: '30000' },
  ...{ WORKER_HEARTBEAT_TTL_MS: '20000', EVENT_LOOP_LAG_MS_MAX: '60000' },
};

export interface Health extends HealthFields {
  readonly code: number;
  readonly status: string;
  readonly info: Record<string, { status: string }>;
  readonly error: Record<string, { status: string; message: string }>;
}

export async function healthAt(address: string): Promise<Health> {
  const answer = await fetch(`${address}/internal/health`);
  return { code: answer.status, ...((await answer.json()) as Omit<Health, 'code'>) };
}

/** A fleet of one pair that trades for one profile, on a venue of its own. */
export async function startWatched(
  env: Record<string, string> = {},
  strategy: Record<string, unknown> = { name: 'example' },
) {
  const venue = await startPaperVenue();
  const PAIRS_FILE = join(temporaryFolder(), 'pairs.yaml');
  const pair = { id: PAIR, venue: 'paper', symbol: 'ETH/USD', strategy, profiles: [PROFILE] };
  writeFileSync(PAIRS_FILE, stringify({ pairs: [pair] }));
  const fleet = await TestFleet.create({ PAIRS_FILE, VENUES_FILE: venuesFile(venue), ...QUICK, ...env });
  const orchestrator = await fleet.start();
  const body = { id: PROFILE, name: 'alice', ownerId: 'alice', allocatedCapital: '100000' };
  expect((await fleet.api('/api/profiles', { method: 'POST', body })).status).toBe(201);
  await fleet.whenRunning(PAIR);
  const { healthPort } = await fleet.whenWorker(
    PAIR,
    ({ loops }) => loops?.['monitor']?.lastGoodRun != null && loops['trading']?.lastGoodRun != null,
  );
  const watched = {
    ...{ fleet, venue, orchestrator, workerAddress: `http://127.0.0.1:${healthPort}` },
    worker: () => healthAt(`http://127.0.0.1:${healthPort}`),
    fleetHealth: async (): Promise<Health> => {
      const answer = await fleet.api('/internal/health');
      return { code: answer.status, ...((await answer.json()) as Omit<Health, 'code'>) };
    },
  };
  await whenBoth(watched, ({ code }) => code === 200);
  return watched;
}

export interface Watched {
  readonly venue: PaperVenue;
  readonly worker: () => Promise<Health>;
  readonly fleetHealth: () => Promise<Health>;
}

/** Waits until the worker says so, and the orchestrator too. */
export async function whenBoth(
  { worker, fleetHealth }: Pick<Watched, 'worker' | 'fleetHealth'>,
  condition: (health: Health) => boolean,
): Promise<{ worker: Health; fleet: Health }> {
  const ofWorker = await when(worker, condition);
  return { worker: ofWorker, fleet: await when(fleetHealth, condition) };
}

export function when(health: () => Promise<Health>, condition: (health: Health) => boolean): Promise<Health> {
  let last: Health | undefined;
  return vi
    .waitUntil(async () => {
      last = await health();
      return condition(last) ? last : false;
    }, PATIENCE)
    .catch((error: unknown) => {
      throw new Error(`The health was last ${JSON.stringify(last, null, 1)}`, { cause: error });
    });
}
