import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import type { TestProject } from 'vitest/node';
import { SystemClock } from '#libs/clock';
import { migrate } from '#libs/database';
import { EmbeddedServers, provideRedisProgram } from '#libs/embedded';
import { migrations } from '#migrations';
import { asSuperuser } from './database.js';

export const TEMPLATE_DATABASE = 'flotilla_template';

declare module 'vitest' {
  interface ProvidedContext {
    /** Login of the application, on a server that tests share; its database is never used itself. */
    databaseUrl: string;
    superuserUrl: string;
    redisUrl: string;
  }
}

/** Starts one real Postgres and one real Redis for the run, with a migrated database to copy from. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await putRedisOnPath();
  const dataDir = mkdtempSync(join(tmpdir(), 'flotilla-servers-'));
  const servers = new EmbeddedServers(dataDir, new SystemClock(), {
    progress: () => undefined,
    died: (name) => process.stderr.write(`The ${name} of the test run died.\n`),
    failed: () => undefined,
  });
  const databaseUrl = await servers.startPostgres();
  const redisUrl = await servers.startRedis();
  const superuserUrl = new URL(databaseUrl);
  superuserUrl.username = 'postgres';
  superuserUrl.password = readFileSync(join(dataDir, 'postgres', 'superuser-password'), 'utf8').trim();

  await asSuperuser(superuserUrl.href, `create database ${TEMPLATE_DATABASE} owner flotilla`);
  const templateUrl = databaseUrl.replace(/\/flotilla$/, `/${TEMPLATE_DATABASE}`);
  await migrate({ url: templateUrl, applicationName: 'tests', connectTimeoutMs: 10_000 }, migrations);

  project.provide('databaseUrl', databaseUrl);
  project.provide('superuserUrl', superuserUrl.href);
  project.provide('redisUrl', redisUrl);
  return async () => {
    await servers.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
}

/** Fetched once per checkout where the machine has none, and then found on PATH by everything the tests start. */
async function putRedisOnPath(): Promise<void> {
  const cache = resolve('node_modules', '.cache', 'flotilla');
  mkdirSync(cache, { recursive: true });
  const program = await provideRedisProgram(join(cache, 'redis'), (message) => process.stderr.write(`${message}\n`));
  process.env['PATH'] = `${process.env['PATH'] ?? ''}${delimiter}${dirname(program)}`;
}
