import { execFile } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { stringify } from 'yaml';
import { findProgram } from '#libs/config';
import { TestFleet } from './harness/fleet.js';
import { metricsIn, readQueries, type Query } from './harness/monitoring.js';
import { temporaryFolder } from './harness/process.js';
import { TestPrometheus } from './harness/prometheus.js';

const PROFILE = '5d2c1f6e-7b1a-4c3d-9e2f-000000000001';
const PAIRS = ['BTC-USD', 'ETH-USD'];
/** Often enough that each metric has a value soon, and patient with a busy machine: nothing here is about its limits. */
const SETTINGS = {
  ORCHESTRATOR_LOCK_TTL_MS: '30000',
  HEARTBEAT_TIMEOUT_MS: '30000',
  WORKER_HEARTBEAT_TTL_MS: '30000',
  ORDER_SYNC_INTERVAL_MS: '200',
  LEDGER_VERIFY_INTERVAL_MS: '500',
  MONITOR_INTERVAL_MS: '500',
  RECONCILIATION_INTERVAL_MS: '1000',
};
const PATIENCE = { timeout: 30_000, interval: 500 };

const [prometheus, promtool] = [findProgram('prometheus'), findProgram('promtool')];
const isMissing = prometheus === undefined || promtool === undefined;
if (isMissing) {
  process.stderr.write(
    'test/observability.e2e.spec.ts is left out: it needs prometheus and promtool on PATH, and they are not there ' +
      '(Debian, Ubuntu: sudo apt-get install prometheus). The rules and dashboards are not tried on a live system.\n',
  );
}

/** A fleet whose pairs go in and out every two seconds, and a Prometheus that watches it. */
async function setup() {
  const PAIRS_FILE = join(temporaryFolder(), 'pairs.yaml');
  const strategy = { name: 'metronome', params: { periodSec: 2 } };
  const pairs = PAIRS.map((id) => ({
    ...{ id, venue: 'paper', symbol: id.replace('-', '/'), strategy, profiles: [PROFILE] },
  }));
  writeFileSync(PAIRS_FILE, stringify({ pairs }));
  const fleet = await TestFleet.create({ PAIRS_FILE, ...SETTINGS });
  const orchestrator = await fleet.start();
  const address = /http:\/\/[\d.:]+(?=\/internal\/health)/.exec(orchestrator.output)?.[0] ?? '';
  const profile = { id: PROFILE, name: 'alice', ownerId: 'alice', allocatedCapital: '10000' };
  expect((await fleet.api('/api/profiles', { method: 'POST', body: profile })).status).toBe(201);
  const halt = { scope: 'symbol', symbol: 'DOGE/USD', reason: 'a test' };
  expect((await fleet.api('/api/halts', { method: 'POST', body: halt })).status).toBe(201);
  for (const id of PAIRS) await fleet.whenRunning(id);
  return { orchestrator, watcher: await TestPrometheus.start(prometheus ?? '', address) };
}

/** What Grafana would put in. */
function filledIn(expr: string): string {
  return expr.replaceAll('$__rate_interval', '1m').replaceAll(/\$\w+/g, '.*');
}

/** Why a query has no answer; undefined when it has one. */
async function whatLacks(
  watcher: TestPrometheus,
  names: ReadonlySet<string>,
  { where, expr }: Query,
): Promise<string | undefined> {
  const unknown = metricsIn(expr).filter(
    (name) => name !== 'ALERTS' && !names.has(name) && !names.has(name.replace(/_(bucket|sum|count)$/, '')),
  );
  if (unknown.length > 0) return `${where}: nobody serves ${unknown.join(', ')}`;
  const samples = await watcher.query(filledIn(expr));
  return samples.some(({ value }) => value[1] !== 'NaN') ? undefined : `${where}: no data for ${expr}`;
}

describe.skipIf(isMissing)('Prometheus', () => {
  it('accepts the configuration and the rules, which do what their tests say', async () => {
    const run = (...args: string[]) => promisify(execFile)(promtool ?? '', args);
    const folder = join('deploy', 'prometheus');
    const filesIn = (name: string) => readdirSync(join(folder, name)).map((file) => join(folder, name, file));
    await run('check', 'config', join(folder, 'prometheus.yml'));
    await run('check', 'rules', ...filesIn('rules'));
    await run('test', 'rules', ...filesIn('tests'));
  });

  it('has an answer to every query, pages nobody while all is well, and does when the orchestrator dies', async () => {
    const { orchestrator, watcher } = await setup();
    const lacking = new Map(readQueries().map((query) => [query, '']));
    await vi
      .waitUntil(async () => {
        const names = await watcher.metricNames();
        for (const query of lacking.keys()) {
          const why = await whatLacks(watcher, names, query);
          if (why === undefined) lacking.delete(query);
          else lacking.set(query, why);
        }
        return lacking.size === 0;
      }, PATIENCE)
      .catch(() => undefined);
    expect.soft([...lacking.values()].join('\n'), 'queries without an answer').toBe('');
    const targets = await watcher.query('up == 1');
    expect(targets.map(({ metric }) => metric['instance']).toSorted()).toEqual([...PAIRS, 'orchestrator']);
    const pages = async () => (await watcher.firingAlerts()).filter(({ severity }) => severity === 'page');
    expect(await pages()).toEqual([]);

    await orchestrator.stop('SIGKILL');
    const firing = await vi.waitUntil(async () => {
      const names = (await pages()).map(({ alertname }) => alertname);
      return names.length > 0 && names;
    }, PATIENCE);
    expect(firing).toContain('OrchestratorDown');
  });
});
