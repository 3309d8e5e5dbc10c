import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import { SystemClock } from '#libs/clock';
import { migrate } from '#libs/database';
import { EmbeddedServers, findEmbeddedUrls } from '#libs/embedded';
import { migrations } from '#migrations';
import { temporaryFolder } from './process.js';

const PATIENCE = { timeout: 60_000, interval: 20 };

/** Servers of a test's own, which it may kill; nobody but restart starts them again. */
function ownServers() {
  const dataDir = temporaryFolder();
  const servers = new EmbeddedServers(dataDir, new SystemClock(), {
    progress: () => undefined,
    died: () => undefined,
    failed: () => undefined,
  });
  onTestFinished(() => servers.stop());
  return { dataDir, servers };
}

/** A migrated Postgres. */
export async function startKillablePostgres() {
  const { dataDir, servers } = ownServers();
  const url = await servers.startPostgres();
  await migrate({ url, applicationName: 'tests', connectTimeoutMs: 10_000 }, migrations);
  const superuser = new URL(url);
  superuser.username = 'postgres';
  superuser.password = readFileSync(join(dataDir, 'postgres', 'superuser-password'), 'utf8').trim();
  // All of it, as when the machine goes: backends that outlive their postmaster would still finish what they do.
  const kill = (): void => {
    const pid = Number(readFileSync(join(dataDir, 'postgres', 'data', 'postmaster.pid'), 'utf8').split('\n')[0]);
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
    for (const each of [pid, ...children]) process.kill(each, 'SIGKILL');
  };
  const isGone = (): boolean => findEmbeddedUrls(dataDir, new SystemClock()).databaseUrl === undefined;
  const restart = async (): Promise<void> => {
    await vi.waitUntil(isGone, PATIENCE);
    await vi.waitUntil(async () => {
      await servers.runOnce();
      return !isGone();
    }, PATIENCE);
  };
  return { url, adminUrl: superuser.href, kill, restart };
}

/** A Redis that keeps nothing over a kill that it has not written by itself. */
export async function startKillableRedis() {
  const { dataDir, servers } = ownServers();
  const url = await servers.startRedis();
  const kill = (): void => {
    process.kill(Number(readFileSync(join(dataDir, 'redis', 'redis.pid'), 'utf8')), 'SIGKILL');
  };
  const restart = (): Promise<void> => servers.runOnce();
  return { url, kill, restart };
}
