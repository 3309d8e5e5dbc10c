import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { SystemClock } from '#libs/clock';
import {
  DataDirectoryLock,
  EmbeddedServers,
  findEmbeddedUrls,
  prepareDataDirectory,
  provideRedisProgram,
} from '#libs/embedded';
import { asSuperuser } from './harness/database.js';
import { start, temporaryFolder } from './harness/process.js';

function setup(dataDir = temporaryFolder()) {
  const messages: string[] = [];
  const servers = new EmbeddedServers(dataDir, new SystemClock(), {
    progress: (message) => messages.push(message),
    died: (name) => messages.push(`${name} died`),
    failed: (name, error) => messages.push(`${name} failed: ${String(error)}`),
  });
  onTestFinished(() => servers.stop());
  return { dataDir, servers, messages };
}

function readIfThere(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

function postmasterPid(dataDir: string): number {
  return Number(readFileSync(join(dataDir, 'postgres', 'data', 'postmaster.pid'), 'utf8').split('\n')[0]);
}

describe('the private Postgres', () => {
  it('is created once, keeps its data and its port over a stop, and leaves no process', async () => {
    const { dataDir, servers } = setup();
    const url = await servers.startPostgres();
    await asSuperuser(url, 'create table kept (id int)');
    await servers.stop();
    expect(existsSync(join(dataDir, 'postgres', 'data', 'postmaster.pid'))).toBe(false);

    const again = setup(dataDir);
    expect(await again.servers.startPostgres()).toBe(url);
    expect((await asSuperuser(url, 'select count(*) from kept')).rowCount).toBe(1);
    expect(again.messages).toEqual([]);
  });

  it('is found and used again when its orchestrator was killed', async () => {
    const { dataDir, servers } = setup();
    const url = await servers.startPostgres();
    const pid = postmasterPid(dataDir);
    const successor = setup(dataDir);
    expect(await successor.servers.startPostgres()).toBe(url);
    expect(postmasterPid(dataDir)).toBe(pid);
    expect(successor.messages).toEqual([expect.stringMatching(/^Reusing the private Postgres/)]);
    expect(findEmbeddedUrls(dataDir, new SystemClock()).databaseUrl).toBe(url);
  });

  it('is started again on its old port when it dies', async () => {
    const { dataDir, servers, messages } = setup();
    const url = await servers.startPostgres();
    process.kill(postmasterPid(dataDir), 'SIGKILL');
    await vi.waitUntil(() => findEmbeddedUrls(dataDir, new SystemClock()).databaseUrl === undefined);
    await servers.runOnce();
    expect(messages.filter((message) => message.startsWith('Postgres'))).toEqual(['Postgres died']);
    expect((await asSuperuser(url, 'select 1')).rowCount).toBe(1);
  });

  it('is started again as soon as the last of its dead predecessor is gone, however long that takes', async () => {
    const { dataDir, servers, messages } = setup();
    const url = await servers.startPostgres();
    const straggler = new Client({ connectionString: url });
    straggler.on('error', () => undefined);
    await straggler.connect();
    const pid = Number((await straggler.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid);
    // It cannot notice that its server died, and holds the memory that the next one needs.
    process.kill(pid, 'SIGSTOP');
    process.kill(postmasterPid(dataDir), 'SIGKILL');
    await vi.waitUntil(() => findEmbeddedUrls(dataDir, new SystemClock()).databaseUrl === undefined);
    const restarted = servers.runOnce();
    const refusals = (): number => readIfThere(join(dataDir, 'postgres', 'start.log')).split('FATAL').length - 1;
    await vi.waitUntil(() => refusals() >= 6, { timeout: 30_000 }).finally(() => process.kill(pid, 'SIGCONT'));
    await restarted;
    expect(messages.filter((message) => message.startsWith('Postgres'))).toEqual(['Postgres died']);
    expect((await asSuperuser(url, 'select 1')).rowCount).toBe(1);
  });

  it('listens on loopback only and asks for a password', async () => {
    const { servers } = setup();
    const url = new URL(await servers.startPostgres());
    const shown = await asSuperuser(url.href, `select current_setting('listen_addresses') as at`);
    expect(shown.rows).toEqual([{ at: '127.0.0.1' }]);
    url.password = 'guess';
    await expect(asSuperuser(url.href, 'select 1')).rejects.toThrow(/password authentication failed/);
  });

  it('refuses data of another major version and does not touch it', async () => {
    const { dataDir, servers } = setup();
    await servers.startPostgres();
    await servers.stop();
    const versionPath = join(dataDir, 'postgres', 'data', 'PG_VERSION');
    writeFileSync(versionPath, '17\n');
    await expect(setup(dataDir).servers.startPostgres()).rejects.toThrow(
      /holds data of Postgres 17, and Flotilla brings Postgres 18\. Nothing was changed/,
    );
    expect(readFileSync(versionPath, 'utf8')).toBe('17\n');
  });

  it('starts over when its creation was cut short', async () => {
    const { dataDir, servers } = setup();
    mkdirSync(join(dataDir, 'postgres', 'data.unfinished', 'base'), { recursive: true });
    await servers.startPostgres();
    expect(readdirSync(join(dataDir, 'postgres'))).not.toContain('data.unfinished');
  });

  it('keeps its secrets to their owner', async () => {
    const { dataDir, servers } = setup();
    await servers.startPostgres();
    await servers.startRedis();
    for (const path of [
      'postgres/superuser-password',
      'postgres/login-password',
      'redis/password',
      'redis/redis.conf',
    ]) {
      expect(statSync(join(dataDir, path)).mode & 0o077, path).toBe(0);
    }
  });
});

describe('the private Redis', () => {
  it('keeps its data and its port over a stop', async () => {
    const { dataDir, servers } = setup();
    const url = await servers.startRedis();
    const redis = new Redis(url);
    await redis.set('kept', 'yes');
    redis.disconnect();
    await servers.stop();

    const again = setup(dataDir);
    expect(await again.servers.startRedis()).toBe(url);
    const client = new Redis(url);
    expect(await client.get('kept')).toBe('yes');
    client.disconnect();
  });

  it('is found and used again when its orchestrator was killed', async () => {
    const { dataDir, servers } = setup();
    const url = await servers.startRedis();
    const successor = setup(dataDir);
    expect(await successor.servers.startRedis()).toBe(url);
    expect(successor.messages).toEqual([expect.stringMatching(/^Reusing the private Redis/)]);
  });

  it('is started again on its old port when it dies', async () => {
    const { dataDir, servers } = setup();
    const url = await servers.startRedis();
    process.kill(Number(readFileSync(join(dataDir, 'redis', 'redis.pid'), 'utf8')), 'SIGKILL');
    await vi.waitUntil(() => findEmbeddedUrls(dataDir, new SystemClock()).redisUrl === undefined);
    await servers.runOnce();
    expect(findEmbeddedUrls(dataDir, new SystemClock()).redisUrl).toBe(url);
  });
});

/** A PATH with everything this machine has but Redis. */
function pathWithoutRedis(leaveOut: string[] = []): string {
  const folder = join(temporaryFolder(), 'bin');
  mkdirSync(folder);
  for (const from of (process.env['PATH'] ?? '').split(':').filter(existsSync)) {
    for (const name of readdirSync(from)) {
      const skip = /^(redis|valkey|keydb)-/.test(name) || leaveOut.includes(name);
      if (!skip && !existsSync(join(folder, name))) symlinkSync(join(from, name), join(folder, name));
    }
  }
  return folder;
}

describe('provideRedisProgram', () => {
  it.runIf(existsSync('/usr/bin/apt-get'))(
    'fetches Redis from the packages of the system where PATH has none',
    async () => {
      vi.stubEnv('PATH', pathWithoutRedis());
      onTestFinished(() => void vi.unstubAllEnvs());
      const folder = join(temporaryFolder(), 'program');
      const program = await provideRedisProgram(folder, () => undefined);
      const run = start(program, ['--version'], {});
      await run.says(/v=\d+\./);
      expect(basename(program)).toBe('redis-server');
      expect(readdirSync(folder).filter((name) => name.endsWith('.deb'))).toEqual([]);
    },
  );

  it('says which command to run where it cannot', async () => {
    vi.stubEnv('PATH', pathWithoutRedis(['apt-get']));
    onTestFinished(() => void vi.unstubAllEnvs());
    await expect(provideRedisProgram(join(temporaryFolder(), 'program'), () => undefined)).rejects.toThrow(
      /needs a Redis server and found none on PATH.*sudo apt-get install redis-server.*REDIS_URL/,
    );
  });
});

describe('prepareDataDirectory', () => {
  it('makes the folder for its owner only', () => {
    const path = prepareDataDirectory(join(temporaryFolder(), 'a', 'b'), 0);
    expect(statSync(path).mode & 0o777).toBe(0o700);
  });

  it('explains a path that cannot be a folder', () => {
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, '');
    expect(() => prepareDataDirectory(join(file, 'data'), 0)).toThrow(/DATA_DIR .* is not writable \(ENOTDIR\)/);
  });

  it('explains a disk that is full', () => {
    expect(() => prepareDataDirectory(temporaryFolder(), Number.MAX_SAFE_INTEGER)).toThrow(
      /MiB of space left and needs/,
    );
  });
});

describe('DataDirectoryLock', () => {
  it('has one holder, and leaves nothing when released', () => {
    const dataDir = temporaryFolder();
    const lock = DataDirectoryLock.tryAcquire(dataDir);
    expect(lock).toBeDefined();
    expect(DataDirectoryLock.tryAcquire(dataDir)).toBeUndefined();
    lock?.release();
    lock?.release();
    expect(readdirSync(dataDir)).toEqual([]);
    expect(DataDirectoryLock.tryAcquire(dataDir)).toBeDefined();
  });
});
