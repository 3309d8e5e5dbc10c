import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { stringify } from 'yaml';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** A VENUES_FILE with one venue: the paper venue that whole processes share, when a test has none of its own. */
    venuesFile: string;
  }
}

/** Far more than all tests together ask for: they share one account, and are not about its limits. */
const REQUESTS_PER_MINUTE = 1_000_000;

/** Starts one paper venue for the run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-venue-'));
  const venue = spawn(process.execPath, [resolve('dist', 'apps', 'paper-venue', 'src', 'main.js')], {
    env: { PATH: process.env['PATH'] ?? '', HOME: folder, DATA_DIR: folder, PAPER_PORT: '0', LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await new Promise<string>((found, failed) => {
    let said = '';
    venue.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      const match = /http:\/\/127\.0\.0\.1:\d+/.exec(said);
      if (match) found(match[0]);
    });
    venue.once('exit', (code) => failed(new Error(`The shared paper venue ended with code ${code}: ${said}`)));
  });
  const file = join(folder, 'venues.yaml');
  const [keyFile, secretFile] = [join(folder, 'key'), join(folder, 'secret')];
  writeFileSync(keyFile, 'paper');
  writeFileSync(secretFile, 'paper-secret');
  const addresses = { baseUrl: `${url}/alpaca`, dataUrl: `${url}/alpaca` };
  const budget = { requestsPerMinute: REQUESTS_PER_MINUTE, fleetShare: 1 };
  const entry = { id: 'paper', adapter: 'alpaca', paper: true, ...addresses, keyFile, secretFile, ...budget };
  writeFileSync(file, stringify({ venues: [entry] }));
  project.provide('venuesFile', file);
  return async () => {
    const ended = once(venue, 'exit');
    venue.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
}
