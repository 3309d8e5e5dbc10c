/**
 * What a process per pair costs. Ratios are against a bare Nest process with the same imports, measured in turns in
 * the same run, so that whatever else the machine does falls on both alike.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { SystemClock } from '#libs/clock';
import { migrate } from '#libs/database';
import { EmbeddedServers } from '#libs/embedded';
import { fleetKeys } from '#libs/fleet';
import { migrations } from '#migrations';

const ROUNDS = 9;
const KILLS = 9;
const WORKERS = 40;
const POLL_MS = 2;
const clock = new SystemClock();
const folder = mkdtempSync(join(tmpdir(), 'flotilla-bench-'));
const keys = fleetKeys('bench');
const silent = (): void => undefined;
const servers = new EmbeddedServers(folder, clock, { progress: silent, died: silent, failed: silent });

interface Sample {
  readonly startMs: number;
  readonly rssMb: number;
}

/** Starts a program, waits until it is ready, looks at its memory and stops it. */
async function sample(
  args: string[],
  env: Record<string, string>,
  isReady: (child: ChildProcess) => Promise<unknown>,
): Promise<Sample> {
  const startedAt = clock.monotonic();
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.stdout.on('data', silent);
  await Promise.race([isReady(child), exited.then(() => Promise.reject(new Error(`${args.join(' ')} ended.`)))]);
  const startMs = clock.monotonic() - startedAt;
  const rssKb = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]);
  child.kill('SIGTERM');
  await exited;
  return { startMs, rssMb: rssKb / 1024 };
}

function says(child: ChildProcess, text: string | RegExp): Promise<void> {
  return new Promise((resolve) => {
    let said = '';
    const listen = (chunk: Buffer): void => {
      said += chunk.toString();
      if (said.search(text) < 0) return;
      child.stdout?.off('data', listen);
      resolve();
    };
    child.stdout?.on('data', listen);
  });
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await clock.sleep(POLL_MS);
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function print(what: string, value: string): void {
  process.stdout.write(`${what.padEnd(62)} ${value}\n`);
}

async function benchWorker(env: Record<string, string>, redis: Redis): Promise<void> {
  const bare: Sample[] = [];
  const worker: Sample[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    bare.push(await sample(['bench/bare-nest.ts'], {}, (child) => says(child, 'is up')));
    const beats = (): Promise<void> => until(async () => (await redis.exists(keys.heartbeat('BTC-USD'))) === 1);
    worker.push(await sample(['dist/apps/worker/src/main.js', 'pair', 'BTC-USD'], env, beats));
  }
  const ratio = (pick: (sample: Sample) => number): string =>
    (median(worker.map(pick)) / median(bare.map(pick))).toFixed(2);
  print(
    'worker to its first heartbeat / bare Nest (at most 1.30)',
    ratio(({ startMs }) => startMs),
  );
  print(
    'memory of an idle worker / bare Nest (at most 1.25)',
    ratio(({ rssMb }) => rssMb),
  );
}

async function benchFleet(env: Record<string, string>, redis: Redis): Promise<void> {
  const ids = Array.from({ length: WORKERS }, (_, index) => `P${index + 1}`);
  const pairs = ids.map((id) => `  - { id: ${id}, venue: paper, symbol: ${id}, strategy: { name: example } }`);
  const file = join(folder, 'pairs.yaml');
  writeFileSync(file, ['pairs:', ...pairs].join('\n'));
  const settings = { ...env, PAIRS_FILE: file, PORT: '0', ADMIN_TOKEN: 'bench', LOG_FORMAT: 'json' };
  const orchestrator = spawn(process.execPath, ['dist/apps/orchestrator/src/main.js'], {
    env: { ...process.env, ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  orchestrator.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const exited = new Promise((resolve) => orchestrator.once('exit', resolve));
  await until(async () => (await redis.exists(...ids.map((id) => keys.heartbeat(id)))) === WORKERS);
  const address = /(http:\/\/[\d.:]+)\/metrics/.exec(said)?.[1] ?? '';

  const handled: number[] = [];
  for (const id of ids.slice(0, KILLS)) {
    const pid = Number((await redis.get(keys.workerLock(id)))?.split('-')[0]);
    const noticed = says(orchestrator, `Worker ${id} ended`);
    const killedAt = clock.monotonic();
    process.kill(pid, 'SIGKILL');
    await noticed;
    handled.push(clock.monotonic() - killedAt);
  }
  const metrics = await (await fetch(`${address}/metrics`)).text();
  print(
    'SIGKILL of a worker to its exit handled (under 50 ms)',
    `${median(handled).toFixed(1)} ms, worst ${Math.max(...handled).toFixed(1)} ms`,
  );
  print(
    `${WORKERS} workers up; ticks that overran (none)`,
    /tick_overruns_total (\d+)/.exec(metrics)?.[1] ?? 'unknown',
  );
  orchestrator.kill('SIGTERM');
  await exited;
}

try {
  const DATABASE_URL = await servers.startPostgres();
  const REDIS_URL = await servers.startRedis();
  await migrate({ url: DATABASE_URL, applicationName: 'bench', connectTimeoutMs: 10_000 }, migrations);
  const redis = new Redis(REDIS_URL);
  const env = { DATABASE_URL, REDIS_URL, DATA_DIR: folder, KEY_PREFIX: 'bench', DRAIN_MS: '0' };
  await benchWorker(env, redis);
  await benchFleet(env, redis);
  redis.disconnect();
} finally {
  await servers.stop();
  rmSync(folder, { recursive: true, force: true });
}
