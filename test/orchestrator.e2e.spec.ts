import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { SystemClock } from '#libs/clock';
import { EmbeddedServers } from '#libs/embedded';
import { createTestDatabase, withDatabase } from './harness/database.js';
import { start, startApp, temporaryFolder, type Started } from './harness/process.js';

/** A system that is up on its own servers. */
async function up(dataDir = privateDataDir(), env: Record<string, string> = {}) {
  const orchestrator = startApp('orchestrator', { env: { DATA_DIR: dataDir, ...env } });
  const address = await addressOf(orchestrator);
  const token = existsSync(join(dataDir, 'admin-token'))
    ? readFileSync(join(dataDir, 'admin-token'), 'utf8').trim()
    : '';
  return { orchestrator, dataDir, address, token };
}

/** A system on servers that exist already. */
async function upOnServersOfOthers(env: Record<string, string> = {}) {
  const { url } = await createTestDatabase({ template: 'template0' });
  const KEY_PREFIX = `t${randomBytes(4).toString('hex')}`;
  return up(temporaryFolder(), { DATABASE_URL: url, REDIS_URL: inject('redisUrl'), KEY_PREFIX, ...env });
}

async function addressOf(orchestrator: Started): Promise<string> {
  return (await orchestrator.says(/Health\s+(http:\/\/[\d.:]+)\/internal\/health/))[1] ?? '';
}

/** Stops servers that a killed orchestrator left behind, before the folder goes. */
function privateDataDir(): string {
  const dataDir = temporaryFolder();
  onTestFinished(async () => {
    const silent = () => undefined;
    const servers = new EmbeddedServers(dataDir, new SystemClock(), { progress: silent, died: silent, failed: silent });
    if (existsSync(join(dataDir, 'postgres', 'data', 'postmaster.pid'))) await servers.startPostgres();
    if (existsSync(join(dataDir, 'redis', 'redis.pid'))) await servers.startRedis();
    await servers.stop();
  });
  return dataDir;
}

async function refusal(env: Record<string, string>): Promise<string> {
  const orchestrator = startApp('orchestrator', { env: { DATA_DIR: temporaryFolder(), ...env } });
  const { code } = await orchestrator.exited;
  expect(code).toBe(1);
  return orchestrator.output;
}

describe('a first start', () => {
  it('brings up everything and says where it is', async () => {
    const { orchestrator, address, token, dataDir } = await up();
    await orchestrator.says(/Ctrl-C stops everything/);
    for (const part of ['/api', '/docs', '/internal/health', '/metrics'])
      expect(orchestrator.output).toContain(address + part);
    expect(orchestrator.output).toContain('admin-token');
    expect(orchestrator.output).not.toContain(token);

    const health = await fetch(`${address}/internal/health`);
    expect(health.status).toBe(200);
    expect(Object.keys(((await health.json()) as { info: object }).info)).toEqual([
      'postgres',
      'redis',
      'eventLoop',
      'disk',
      'ledger',
      'tradingLoop',
      'monitorLoop',
      'reconciliationLoop',
      'orderSyncLoop',
    ]);
    expect(await (await fetch(`${address}/internal/live`)).json()).toEqual({ status: 'ok' });
    expect(await (await fetch(`${address}/metrics`)).text()).toMatch(/flotilla_build_info\{version="[\d.]+",node="24/);
    expect((await fetch(`${address}/docs`)).status).toBe(200);
    expect(await (await fetch(`${address}/docs-json`)).json()).toMatchObject({ paths: { '/api/health': { get: {} } } });

    expect((await fetch(`${address}/api/health`)).status).toBe(401);
    const answer = await fetch(`${address}/api/health`, { headers: { authorization: `Bearer ${token}` } });
    expect(await answer.json()).toEqual({ ok: true, uptime: expect.any(Number), pairs: ['BTC-USD', 'ETH-USD'] });

    expect(await orchestrator.stop('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(readdirSync(dataDir).filter((name) => /lock|token|wal|pid/.test(name))).toEqual(['admin-token']);
    expect(existsSync(join(dataDir, 'postgres', 'data', 'postmaster.pid'))).toBe(false);
    expect(existsSync(join(dataDir, 'redis', 'redis.pid'))).toBe(false);
    await expect(fetch(address)).rejects.toThrow();
  });
});

describe('kill -9', () => {
  it('loses nothing: the next start finds the servers, the token and the data', async () => {
    const first = await up();
    const postmaster = readFileSync(join(first.dataDir, 'postgres', 'data', 'postmaster.pid'), 'utf8');
    expect(await first.orchestrator.stop('SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' });

    const second = await up(first.dataDir);
    expect(readFileSync(join(first.dataDir, 'postgres', 'data', 'postmaster.pid'), 'utf8')).toBe(postmaster);
    expect(second.token).toBe(first.token);
    expect(second.orchestrator.output).toContain('Reusing the private Postgres');
    expect(second.orchestrator.output).toContain('Reusing the private Redis');
    expect(second.orchestrator.output).not.toContain('Migrated');
    expect(await second.orchestrator.stop('SIGINT')).toEqual({ code: 0, signal: null });
  });
});

describe('a start that fails on servers that were running', () => {
  it('leaves them running for the workers that need them', async () => {
    const first = await up();
    await first.orchestrator.stop('SIGKILL');
    const postmaster = join(first.dataDir, 'postgres', 'data', 'postmaster.pid');
    const before = readFileSync(postmaster, 'utf8');
    expect(await refusal({ DATA_DIR: first.dataDir, PAIRS_FILE: join(first.dataDir, 'absent.yaml') })).toContain(
      'cannot be read',
    );
    expect(readFileSync(postmaster, 'utf8')).toBe(before);
    const second = await up(first.dataDir);
    expect(second.orchestrator.output).toContain('Took charge of worker BTC-USD');
    expect(await second.orchestrator.stop('SIGTERM')).toEqual({ code: 0, signal: null });
  });
});

describe('a standby on the same private servers', () => {
  it('takes over when the first is killed, owns the servers then, and stops them at its end', async () => {
    const first = await up();
    const second = startApp('orchestrator', { env: { DATA_DIR: first.dataDir }, args: ['--standby'] });
    await second.says(/Standing by/);
    await first.orchestrator.stop('SIGKILL');
    const address = await addressOf(second);
    await vi.waitUntil(async () => (await fetch(`${address}/internal/health`)).status === 200);
    await second.says(/Reusing the private Redis/);
    expect(await second.stop('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(existsSync(join(first.dataDir, 'postgres', 'data', 'postmaster.pid'))).toBe(false);
    expect(existsSync(join(first.dataDir, 'redis', 'redis.pid'))).toBe(false);
  });
});

describe('a running system', () => {
  it('is not joined by a second orchestrator on the same folder, which leaves it alone', async () => {
    const { orchestrator, dataDir, address } = await up();
    const output = await refusal({ DATA_DIR: dataDir });
    expect(output).toContain('An orchestrator is already running: btr:orchestrator:lock is held by');
    expect(output).toContain(`(process ${orchestrator.pid})`);
    expect((await fetch(`${address}/internal/health`)).status).toBe(200);
  });

  it('starts a dead Postgres again and is ready again by itself', async () => {
    const { dataDir, address, orchestrator } = await up();
    const pid = Number(readFileSync(join(dataDir, 'postgres', 'data', 'postmaster.pid'), 'utf8').split('\n')[0]);
    process.kill(pid, 'SIGKILL');
    await orchestrator.says(/The private Postgres died; starting it again/);
    await vi.waitUntil(async () => (await fetch(`${address}/internal/health`)).status === 200, { timeout: 30_000 });
  });

  it('is told to stop through npm, and stops in order', async () => {
    const dataDir = privateDataDir();
    const npm = start('npm', ['start'], { DATA_DIR: dataDir });
    await npm.says(/Ctrl-C stops everything/);
    expect((await npm.stop('SIGTERM')).code).toBe(0);
    expect(readdirSync(dataDir)).not.toContain('orchestrator.lock');
    expect(existsSync(join(dataDir, 'postgres', 'data', 'postmaster.pid'))).toBe(false);
  });
});

describe('with DATABASE_URL and REDIS_URL', () => {
  it('uses those servers and starts none', async () => {
    const { dataDir, address, orchestrator } = await upOnServersOfOthers();
    expect((await fetch(`${address}/internal/health`)).status).toBe(200);
    expect(readdirSync(dataDir)).not.toContain('postgres');
    expect(readdirSync(dataDir)).not.toContain('redis');
    expect(orchestrator.output).toMatch(/Postgres\s+127\.0\.0\.1:\d+ {2}\(yours\)/);
  });

  it('takes ADMIN_TOKEN and writes none', async () => {
    const { dataDir, address } = await upOnServersOfOthers({ ADMIN_TOKEN: 'opensesame' });
    const answer = await fetch(`${address}/api/health`, { headers: { authorization: 'Bearer opensesame' } });
    expect(answer.status).toBe(200);
    expect(readdirSync(dataDir)).not.toContain('admin-token');
  });

  it('logs each request with its id and never the token', async () => {
    const { address, orchestrator } = await upOnServersOfOthers({ ADMIN_TOKEN: 'opensesame' });
    const headers = { authorization: 'Bearer opensesame', 'x-request-id': 'req-42' };
    await fetch(`${address}/api/health`, { headers });
    await orchestrator.says(/"requestId":"req-42".*"request completed"/);
    expect(orchestrator.output).not.toContain('opensesame');
  });

  it('points out a variable that looks misspelt', async () => {
    const { orchestrator } = await upOnServersOfOthers({ LOG_LEVLE: 'debug' });
    await orchestrator.says(/LOG_LEVLE is set but is no setting of Flotilla; did you mean LOG_LEVEL\?/);
  });
});

describe('a start that cannot succeed says why in one sentence', () => {
  it('broken configuration: every fault at once', async () => {
    const output = await refusal({ PORT: 'http', LOG_LEVEL: 'loud' });
    expect(output).toContain('PORT is "http"; allowed is a whole number from 0 to 65535.');
    expect(output).toContain('LOG_LEVEL is "loud"; allowed is one of');
    expect(output).not.toContain('    at ');
  });

  it('a port that is taken', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await new Promise((listening) => server.once('listening', listening));
    const { port } = server.address() as AddressInfo;
    const { url } = await createTestDatabase();
    const KEY_PREFIX = `t${randomBytes(4).toString('hex')}`;
    const output = await refusal({ PORT: String(port), DATABASE_URL: url, REDIS_URL: inject('redisUrl'), KEY_PREFIX });
    expect(output).toContain(`Port ${port} on 127.0.0.1 is taken by another program. Stop that program, or set PORT`);
  });

  it('Postgres unreachable', async () => {
    const output = await refusal({
      DATABASE_URL: 'postgres://u:hunter2@127.0.0.1:1/db',
      REDIS_URL: inject('redisUrl'),
    });
    expect(output).toMatch(
      /Postgres at 127\.0\.0\.1:1 is not usable \(.*ECONNREFUSED.*\)\. Start it, or correct DATABASE_URL\./,
    );
    expect(output).not.toContain('hunter2');
  });

  it('a wrong password', async () => {
    const url = new URL(withDatabase(inject('databaseUrl'), 'flotilla'));
    url.password = 'hunter2';
    const output = await refusal({ DATABASE_URL: url.href, REDIS_URL: inject('redisUrl') });
    expect(output).toContain('refuses the user "flotilla" with this password. Correct DATABASE_URL.');
    expect(output).not.toContain('hunter2');
  });

  it('Redis unreachable', async () => {
    const { url } = await createTestDatabase();
    const output = await refusal({ DATABASE_URL: url, REDIS_URL: 'redis://127.0.0.1:1' });
    expect(output).toMatch(/Redis at 127\.0\.0\.1:1 is not usable .* correct REDIS_URL/);
  });

  it('a DATA_DIR that is no folder', async () => {
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, 'precious');
    expect(await refusal({ DATA_DIR: file })).toMatch(/DATA_DIR .*file is not writable/);
    expect(readFileSync(file, 'utf8')).toBe('precious');
  });

  it('a disk that is full', async () => {
    expect(await refusal({ DISK_FREE_BYTES_MIN: String(1024 ** 4) })).toMatch(
      /has \d+ MiB of space left and needs 1048576 MiB/,
    );
  });
});
