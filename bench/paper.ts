/** A paper venue in a process of its own, and the way to it that a worker takes. */
import { spawn } from 'node:child_process';
import type { Redis } from 'ioredis';
import { Registry } from 'prom-client';
import { SystemClock } from '#libs/clock';
import { openVenue, paperVenueSettings, VenueMetrics, type Venue, type VenueSettings } from '#libs/venues';

export function openPaperVenue(adapter: 'alpaca' | 'ccxt', paperUrl: string, redis: Redis): Venue {
  const settings = {
    ...paperVenueSettings(Number(new URL(paperUrl).port), adapter),
    requestsPerMinute: 1_000_000,
    ordersPer10Seconds: 1_000_000,
  } as VenueSettings;
  return openVenue(settings, {
    config: {
      KEY_PREFIX: 'bench',
      SUBMIT_TIMEOUT_MS: 10_000,
      VENUE_QUERY_TIMEOUT_MS: 10_000,
      VENUE_BUDGET_WAIT_MS: 1_000,
    },
    clock: new SystemClock(),
    redis,
    metrics: new VenueMetrics(new Registry()),
    streamLost: () => undefined,
  });
}

/** A paper venue of its own, which lives as long as the work. */
export async function withPaperVenue<T>(dataDir: string, work: (url: string) => Promise<T>): Promise<T> {
  const paper = spawn(process.execPath, ['dist/apps/paper-venue/src/main.js'], {
    env: { ...process.env, DATA_DIR: dataDir, PAPER_PORT: '0', LOG_LEVEL: 'warn', DRAIN_MS: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise<void>((resolve) => paper.once('exit', () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    let said = '';
    paper.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      const address = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0];
      if (address !== undefined) resolve(address);
    });
    void exited.then(() => reject(new Error(`The paper venue ended: ${said}`)));
  });
  try {
    return await work(url);
  } finally {
    paper.kill('SIGTERM');
    await exited;
  }
}

export async function control(url: string, body: unknown): Promise<void> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`);
}
