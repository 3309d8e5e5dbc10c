import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { createTestDatabase } from './harness/database.js';
import { startApp, temporaryFolder } from './harness/process.js';

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface WorkerStatus {
  readonly process: string;
  readonly pid?: number;
  readonly lastDecision?: string | null;
}

type Flotilla = (...args: string[]) => Promise<Outcome>;

/** The command line as npx runs it, in an environment of its own. */
function flotilla(env: Record<string, string>, bin = resolve('bin', 'flotilla.js')): Flotilla {
  return (...args) => {
    const child = spawn(bin, args, {
      env: { PATH: `${resolve('node_modules', '.bin')}:${process.env['PATH'] ?? ''}`, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const said = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk: Buffer) => (said.stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (said.stderr += chunk.toString()));
    return new Promise((done, failed) => {
      child.once('error', failed);
      child.once('close', (code) => done({ code, ...said }));
    });
  };
}

/** An orchestrator whose workers are all up, and the command line of whoever runs it. */
async function up(env: Record<string, string> = {}) {
  const { url } = await createTestDatabase({ template: 'template0' });
  const dataDir = temporaryFolder();
  const orchestrator = startApp('orchestrator', {
    env: {
      DATA_DIR: dataDir,
      DATABASE_URL: url,
      REDIS_URL: inject('redisUrl'),
      KEY_PREFIX: `t${randomBytes(4).toString('hex')}`,
      HEALTH_CHECK_INTERVAL_MS: '200',
      WORKER_HEARTBEAT_INTERVAL_MS: '100',
      ...env,
    },
  });
  const [, address = ''] = await orchestrator.says(/Health\s+(http:\/\/[\d.:]+)\/internal\/health/);
  const run = flotilla({ DATA_DIR: dataDir, PORT: new URL(address).port });
  const workers = async () => {
    const { stdout } = await run('status', '--json');
    return (JSON.parse(stdout) as { statuses: Record<string, WorkerStatus> }).statuses;
  };
  const isWorking = ({ process, lastDecision }: WorkerStatus) => process === 'running' && lastDecision;
  await vi.waitUntil(
    async () => {
      const all = Object.values(await workers());
      return all.length > 0 && all.every(isWorking);
    },
    { timeout: 60_000, interval: 200 },
  );
  return { orchestrator, address, dataDir, run, workers };
}

const SILENT = { code: 0, stderr: '' };

describe('flotilla, beside a running orchestrator', () => {
  it('shows the fleet at a glance', async () => {
    const { run, address } = await up();
    const { stdout, ...rest } = await run('status');
    expect(rest).toEqual(SILENT);
    const [first, titles, ...workers] = stdout.trimEnd().split('\n');
    expect(first).toMatch(new RegExp(`^Orchestrator ${address}, up (\\d+m )?\\d+s, 2 workers$`));
    expect(titles).toMatch(/^WORKER +PROCESS +STATUS +DECISION +DECIDED +HEARTBEAT +FAILURES +ERROR$/);
    expect(workers).toHaveLength(2);
    for (const [index, id] of ['BTC-USD', 'ETH-USD'].entries()) {
      expect(workers[index]).toMatch(new RegExp(`^${id} +running +running +\\w+ +\\d+s ago +\\d+s ago +0 +-$`));
    }
  });

  it('gives programs what the API answers, without a color even where one is forced', async () => {
    const { dataDir, address } = await up();
    const run = flotilla({ DATA_DIR: dataDir, FORCE_COLOR: '1' });
    const status = await run('--url', address, 'status', '--json');
    expect(status).toMatchObject(SILENT);
    expect(JSON.parse(status.stdout)).toMatchObject({
      workers: ['BTC-USD', 'ETH-USD'],
      uptime: expect.any(Number),
      statuses: { 'BTC-USD': { alive: true, pid: expect.any(Number), failures: 0 } },
    });
    const pairs = await run('pairs', '--json', '--url', `${address}/`);
    expect(JSON.parse(pairs.stdout)).toMatchObject({ items: [{ id: 'BTC-USD', venue: 'paper' }, { id: 'ETH-USD' }] });
    expect((await run('status', '--url', address)).stdout).not.toContain('\u001b');
  });

  it('lists the configured pairs, and those of a changed file after a reload', async () => {
    const file = join(temporaryFolder(), 'pairs.yaml');
    const declare = (id: string) =>
      writeFileSync(
        file,
        `pairs: [{ id: ${id}, venue: paper, symbol: BTC/USD, strategy: { name: example }, intervalSec: 60 }]`,
      );
    declare('SOL-USD');
    const { run, workers } = await up({ PAIRS_FILE: file });
    expect((await run('pairs')).stdout).toMatch(/^PAIR .* ENABLED\nSOL-USD +paper +BTC\/USD +example +1m +- +yes\n$/);

    declare('ADA-USD');
    expect(await run('reload')).toEqual({
      code: 0,
      stdout: '',
      stderr: 'The configured pairs were read again; "flotilla pairs" lists them.\n',
    });
    await vi.waitUntil(async () => Object.keys(await workers()).join() === 'ADA-USD', { timeout: 30_000 });
    expect((await run('pairs')).stdout).toContain('ADA-USD');
  });

  it('shows what a worker wrote: readable, or as it stands in its file', async () => {
    const { run } = await up();
    const pretty = await run('logs', 'BTC-USD');
    expect(pretty).toMatchObject(SILENT);
    expect(pretty.stdout).toMatch(
      /^\d{4}-\d\d-\d\dT[\d:.]+Z INFO {2}Worker pair BTC-USD is up: http:\/\/127\.0\.0\.1:\d+\/internal\/health$/m,
    );

    const raw = (await run('logs', 'BTC-USD', '--json')).stdout.trimEnd().split('\n');
    expect(raw.map((line) => JSON.parse(line) as object)).toContainEqual(
      expect.objectContaining({ level: 'info', worker: 'pair BTC-USD', msg: expect.stringContaining('is up') }),
    );
    const newest = (await run('logs', 'BTC-USD', '--json', '--lines', '1')).stdout.trimEnd().split('\n');
    expect(newest).toHaveLength(1);
  });

  it('restarts the worker of a pair, which gets a new process, and leaves the others alone', async () => {
    const { run, workers } = await up();
    const before = await workers();
    expect(await run('restart', 'BTC-USD')).toEqual({
      code: 0,
      stdout: '',
      stderr: 'The worker of BTC-USD is being restarted; "flotilla status" shows how it fares.\n',
    });
    await vi.waitUntil(
      async () => {
        const { process, pid } = (await workers())['BTC-USD'] ?? {};
        return process === 'running' && pid !== undefined && pid !== before['BTC-USD']?.pid;
      },
      { timeout: 60_000, interval: 200 },
    );
    expect((await workers())['ETH-USD']?.pid).toBe(before['ETH-USD']?.pid);
  });

  it('passes on what the API says of an unknown pair or a faulty request', async () => {
    const { run } = await up();
    for (const command of ['restart', 'logs']) {
      expect(await run(command, 'XRP-USD')).toEqual({
        code: 1,
        stdout: '',
        stderr: 'There is no worker "XRP-USD". GET /api/orchestrator/status lists them.\n',
      });
    }
    expect(await run('restart', 'BTC USD/../x')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^The request has a faulty field.*\(.*expected letters.*\)\n$/),
    });
    expect(await run('logs', 'BTC-USD', '--lines', '99999')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^The request has a faulty field.*\(lines: .*10000.*\)\n$/),
    });
  });

  it('says which token was refused, and never the token', async () => {
    const { address, dataDir } = await up();
    const wrong = await flotilla({ ADMIN_TOKEN: 'hunter2' })('status', '--url', address);
    expect(wrong).toEqual({
      code: 1,
      stdout: '',
      stderr: `The orchestrator at ${address} refuses the token from ADMIN_TOKEN. Set ADMIN_TOKEN, or DATA_DIR to the orchestrator's folder.\n`,
    });

    const elsewhere = temporaryFolder();
    const path = join(elsewhere, 'admin-token');
    const run = flotilla({ DATA_DIR: elsewhere });
    expect((await run('status', '--url', address)).stderr).toContain(
      `there is none: ADMIN_TOKEN is not set and ${path} does not exist.`,
    );
    writeFileSync(path, 'hunter2\n');
    const refused = await run('status', '--url', address);
    expect(refused.stderr).toContain(`refuses the token from ${path}.`);
    expect(refused.stderr).not.toContain('hunter2');

    writeFileSync(path, readFileSync(join(dataDir, 'admin-token')));
    expect(await run('status', '--url', address)).toMatchObject(SILENT);
  });
});

describe('flotilla, without an orchestrator', () => {
  it('says where it looked and what to start', async () => {
    const run = flotilla({ DATA_DIR: temporaryFolder(), PORT: String(await freePort()) });
    for (const args of [['status'], ['pairs', '--json'], ['reload'], ['restart', 'A'], ['logs', 'A']]) {
      expect(await run(...args)).toEqual({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(
          /^No orchestrator answers at http:\/\/127\.0\.0\.1:\d+ \(ECONNREFUSED\)\. Start it with "npm start", or .*\n$/,
        ),
      });
    }
  });

  it.each([
    ['text', 502, 'Bad gateway', 'answers with status 502 and is no orchestrator of Flotilla; correct PORT or --url.'],
    ['a redirect', 302, '', 'answers with status 302 and is no orchestrator of Flotilla; correct PORT or --url.'],
    ['a page', 200, '<html>', 'answers /api/config/pairs in a way that this version does not understand'],
    [
      'a failure of its own',
      500,
      '{"detail":"Something failed.","requestId":"req-42"}',
      'Something failed. (request id req-42)',
    ],
  ])('explains a stranger that answers with %s', async (_name, status, body, sentence) => {
    const address = await serve(status, body);
    const outcome = await flotilla({ ADMIN_TOKEN: 'hunter2' })('pairs', '--url', address);
    expect(outcome).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(sentence) });
    expect(outcome.stderr).not.toMatch(/hunter2| {4}at /);
  });

  it('explains a fault in the settings', async () => {
    expect(await flotilla({ PORT: 'http' })('status')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('PORT is "http"; allowed is'),
    });
  });

  it('helps', async () => {
    const run = flotilla({});
    const all = await run('--help');
    expect(all).toMatchObject(SILENT);
    for (const name of ['status', 'restart <pair>', 'reload', 'logs <pair>', 'pairs']) {
      expect(all.stdout).toContain(`\n  ${name} `);
      const [command = ''] = name.split(' ');
      const one = await run(command, '--help');
      expect(one).toMatchObject(SILENT);
      expect(one.stdout).toMatch(new RegExp(`^Usage: flotilla ${name} `));
    }
  });

  it('answers a command line that makes no sense with the usage and exit code 2', async () => {
    const run = flotilla({});
    for (const args of [[], ['leap'], ['status', '--loud'], ['restart'], ['logs', 'A', '--lines', 'x']]) {
      expect(await run(...args)).toEqual({
        code: 2,
        stdout: '',
        stderr: expect.stringMatching(/^[^\n]+\n\nUsage: flotilla /),
      });
    }
  });

  it('ends in peace when its reader has seen enough', async () => {
    const child = spawn(resolve('bin', 'flotilla.js'), ['--help'], { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.destroy();
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    expect(await new Promise((done) => child.once('close', done))).toBe(0);
    expect(said).toBe('');
  });

  it('says what to run where nothing is compiled', async () => {
    const folder = temporaryFolder();
    cpSync('bin', join(folder, 'bin'), { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    expect(await flotilla({}, join(folder, 'bin', 'flotilla.js'))('status')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'Flotilla is not compiled yet. Run "npm run build", or "npm start", first.\n',
    });
  });
});

async function serve(status: number, body: string): Promise<string> {
  const server = createServer((_request, response) => {
    response.writeHead(status, { location: 'http://127.0.0.1:9/', connection: 'close' }).end(body);
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise((listening) => server.once('listening', listening));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
}
