import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { SystemClock } from '#libs/clock';
import { EmbeddedServers } from '#libs/embedded';
import { holdUp, MIGRATIONS, PAIRS } from './harness/database.js';
import { isAlive, TestFleet, whenGone } from './harness/fleet.js';
import { start, startApp, temporaryFolder } from './harness/process.js';

/** For tests that wait until the orchestrator's lock runs out, which is after twice this time. */
const SHORT_LOCK = { ORCHESTRATOR_LOCK_TTL_MS: '2000' };
const SHORT_LOCK_LIFE_MS = 4_000;

describe('two orchestrators', () => {
  it('that start together: one serves, the other exits with 1 and names it', async () => {
    const fleet = await TestFleet.create();
    const rivals = [0, 1].map(() => startApp('orchestrator', { env: { ...fleet.env, DATA_DIR: temporaryFolder() } }));
    const { code } = await Promise.race(rivals.map((rival) => rival.exited));
    expect(code).toBe(1);
    const [loser, winner] = rivals[0]?.child.exitCode === 1 ? rivals : rivals.toReversed();
    await winner?.says(/Ctrl-C stops everything/);
    expect(loser?.output).toContain(`An orchestrator is already running: ${fleet.keys.orchestratorLock} is held by`);
    expect(loser?.output).toContain(`(process ${winner?.pid})`);
  });

  it('one in charge and one standing by: it takes over the workers when the first is killed', async () => {
    const fleet = await TestFleet.create();
    const first = await fleet.start();
    const pid = await fleet.whenRunning('BTC-USD');
    const second = startApp('orchestrator', { env: fleet.env, args: ['--standby'] });
    await second.says(/Standing by/);
    await first.stop('SIGKILL');
    await fleet.serves(second);
    expect(second.output).toContain(`Took charge of worker BTC-USD, which still runs (process ${pid})`);
    expect(await fleet.whenRunning('BTC-USD')).toBe(pid);
  });

  it('one in charge and one standing by on other folders: it takes over when the lock of the first runs out', async () => {
    const fleet = await TestFleet.create(SHORT_LOCK);
    const first = await fleet.start();
    const second = startApp('orchestrator', {
      env: { ...fleet.env, DATA_DIR: temporaryFolder() },
      args: ['--standby'],
    });
    await second.says(/Standing by/);
    await first.stop('SIGKILL');
    await fleet.serves(second);
    await fleet.whenRunning('BTC-USD');
  });

  it('a standby that is told to stop ends at once', async () => {
    const fleet = await TestFleet.create();
    await fleet.start();
    const second = startApp('orchestrator', { env: fleet.env, args: ['--standby'] });
    await second.says(/Standing by/);
    expect(await second.stop('SIGTERM')).toEqual({ code: 0, signal: null });
  });
});

describe('an orchestrator that was paused for longer than its lock lives', () => {
  it('notices that another took over, ends with 1, and leaves the workers to its successor', async () => {
    const fleet = await TestFleet.create(SHORT_LOCK);
    const first = await fleet.start();
    const pid = await fleet.whenRunning('BTC-USD');
    const second = startApp('orchestrator', { env: fleet.env, args: ['--standby'] });
    await second.says(/Standing by/);
    process.kill(first.pid, 'SIGSTOP');
    await fleet.serves(second);
    process.kill(first.pid, 'SIGCONT');
    expect((await first.exited).code).toBe(1);
    expect(first.output).toContain('The lock of the orchestrator is lost');
    expect(await fleet.whenRunning('BTC-USD')).toBe(pid);
    expect(await fleet.redis.get(fleet.keys.orchestratorLock)).toMatch(new RegExp(`^${second.pid}-`));
  });

  it('does not take it for granted even when nobody took over', async () => {
    const fleet = await TestFleet.create(SHORT_LOCK);
    const first = await fleet.start();
    await fleet.whenRunning('BTC-USD');
    process.kill(first.pid, 'SIGSTOP');
    await vi.waitUntil(async () => !(await fleet.redis.exists(fleet.keys.orchestratorLock)), { timeout: 20_000 });
    process.kill(first.pid, 'SIGCONT');
    expect((await first.exited).code).toBe(1);
  });
});

describe('a start that takes longer than the lock lives', () => {
  it('keeps the lock, so that a second orchestrator is refused meanwhile', async () => {
    const fleet = await TestFleet.create(SHORT_LOCK);
    const migrations = await holdUp(fleet.env.DATABASE_URL, MIGRATIONS);
    const first = startApp('orchestrator', { env: fleet.env });
    await migrations.whenAwaitedBy('flotilla orchestrator migrations');
    await fleet.whenExpired(SHORT_LOCK_LIFE_MS);
    expect(await fleet.redis.get(fleet.keys.orchestratorLock)).toMatch(new RegExp(`^${first.pid}-`));
    const second = startApp('orchestrator', { env: { ...fleet.env, DATA_DIR: temporaryFolder() } });
    expect((await second.exited).code).toBe(1);
    expect(second.output).toContain(`(process ${first.pid})`);

    await migrations.letGo();
    await fleet.serves(first);
    await fleet.whenRunning('BTC-USD');
    expect(await first.stop('SIGTERM')).toEqual({ code: 0, signal: null });
  });

  it('ends with 1 as soon as the lock is lost, and leaves the workers to its successor', async () => {
    const fleet = await TestFleet.create();
    const first = await fleet.start();
    const pid = await fleet.whenRunning('BTC-USD');
    await first.stop('SIGKILL');
    const migrations = await holdUp(fleet.env.DATABASE_URL, MIGRATIONS);
    const second = startApp('orchestrator', { env: fleet.env });
    await migrations.whenAwaitedBy('flotilla orchestrator migrations');
    await fleet.redis.set(fleet.keys.orchestratorLock, '1-successor');
    expect((await second.exited).code).toBe(1);
    expect(second.output).toContain('The lock of the orchestrator is lost');
    expect(await fleet.redis.get(fleet.keys.orchestratorLock)).toBe('1-successor');
    expect(isAlive(pid)).toBe(true);
  });
});

describe('an orchestrator that is killed', () => {
  it('is survived by its workers, also when the pipe it wrote to is gone, and the next one takes charge of them', async () => {
    const fleet = await TestFleet.create();
    const first = await fleet.start();
    const pids = [await fleet.whenRunning('BTC-USD'), await fleet.whenRunning('ETH-USD')];
    await first.stop('SIGKILL');
    first.child.stdout?.destroy();
    first.child.stderr?.destroy();
    const { epoch = 0 } = (await fleet.state('BTC-USD')) ?? {};
    await vi.waitUntil(async () => ((await fleet.state('BTC-USD'))?.epoch ?? 0) > epoch, { timeout: 20_000 });

    await fleet.start();
    expect([await fleet.whenRunning('BTC-USD'), await fleet.whenRunning('ETH-USD')]).toEqual(pids);
    process.kill(pids[0] ?? 0, 'SIGKILL');
    await fleet.whenRunning('BTC-USD', pids[0]);
  });

  it('is survived by a worker that dies before the next one comes: that one starts it', async () => {
    const fleet = await TestFleet.create();
    const first = await fleet.start();
    const pid = await fleet.whenRunning('BTC-USD');
    await first.stop('SIGKILL');
    process.kill(pid, 'SIGKILL');
    await whenGone(pid);
    await fleet.start();
    await fleet.whenRunning('BTC-USD', pid);
  });
});

describe('a pair that is removed while no orchestrator runs', () => {
  it('has its worker stopped by the next one', async () => {
    const declare = (...ids: string[]): void => {
      const pairs = ids.map((id) => `  - { id: ${id}, venue: paper, symbol: ${id}, strategy: { name: example } }`);
      writeFileSync(path, ['pairs:', ...pairs].join('\n'));
    };
    const path = join(temporaryFolder(), 'pairs.yaml');
    declare('AAA', 'BBB');
    const fleet = await TestFleet.create({ PAIRS_FILE: path });
    const first = await fleet.start();
    const [aaa, bbb] = [await fleet.whenRunning('AAA'), await fleet.whenRunning('BBB')];
    await first.stop('SIGKILL');
    declare('BBB');
    await fleet.start();
    await whenGone(aaa);
    expect(fleet.log('AAA')).toContain('"msg":"Stopped"');
    expect(await fleet.whenRunning('BBB')).toBe(bbb);
  });
});

describe('a start that fails', () => {
  it('leaves the workers alone that still run', async () => {
    const fleet = await TestFleet.create();
    const first = await fleet.start();
    const pid = await fleet.whenRunning('BTC-USD');
    await first.stop('SIGKILL');
    const broken = startApp('orchestrator', {
      env: { ...fleet.env, PAIRS_FILE: join(temporaryFolder(), 'absent.yaml') },
    });
    expect((await broken.exited).code).toBe(1);
    expect(broken.output).toMatch(/PAIRS_FILE .*absent\.yaml cannot be read/);
    await fleet.start();
    expect(await fleet.whenRunning('BTC-USD')).toBe(pid);
  });
});

describe('an orchestrator whose output nobody reads any more', () => {
  it('goes on', async () => {
    const fleet = await TestFleet.create();
    const orchestrator = await fleet.start();
    orchestrator.child.stdout?.destroy();
    orchestrator.child.stderr?.destroy();
    const pid = await fleet.whenRunning('BTC-USD');
    process.kill(pid, 'SIGKILL');
    await fleet.whenRunning('BTC-USD', pid);
  });
});

/** A Redis of a test's own, which may go away. */
async function startRedis(): Promise<{ url: string; stop(): Promise<void>; startAgain(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-redis-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const silent = () => undefined;
  const servers = (): EmbeddedServers => {
    const made = new EmbeddedServers(folder, new SystemClock(), { progress: silent, died: silent, failed: silent });
    onTestFinished(() => made.stop());
    return made;
  };
  const first = servers();
  const url = await first.startRedis();
  return {
    url,
    stop: () => first.stop(),
    startAgain: async () => expect(await servers().startRedis()).toBe(url),
  };
}

describe('Redis going away', () => {
  it('ends nobody: workers go on, locks are kept, and everything recovers by itself', async () => {
    const redis = await startRedis();
    const fleet = await TestFleet.create({
      ...SHORT_LOCK,
      // A heartbeat that runs out, and twice the time in which a worker starts on a busy machine.
      ...{ REDIS_URL: redis.url, HEARTBEAT_TIMEOUT_MS: '4000', WORKER_HEARTBEAT_TTL_MS: '3000' },
      // Says every decision, also one that is the same as the last.
      LOG_LEVEL: 'debug',
    });
    const orchestrator = await fleet.start();
    const pids = [await fleet.whenRunning('BTC-USD'), await fleet.whenRunning('ETH-USD')];
    const decisions = (): number => fleet.log('BTC-USD').split('Decided').length;

    await redis.stop();
    await orchestrator.says(/Lost the connection to Redis/);
    // One dies while nobody can free its lock.
    process.kill(pids[1] ?? 0, 'SIGKILL');
    const before = decisions();
    // Longer than the orchestrator's lock lives and than a silent worker is tolerated.
    await vi.waitUntil(() => decisions() >= before + 9, { timeout: 30_000 });
    expect((await fleet.api('/internal/health')).status).toBe(503);
    expect((await fleet.api('/internal/live')).status).toBe(200);
    const status = await fleet.api('/api/orchestrator/status');
    expect([status.status, ((await status.json()) as { detail: string }).detail]).toEqual([
      503,
      expect.stringContaining('Redis does not answer'),
    ]);

    await redis.startAgain();
    await orchestrator.says(/Redis is back/);
    expect(await fleet.whenRunning('BTC-USD')).toBe(pids[0]);
    const successor = await fleet.whenRunning('ETH-USD', pids[1]);
    await vi.waitUntil(async () => (await fleet.api('/internal/health')).status === 200, { timeout: 20_000 });
    await vi.waitUntil(async () => await fleet.redis.exists(fleet.keys.orchestratorLock), { timeout: 20_000 });
    expect(orchestrator.output).not.toContain('Killing');
    expect(orchestrator.child.exitCode).toBeNull();
    expect(await orchestrator.stop('SIGTERM')).toEqual({ code: 0, signal: null });
    for (const pid of [...pids, successor]) expect(isAlive(pid)).toBe(false);
  });

  it('while a worker starts costs that worker no backoff', async () => {
    const redis = await startRedis();
    const fleet = await TestFleet.create({
      ...{ REDIS_URL: redis.url, RESPAWN_BASE_MS: '600000', RESPAWN_MAX_MS: '3600000' },
      DATABASE_LOCK_TIMEOUT_MS: '60000',
    });
    const orchestrator = await fleet.start();
    const pid = await fleet.whenRunning('BTC-USD');
    const pairs = await holdUp(fleet.env.DATABASE_URL, PAIRS);
    await fleet.api('/api/orchestrator/workers/BTC-USD/restart', { method: 'POST' });
    await pairs.whenAwaitedBy('flotilla pair BTC-USD');
    await redis.stop();
    await orchestrator.says(/Lost the connection to Redis/);
    await pairs.letGo();
    await vi.waitUntil(() => fleet.log('BTC-USD').includes("Flotilla's worker stopped"), { timeout: 20_000 });
    await redis.startAgain();
    await orchestrator.says(/Redis is back/);
    await fleet.whenRunning('BTC-USD', pid);
  });
});

describe('the command line of the orchestrator', () => {
  it.each([
    [['--help'], 0, /Usage: orchestrator \[--standby\]/],
    [['--standbye'], 2, /Unknown option '--standbye'/],
  ])('%s', async (args, code, text) => {
    const run = start(process.execPath, ['dist/apps/orchestrator/src/main.js', ...args], {});
    expect((await run.exited).code).toBe(code);
    expect(run.output).toMatch(text);
  });
});
