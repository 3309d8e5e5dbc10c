import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { SystemClock } from '#libs/clock';
import { EmbeddedServers } from '#libs/embedded';
import { HealthFields } from '#libs/fleet';
import { startApi } from './harness/api.js';
import { asSuperuser } from './harness/database.js';
import { healthAt, PAIR, PATIENCE, PROFILE, startWatched, when, whenBoth, type Health } from './harness/health.js';
import { temporaryFolder } from './harness/process.js';

const FIELDS = [
  ...['tradingLoopHealthy', 'tradingLoopLastRun', 'tradingLoopDuration'],
  ...['monitorLoopHealthy', 'monitorLoopLastRun', 'monitorLoopDuration'],
  ...['reconciliationLoopHealthy', 'reconciliationLoopLastRun', 'reconciliationLastRun'],
  ...['reconciliationMismatchCount', 'reconciliationMissingFromExchange', 'reconciliationMissingInDb'],
  ...['reconciliationLockContentionCount', 'lockContentionCount', 'capitalInvariantViolations'],
  ...['observabilityTimestamp', 'orderSyncLoopHealthy', 'orderSyncLoopLastRun', 'orderSyncLoopDuration', 'degraded'],
];
const TERMINUS = ['status', 'info', 'error', 'details'];

function expectEveryField(health: Health): void {
  const beside = Object.entries(health).filter(([name]) => name !== 'code' && !TERMINUS.includes(name));
  expect(Object.keys(health)).toEqual(expect.arrayContaining(TERMINUS));
  expect(beside.map(([name]) => name).sort()).toEqual([...FIELDS].sort());
  HealthFields.parse(Object.fromEntries(beside));
}

const silent = () => undefined;

function serversIn(folder: string): EmbeddedServers {
  return new EmbeddedServers(folder, new SystemClock(), { progress: silent, died: silent, failed: silent });
}

describe('the health of a fleet that runs', () => {
  it('has every field, of the worker and of the orchestrator', async () => {
    const watched = await startWatched();
    const { worker, fleet } = await whenBoth(
      watched,
      (health) => health.tradingLoopLastRun !== null && health.orderSyncLoopLastRun !== null,
    );
    for (const health of [worker, fleet]) {
      expectEveryField(health);
      expect(health).toMatchObject({
        ...{ tradingLoopHealthy: true, monitorLoopHealthy: true, orderSyncLoopHealthy: true },
        ...{ reconciliationLoopHealthy: true, capitalInvariantViolations: 0, error: {} },
        degraded: { active: false, reasons: [] },
      });
      expect(Object.keys(health.info)).toEqual(expect.arrayContaining(['tradingLoop', 'ledger', 'postgres']));
      expect(health.tradingLoopDuration).toBeGreaterThan(0);
    }
    // Each is asked at a time of its own; a later answer knows of later runs.
    await when(
      watched.fleetHealth,
      ({ monitorLoopLastRun }) => (monitorLoopLastRun ?? '') > worker.observabilityTimestamp,
    );
  });

  it('is in the metrics of the worker and of the orchestrator', async () => {
    const { fleet, workerAddress } = await startWatched();
    const textOf = async (): Promise<string> => (await fetch(`${workerAddress}/metrics`)).text();
    await vi.waitUntil(
      async () => /^flotilla_loop_last_run_timestamp_seconds\{loop="trading"\}/m.test(await textOf()),
      PATIENCE,
    );
    const text = await textOf();
    for (const line of [
      ...['trading', 'monitor', 'order-sync'].flatMap((loop) => [
        new RegExp(`^flotilla_loop_healthy\\{loop="${loop}"\\} 1$`, 'm'),
        new RegExp(`^flotilla_loop_duration_seconds_count\\{loop="${loop}"\\} \\d+$`, 'm'),
        new RegExp(`^flotilla_loop_failures_total\\{loop="${loop}"\\} \\d+$`, 'm'),
      ]),
      /^flotilla_loop_interval_seconds\{loop="monitor"\} 0.5$/m,
      ...[/^flotilla_capital_invariant_violations 0$/m, /^flotilla_capital_invariant_violations_total 0$/m],
      ...[/^flotilla_lifecycle_violations 0$/m, /^flotilla_lifecycle_violations_total 0$/m],
      ...['open_trades', 'working_orders', 'disputed_trades'].map(
        (name) => new RegExp(`^flotilla_${name}\\{venue="paper",symbol="ETH/USD"\\} \\d+$`, 'm'),
      ),
    ]) {
      expect(text).toMatch(line);
    }
    await vi.waitUntil(async () => (await fleet.metric('flotilla_capital{bucket="allocated"}')) === 100_000, PATIENCE);
    await vi.waitUntil(async () => (await fleet.metric('flotilla_ready')) === 1, PATIENCE);
    expect(await fleet.metric('flotilla_profiles')).toBe(1);
    expect(await fleet.metric('flotilla_capital_invariant_violations')).toBe(0);
    expect(await fleet.metric('flotilla_halts{scope="symbol"}')).toBe(0);
  });

  it('is good where there is no pair, and knows no times', async () => {
    const { address } = await startApi();
    const health = await healthAt(address);
    expectEveryField(health);
    expect(health).toMatchObject({
      ...{ code: 200, tradingLoopHealthy: true, tradingLoopLastRun: null, tradingLoopDuration: null },
      ...{ reconciliationLoopHealthy: true, capitalInvariantViolations: 0, degraded: { active: false, reasons: [] } },
    });
  });
});

describe('a loop that is stuck', () => {
  it('turns its field and the status of worker and orchestrator, and comes back when it runs again', async () => {
    const watched = await startWatched({ VENUE_QUERY_TIMEOUT_MS: '600000' });
    process.kill(watched.venue.pid, 'SIGSTOP');
    const red = await whenBoth(watched, ({ tradingLoopHealthy, code }) => !tradingLoopHealthy && code === 503);
    for (const { error, degraded, status } of [red.worker, red.fleet]) {
      expect(status).toBe('error');
      expect(error['tradingLoop']?.message).toMatch(/The loop trading had its last good run \S+ s ago/);
      expect(degraded.reasons.join('\n')).toContain('The loop trading had its last good run');
    }
    expect(red.worker.error['tradingLoop']?.message).toMatch(/A run has been under way for/);
    expect(red.worker.monitorLoopHealthy).toBe(true);
    process.kill(watched.venue.pid, 'SIGCONT');
    await whenBoth(watched, ({ code, degraded }) => code === 200 && !degraded.active);
  });

  it('of a worker that died turns the orchestrator, and its successor brings it back', async () => {
    const { fleet, fleetHealth } = await startWatched({ RESPAWN_BASE_MS: '600000', RESPAWN_MAX_MS: '3600000' });
    const pid = await fleet.whenRunning(PAIR);
    const before = await when(fleetHealth, ({ monitorLoopLastRun }) => monitorLoopLastRun !== null);
    process.kill(pid, 'SIGKILL');
    const dead = await when(fleetHealth, (health) => !health.tradingLoopHealthy && !health.monitorLoopHealthy);
    expect(dead.code).toBe(503);
    expect(dead.error['monitorLoop']?.message).toContain(`Pair ${PAIR}: The loop monitor had its last good run`);
    expect(Date.parse(dead.monitorLoopLastRun ?? '')).toBeGreaterThanOrEqual(
      Date.parse(before.monitorLoopLastRun ?? ''),
    );
    await fleet.api(`/api/orchestrator/workers/${PAIR}/restart`, { method: 'POST' });
    await when(fleetHealth, ({ code }) => code === 200);
  });
});

describe('a halt of an operator', () => {
  it('degrades and leaves readiness green, until it is lifted', async () => {
    const watched = await startWatched();
    const body = { scope: 'profile', profileId: PROFILE, reason: 'holidays' };
    const { id } = (await (await watched.fleet.api('/api/halts', { method: 'POST', body })).json()) as { id: string };
    const { worker, fleet } = await whenBoth(watched, ({ degraded }) => degraded.active);
    for (const { degraded, code, error } of [worker, fleet]) {
      expect(degraded.reasons).toContain(`halted: profile ${PROFILE} by admin: holidays`);
      expect([code, error]).toEqual([200, {}]);
    }
    expect(await watched.fleet.metric('flotilla_degraded')).toBe(1);
    expect(await watched.fleet.metric('flotilla_halts{scope="profile"}')).toBe(1);
    await watched.fleet.api(`/api/halts/${id}`, { method: 'DELETE' });
    await whenBoth(watched, ({ degraded }) => !degraded.active);
  });
});

describe('a ledger that was violated', () => {
  it('turns the count and the status, halts entries but not exits, and leaves when a person has mended it', async () => {
    const watched = await startWatched();
    const { fleet } = watched;
    const signal = { venue: 'paper', side: 'buy', quantity: '0.01', type: 'market' };
    const enter = async (signalId: string, symbol = 'BTC/USD') => {
      const body = { ...signal, signalId, symbol };
      const answer = await fleet.api(`/api/profiles/${PROFILE}/signals`, { method: 'POST', body });
      return (await answer.json()) as { tradeId: string; outcome: string; reason?: string };
    };
    const stateOf = async (tradeId: string) =>
      ((await (await fleet.api(`/api/profiles/${PROFILE}/trades/${tradeId}`)).json()) as { state: string }).state;
    const { tradeId } = await enter('one');
    await vi.waitUntil(async () => (await stateOf(tradeId)) === 'open', PATIENCE);

    const tamper = (by: string) =>
      asSuperuser(
        fleet.env.DATABASE_URL,
        `update capital_ledger set reserved_for_orders = reserved_for_orders ${by} where profile_id = '${PROFILE}'`,
      );
    await tamper('+ 1');
    const red = await whenBoth(watched, (health) => health.capitalInvariantViolations === 1 && health.code === 503);
    for (const { error, degraded } of [red.worker, red.fleet]) {
      expect(error['ledger']?.message).toContain(`The capital of profile ${PROFILE} is wrong`);
      expect(degraded.active).toBe(true);
    }
    const halted = (health: Health) => health.degraded.reasons.some((each) => each.includes(`${PROFILE} by watchdog`));
    await whenBoth(watched, halted);
    expect(fleet.log(PAIR)).toContain(`The capital of profile ${PROFILE} is wrong: what is reserved for orders`);
    expect(await enter('two', 'SOL/USD')).toMatchObject({ outcome: 'skipped', reason: 'halted' });
    const exit = await fleet.api(`/api/profiles/${PROFILE}/trades/${tradeId}/exit`, { method: 'POST', body: {} });
    expect(exit.status).toBeLessThan(300);
    await vi.waitUntil(async () => (await stateOf(tradeId)) === 'closed', PATIENCE);

    await tamper('- 1');
    const mended = await whenBoth(watched, (health) => health.capitalInvariantViolations === 0 && health.code === 200);
    expect(mended.fleet.degraded.active).toBe(true);
    expect(await enter('three')).toMatchObject({ outcome: 'skipped' });
    const { items: halts } = (await (await fleet.api('/api/halts')).json()) as { items: { id: string }[] };
    for (const { id } of halts) await fleet.api(`/api/halts/${id}`, { method: 'DELETE' });
    await whenBoth(watched, ({ degraded }) => !degraded.active);
    expect(await enter('four')).toMatchObject({ outcome: 'submitted' });
    const { items: acts } = (await (await fleet.api('/api/audit')).json()) as { items: Record<string, unknown>[] };
    expect(acts.filter(({ action }) => action === 'halt.lift')).toHaveLength(halts.length);
  });
});

describe('servers that die', () => {
  it('Postgres: both turn red and keep every field, nothing is sent to the venue, and all comes back by itself', async () => {
    const folder = temporaryFolder();
    const servers = serversIn(folder);
    const DATABASE_URL = await servers.startPostgres();
    onTestFinished(() => servers.stop());
    const watched = await startWatched({ DATABASE_URL }, { name: 'metronome', params: { periodSec: 2 } });
    const { fleet, venue } = watched;
    await vi.waitUntil(async () => (await venue.orders()).length >= 2, PATIENCE);
    const pidFile = join(folder, 'postgres', 'data', 'postmaster.pid');
    process.kill(Number(readFileSync(pidFile, 'utf8').split('\n')[0]), 'SIGKILL');
    const red = await whenBoth(
      watched,
      ({ code, error, monitorLoopHealthy }) => code === 503 && error['postgres'] !== undefined && !monitorLoopHealthy,
    );
    for (const health of [red.worker, red.fleet]) {
      expectEveryField(health);
      expect(health.degraded.active).toBe(true);
    }
    expect((await fetch(`${watched.workerAddress}/internal/live`)).status).toBe(200);
    const sent = (await venue.orders()).length;
    const { failures } = (await fleet.state(PAIR))?.loops['trading'] ?? {};
    await vi.waitUntil(
      async () => ((await fleet.state(PAIR))?.loops['trading']?.failures ?? 0) > (failures ?? 0) + 1,
      PATIENCE,
    );
    expect(await venue.orders()).toHaveLength(sent);

    expect(await servers.startPostgres()).toBe(DATABASE_URL);
    await whenBoth(watched, ({ code, degraded }) => code === 200 && !degraded.active);
    const sold = async () => (await venue.orders()).filter(({ side }) => side === 'sell').length;
    const before = await sold();
    await vi.waitUntil(async () => (await sold()) > before, PATIENCE);
  });

  it('Redis: a worker that cannot trust its lock stops trading, says so, and goes on when Redis is back', async () => {
    const folder = temporaryFolder();
    const first = serversIn(folder);
    const REDIS_URL = await first.startRedis();
    const watched = await startWatched({ REDIS_URL, WORKER_LOCK_TTL_MS: '4000' });
    await first.stop();
    const red = await whenBoth(watched, ({ code, tradingLoopHealthy }) => code === 503 && !tradingLoopHealthy);
    expectEveryField(red.worker);
    expect(red.worker.monitorLoopHealthy).toBe(true);
    const second = serversIn(folder);
    onTestFinished(() => second.stop());
    expect(await second.startRedis()).toBe(REDIS_URL);
    await whenBoth(watched, ({ code }) => code === 200);
  });
});
