import { describe, expect, it, vi } from 'vitest';
import { isAlive, isRunning, TestFleet, whenGone } from './harness/fleet.js';

const PAIR = { venue: 'paper', symbol: 'SOL/USD', strategy: { name: 'example' } };

describe('a fleet that runs', () => {
  it('shows in Redis what its keys promise', async () => {
    const fleet = await TestFleet.create();
    const orchestrator = await fleet.start();
    const pid = await fleet.whenRunning('BTC-USD');
    await fleet.whenRunning('ETH-USD');
    const { keys, redis } = fleet;
    expect(await redis.get(keys.orchestratorLock)).toMatch(new RegExp(`^${orchestrator.pid}-[0-9a-f-]{36}$`));
    expect(await redis.pttl(keys.orchestratorLock)).toBeGreaterThan(50_000);
    expect((await redis.smembers(keys.workers)).sort()).toEqual(['BTC-USD', 'ETH-USD']);
    expect(await redis.get(keys.workerLock('BTC-USD'))).toMatch(new RegExp(`^${pid}-[0-9a-f-]{36}$`));
    expect(await redis.pttl(keys.workerLock('BTC-USD'))).toBeGreaterThan(890_000);
    expect(Number(await redis.get(keys.heartbeat('BTC-USD')))).toBeGreaterThan(1.7e12);
    expect(await redis.pttl(keys.heartbeat('BTC-USD'))).toBeGreaterThan(40_000);
    expect(await redis.pttl(keys.state('BTC-USD'))).toBeGreaterThan(50_000);
    const state = await fleet.whenWorker('BTC-USD', ({ lastDecision }) => lastDecision != null);
    expect(state).toMatchObject({ pairId: 'BTC-USD', pid, kind: 'pair', status: 'running', errorMsg: null });
    expect(state.loops).toMatchObject({ trading: { status: 'healthy' }, heartbeat: { status: 'healthy' } });
  });

  it('tells Prometheus where each worker is, and each worker serves its own health and metrics', async () => {
    const fleet = await TestFleet.create();
    await fleet.start();
    await fleet.whenRunning('BTC-USD');
    await fleet.whenRunning('ETH-USD');
    const targets = (await (await fleet.api('/internal/targets')).json()) as { targets: string[]; labels: object }[];
    expect(targets.map(({ labels }) => labels)).toEqual([
      { worker: 'BTC-USD', kind: 'pair' },
      { worker: 'ETH-USD', kind: 'pair' },
    ]);
    const address = `http://${targets[0]?.targets[0]}`;
    // Its loops have an interval of a second here, so a machine that is busy for two turns it for a moment.
    await vi.waitUntil(async () => (await fetch(`${address}/internal/health`)).status === 200, { timeout: 20_000 });
    expect((await fetch(`${address}/internal/live`)).status).toBe(200);
    expect(await (await fetch(`${address}/metrics`)).text()).toContain('flotilla_build_info');
    expect(await fleet.metric('flotilla_workers{state="running"}')).toBe(2);
  });

  it('answers what is asked of one worker: its state, a drain, another log level', async () => {
    const fleet = await TestFleet.create();
    await fleet.start();
    const pid = await fleet.whenRunning('BTC-USD');
    expect(await (await fleet.api('/api/orchestrator/workers/BTC-USD')).json()).toMatchObject({
      pid,
      status: 'running',
    });
    const level = await fleet.api('/api/orchestrator/workers/BTC-USD/log-level', {
      method: 'PUT',
      body: { level: 'silent' },
    });
    expect(level.status).toBe(200);
    const drained = await fleet.api('/api/orchestrator/workers/BTC-USD/drain', { method: 'POST' });
    expect(await drained.json()).toMatchObject({ killSwitch: { active: true } });
    // A cycle that was under way when the drain came is finished; after it there is none.
    const pass = async () => {
      const { epoch = 0 } = await fleet.whenWorker('ETH-USD', () => true);
      await fleet.whenWorker('ETH-USD', (other) => (other.epoch ?? 0) > epoch + 1);
      return (await fleet.state('BTC-USD'))?.epoch;
    };
    expect(await pass()).toBe(await pass());
    expect((await fleet.api('/api/orchestrator/workers/DOGE-USD')).status).toBe(404);
    expect(
      (await fleet.api('/api/orchestrator/workers/BTC-USD/log-level', { method: 'PUT', body: { level: 'loud' } }))
        .status,
    ).toBe(400);
  });

  it('keeps what each worker says, told apart by its pair', async () => {
    const fleet = await TestFleet.create();
    await fleet.start();
    await fleet.whenWorker('BTC-USD', ({ lastDecision }) => lastDecision != null);
    const { items } = (await (await fleet.api('/api/orchestrator/workers/BTC-USD/logs?lines=50')).json()) as {
      items: string[];
    };
    expect(items.join('\n')).toMatch(/"worker":"pair BTC-USD".*Decided/);
    expect((await fleet.api('/api/orchestrator/workers/BTC-USD/logs?lines=0')).status).toBe(400);
  });
});

describe('a worker that dies', () => {
  it('is started again after its backoff, and its own lock does not keep its successor out', async () => {
    const fleet = await TestFleet.create();
    await fleet.start();
    const pid = await fleet.whenRunning('BTC-USD');
    const other = await fleet.whenRunning('ETH-USD');
    process.kill(pid, 'SIGKILL');
    expect(await fleet.whenRunning('BTC-USD', pid)).not.toBe(pid);
    expect(await fleet.metric('flotilla_worker_restarts_total{reason="backoff"}')).toBe(1);
    expect((await fleet.statuses())['ETH-USD']).toMatchObject({ pid: other });
  });

  it('waits for its backoff; a wish to restart makes an end of the waiting', async () => {
    const fleet = await TestFleet.create({ RESPAWN_BASE_MS: '600000', RESPAWN_MAX_MS: '3600000' });
    await fleet.start();
    const pid = await fleet.whenRunning('BTC-USD');
    process.kill(pid, 'SIGKILL');
    await fleet.whenWorker(
      'BTC-USD',
      (worker) => worker.process === 'waiting' && worker.failures === 1 && !worker.alive,
    );
    expect((await fleet.api('/api/orchestrator/workers/BTC-USD/restart', { method: 'POST' })).status).toBe(202);
    await fleet.whenRunning('BTC-USD', pid);
  });

  it('is given up after too many failures in a row, and revived through the API', async () => {
    const fleet = await TestFleet.create({ RESPAWN_MAX_FAILURES: '3', RESPAWN_BASE_MS: '1' });
    // Somebody else holds its lock, so every start fails.
    await fleet.redis.set(fleet.keys.workerLock('BTC-USD'), '1-another');
    await fleet.start();
    await fleet.whenWorker('BTC-USD', (worker) => worker.process === 'given-up' && worker.failures === 3);
    expect(fleet.log('BTC-USD')).toContain('is held by 1-another');
    expect(await fleet.metric('flotilla_workers{state="given-up"}')).toBe(1);
    await fleet.redis.del(fleet.keys.workerLock('BTC-USD'));
    await fleet.api('/api/orchestrator/workers/BTC-USD/restart', { method: 'POST' });
    await fleet.whenRunning('BTC-USD');
  });

  it('is killed when it is silent for too long', async () => {
    const fleet = await TestFleet.create({ HEARTBEAT_TIMEOUT_MS: '5000', WORKER_HEARTBEAT_TTL_MS: '3000' });
    const orchestrator = await fleet.start();
    const pid = await fleet.whenRunning('BTC-USD');
    process.kill(pid, 'SIGSTOP');
    await whenGone(pid);
    await orchestrator.says(/Killing worker BTC-USD \(silent\)/);
    await fleet.whenRunning('BTC-USD', pid);
  });
});

describe('a restart that is wished', () => {
  it.each([
    [
      'through the API',
      (fleet: TestFleet) => fleet.api('/api/orchestrator/workers/BTC-USD/restart', { method: 'POST' }),
    ],
    [
      'as JSON on the channel',
      (fleet: TestFleet) => fleet.redis.publish(fleet.keys.control, '{"type":"RESTART","pairId":"BTC-USD"}'),
    ],
  ])('%s happens at once, in order, and to nobody else', async (_way, wish) => {
    const fleet = await TestFleet.create({ RESPAWN_BASE_MS: '600000', RESPAWN_MAX_MS: '3600000' });
    await fleet.start();
    const pid = await fleet.whenRunning('BTC-USD');
    const other = await fleet.whenRunning('ETH-USD');
    await wish(fleet);
    await fleet.whenRunning('BTC-USD', pid);
    expect(fleet.log('BTC-USD')).toContain('"msg":"Stopped"');
    expect((await fleet.statuses())['ETH-USD']).toMatchObject({ pid: other });
    expect(await fleet.redis.exists(fleet.keys.restarting('BTC-USD'))).toBe(0);
  });

  it('as a bare word on the channel happens to all; nonsense is counted and ignored', async () => {
    const fleet = await TestFleet.create({ RESPAWN_BASE_MS: '600000', RESPAWN_MAX_MS: '3600000' });
    await fleet.start();
    const pids = [await fleet.whenRunning('BTC-USD'), await fleet.whenRunning('ETH-USD')];
    for (const nonsense of ['', 'restart', '{"type":"BOOM"}', '{', '[]'])
      await fleet.redis.publish(fleet.keys.control, nonsense);
    await vi.waitUntil(async () => (await fleet.metric('flotilla_control_messages_malformed_total')) === 5, {
      timeout: 20_000,
    });
    expect(Object.values(await fleet.statuses()).map(({ pid }) => pid)).toEqual(pids);
    await fleet.redis.publish(fleet.keys.control, 'RESTART');
    await fleet.whenRunning('BTC-USD', pids[0]);
    await fleet.whenRunning('ETH-USD', pids[1]);
  });
});

describe('an orderly stop', () => {
  it('lets every worker finish, say that it stopped, and free its lock', async () => {
    const fleet = await TestFleet.create();
    const orchestrator = await fleet.start();
    const pids = [await fleet.whenRunning('BTC-USD'), await fleet.whenRunning('ETH-USD')];
    expect(await orchestrator.stop('SIGTERM')).toEqual({ code: 0, signal: null });
    for (const pid of pids) expect(isAlive(pid)).toBe(false);
    for (const id of ['BTC-USD', 'ETH-USD']) {
      expect(await fleet.state(id)).toMatchObject({ status: 'stopped' });
      expect(await fleet.redis.exists(fleet.keys.workerLock(id), fleet.keys.heartbeat(id))).toBe(0);
    }
    expect(await fleet.redis.exists(fleet.keys.orchestratorLock)).toBe(0);
  });

  it('kills a worker that outlasts the grace, and frees its lock all the same', async () => {
    const fleet = await TestFleet.create({ SHUTDOWN_GRACE_MS: '500' });
    const orchestrator = await fleet.start();
    const pid = await fleet.whenRunning('BTC-USD');
    process.kill(pid, 'SIGSTOP');
    expect(await orchestrator.stop('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(isAlive(pid)).toBe(false);
    expect(await fleet.redis.exists(fleet.keys.workerLock('BTC-USD'))).toBe(0);
    await fleet.start();
    await fleet.whenRunning('BTC-USD', pid);
  });

  it('reaches one worker alone by SHUTDOWN with its pair, which the orchestrator then starts again', async () => {
    const fleet = await TestFleet.create();
    await fleet.start();
    const pid = await fleet.whenRunning('BTC-USD');
    await fleet.redis.publish(fleet.keys.control, JSON.stringify({ type: 'SHUTDOWN', pairId: 'BTC-USD' }));
    await whenGone(pid);
    await fleet.whenRunning('BTC-USD', pid);
  });
});

describe('a change of the configuration', () => {
  it('starts what is new, restarts what changed, stops what was removed, and leaves the rest alone', async () => {
    const fleet = await TestFleet.create({ RESPAWN_BASE_MS: '600000', RESPAWN_MAX_MS: '3600000' });
    await fleet.start();
    const demonstration = await fleet.whenRunning('BTC-USD');
    const put = (id: string, body: object) => fleet.api(`/api/config/pairs/${id}`, { method: 'PUT', body });
    expect((await put('SOL-USD', PAIR)).status).toBe(201);
    const sol = await fleet.whenRunning('SOL-USD');
    await whenGone(demonstration);
    expect((await put('ADA-USD', PAIR)).status).toBe(201);
    const ada = await fleet.whenRunning('ADA-USD');

    expect((await put('SOL-USD', { ...PAIR, intervalSec: 77 })).status).toBe(200);
    await fleet.whenRunning('SOL-USD', sol);
    expect((await put('SOL-USD', { ...PAIR, intervalSec: 77 })).status).toBe(200);
    expect((await fleet.statuses())['ADA-USD']).toMatchObject({ pid: ada });

    const read = (await (await fleet.api('/api/config/pairs/ADA-USD')).json()) as object;
    expect((await put('ADA-USD', read)).status).toBe(200);
    expect((await put('SOL-USD', read)).status).toBe(400);
    expect((await fleet.statuses())['ADA-USD']).toMatchObject({ pid: ada });

    expect((await fleet.api('/api/config/pairs/ADA-USD', { method: 'DELETE' })).status).toBe(204);
    await whenGone(ada);
    await vi.waitUntil(async () => !(await fleet.statuses())['ADA-USD'], { timeout: 20_000 });
    expect(await fleet.redis.smembers(fleet.keys.workers)).toEqual(['SOL-USD']);
    expect((await fleet.api('/api/config/pairs/ADA-USD', { method: 'DELETE' })).status).toBe(404);
    expect(await (await fleet.api('/api/config/pairs')).json()).toMatchObject({
      items: [{ id: 'SOL-USD', intervalSec: 77 }],
    });
  });

  it('is refused with every fault named', async () => {
    const fleet = await TestFleet.create();
    await fleet.start();
    const answer = await fleet.api('/api/config/pairs/SOL-USD', {
      method: 'PUT',
      body: { venue: '', strategy: { name: 'example', params: { fast: 30 } }, intervalSec: 0, colour: 'red' },
    });
    expect(answer.status).toBe(400);
    const { errors } = (await answer.json()) as { errors: { path: string }[] };
    expect(errors.map(({ path }) => path).sort()).toEqual([
      '',
      'intervalSec',
      'strategy.params.fast',
      'symbol',
      'venue',
    ]);
    expect((await fleet.api('/api/config/pairs/..%2Fetc', { method: 'PUT', body: PAIR })).status).toBe(400);
  });

  it('survives a storm: many at once end in the last one', async () => {
    const fleet = await TestFleet.create();
    const orchestrator = await fleet.start();
    for (let round = 1; round <= 10; round += 1) {
      await fleet.api('/api/config/pairs/SOL-USD', { method: 'PUT', body: { ...PAIR, intervalSec: round } });
      await fleet.redis.publish(fleet.keys.control, 'CONFIG_CHANGED');
      process.kill(orchestrator.pid, 'SIGHUP');
    }
    await vi.waitUntil(
      async () => {
        const statuses = await fleet.statuses();
        const sol = statuses['SOL-USD'];
        return sol && isRunning(sol) && Object.keys(statuses).length === 1 && sol.failures === 0;
      },
      { timeout: 40_000 },
    );
    const pair = (await (await fleet.api('/api/config/pairs/SOL-USD')).json()) as { intervalSec: number };
    expect(pair.intervalSec).toBe(10);
    expect(fleet.log('SOL-USD')).not.toContain('Another process works on this pair');
  });
});
