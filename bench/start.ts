/** Start-up time and memory of an idle worker, as ratios against a bare Nest process measured in the same run. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemClock } from '#libs/clock';
import { migrate } from '#libs/database';
import { EmbeddedServers } from '#libs/embedded';
import { migrations } from '#migrations';

const ROUNDS = 9;
const clock = new SystemClock();

interface Sample {
  readonly startMs: number;
  readonly rssMb: number;
}

/** Runs a program until it says that it is up. */
async function sample(args: string[], env: Record<string, string>): Promise<Sample> {
  const startedAt = clock.monotonic();
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => chunk.toString().includes('is up') && resolve());
    child.once('exit', () => reject(new Error(`${args.join(' ')} ended before it was up.`)));
  });
  const startMs = clock.monotonic() - startedAt;
  const rssKb = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]);
  child.kill('SIGTERM');
  await exited;
  return { startMs, rssMb: rssKb / 1024 };
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

const dataDir = mkdtempSync(join(tmpdir(), 'flotilla-bench-'));
const silent = (): void => undefined;
const servers = new EmbeddedServers(dataDir, clock, { progress: silent, died: silent, failed: silent });
try {
  const DATABASE_URL = await servers.startPostgres();
  const REDIS_URL = await servers.startRedis();
  await migrate({ url: DATABASE_URL, applicationName: 'bench', connectTimeoutMs: 10_000 }, migrations);
  const bare: Sample[] = [];
  const worker: Sample[] = [];
  // In turns, so that whatever else the machine does falls on both alike.
  for (let round = 0; round < ROUNDS; round += 1) {
    bare.push(await sample(['bench/bare-nest.ts'], {}));
    worker.push(
      await sample(['dist/apps/worker/src/main.js', 'pair', 'BTC-USD'], { DATABASE_URL, REDIS_URL, DRAIN_MS: '0' }),
    );
  }
  for (const [name, pick] of [
    ['start-up time', (s: Sample) => s.startMs],
    ['memory', (s: Sample) => s.rssMb],
  ] as const) {
    const ratio = median(worker.map(pick)) / median(bare.map(pick));
    process.stdout.write(`worker / bare Nest, ${name}: ${ratio.toFixed(2)}\n`);
  }
} finally {
  await servers.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
