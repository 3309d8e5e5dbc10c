import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { isAlive, TestFleet, whenGone } from './harness/fleet.js';
import { startApp, temporaryFolder } from './harness/process.js';

describe('a worker started by hand', () => {
  it('does the work of its pair, and stops in order when told to', async () => {
    const fleet = await TestFleet.create();
    await (await fleet.start()).stop();
    const worker = startApp('worker', { env: fleet.env, args: ['pair', 'BTC-USD'] });
    await worker.says(/Worker pair BTC-USD is up/);
    await worker.says(/Decided/);
    expect(await worker.stop('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(await fleet.state('BTC-USD')).toMatchObject({ status: 'stopped', pid: worker.pid });
    expect(await fleet.redis.exists(fleet.keys.workerLock('BTC-USD'), fleet.keys.heartbeat('BTC-USD'))).toBe(0);
  });

  it('goes on counting where the one before it ended', async () => {
    const fleet = await TestFleet.create();
    await (await fleet.start()).stop();
    const epochs: number[] = [];
    while (epochs.length < 2) {
      const worker = startApp('worker', { env: { ...fleet.env, INTERVAL_SEC: '3600' }, args: ['pair', 'BTC-USD'] });
      await worker.says(/Decided/);
      await worker.stop('SIGTERM');
      epochs.push((await fleet.state('BTC-USD'))?.epoch ?? 0);
    }
    expect(epochs[1]).toBe((epochs[0] ?? 0) + 1);
  });

  it('is refused while another works on the pair', async () => {
    const fleet = await TestFleet.create();
    await fleet.start();
    const pid = await fleet.whenRunning('BTC-USD');
    const second = startApp('worker', { env: fleet.env, args: ['pair', 'BTC-USD'] });
    expect((await second.exited).code).toBe(1);
    expect(second.output).toContain(`is held by ${pid}-`);
    expect(isAlive(pid)).toBe(true);
  });

  it('that loses its lock stops at once and leaves its successor alone', async () => {
    const fleet = await TestFleet.create();
    await (await fleet.start()).stop();
    const worker = startApp('worker', { env: fleet.env, args: ['pair', 'BTC-USD'] });
    await worker.says(/Worker pair BTC-USD is up/);
    await fleet.redis.set(fleet.keys.workerLock('BTC-USD'), '1-successor');
    expect((await worker.exited).code).toBe(1);
    expect(worker.output).toContain('The lock of pair BTC-USD is lost');
    expect(await fleet.redis.get(fleet.keys.workerLock('BTC-USD'))).toBe('1-successor');
  });

  it('is refused for a pair that nobody configured', async () => {
    const fleet = await TestFleet.create();
    await (await fleet.start()).stop();
    const worker = startApp('worker', { env: fleet.env, args: ['pair', 'DOGE-USD'] });
    expect((await worker.exited).code).toBe(1);
    expect(worker.output).toContain('No pair "DOGE-USD" is configured');
  });

  it('says what it misses where no orchestrator runs', async () => {
    const dataDir = temporaryFolder();
    const worker = startApp('worker', { env: { DATA_DIR: dataDir }, args: ['pair', 'BTC-USD'] });
    expect((await worker.exited).code).toBe(1);
    expect(worker.output).toContain(
      `No Postgres runs on DATA_DIR ${dataDir}. Start the orchestrator first (npm start)`,
    );
  });

  it.each([[[]], [['pair']], [['boat', 'BTC-USD']], [['pair', '../etc']], [['pair', 'a', 'b']]])(
    'refuses the command line %j',
    async (args) => {
      const worker = startApp('worker', { env: {}, args });
      expect((await worker.exited).code).toBe(2);
      expect(worker.output).toContain('Usage: worker <kind> <id>');
    },
  );
});

describe('a cycle that fails', () => {
  it('shows as an error until a good one follows, and the worker lives on', async () => {
    const fleet = await TestFleet.create();
    await fleet.start();
    const pid = await fleet.whenRunning('BTC-USD');
    const { DatabaseSync } = await import('node:sqlite');
    const database = new DatabaseSync(join(fleet.env.DATA_DIR, 'BTC-USD.db'));
    database.exec('alter table decisions rename to hidden');
    const failing = await fleet.whenWorker('BTC-USD', ({ status }) => status === 'error');
    expect(failing.errorMsg).toContain('decisions');
    database.exec('alter table hidden rename to decisions');
    database.close();
    const good = await fleet.whenWorker('BTC-USD', ({ status }) => status === 'running');
    expect(good).toMatchObject({ pid, errorMsg: null });
  });
});

describe('PAIRS_FILE', () => {
  const declare = (path: string, ...ids: string[]): void => {
    const pairs = ids.map((id) => `  - { id: ${id}, venue: paper, symbol: ${id}, strategy: { name: example } }`);
    writeFileSync(path, ['pairs:', ...pairs].join('\n'));
  };

  it('rules: the API reads it and refuses to change it, and SIGHUP reads it again', async () => {
    const path = join(temporaryFolder(), 'pairs.yaml');
    declare(path, 'AAA', 'BBB');
    const fleet = await TestFleet.create({ PAIRS_FILE: path });
    const orchestrator = await fleet.start();
    const aaa = await fleet.whenRunning('AAA');
    const bbb = await fleet.whenRunning('BBB');
    const body = { venue: 'paper', symbol: 'CCC', strategy: { name: 'example' } };
    for (const init of [{ method: 'PUT', body }, { method: 'DELETE' }]) {
      const answer = await fleet.api('/api/config/pairs/AAA', init);
      expect(answer.status).toBe(409);
      expect(await answer.json()).toMatchObject({ detail: expect.stringContaining(`declared in PAIRS_FILE ${path}`) });
    }
    declare(path, 'BBB', 'CCC');
    process.kill(orchestrator.pid, 'SIGHUP');
    await whenGone(aaa);
    await fleet.whenRunning('CCC');
    expect(await fleet.whenRunning('BBB')).toBe(bbb);
  });

  it('that is broken leaves a running fleet as it is, and refuses a start with every fault named', async () => {
    const path = join(temporaryFolder(), 'pairs.yaml');
    declare(path, 'AAA');
    const fleet = await TestFleet.create({ PAIRS_FILE: path });
    const orchestrator = await fleet.start();
    const pid = await fleet.whenRunning('AAA');
    writeFileSync(
      path,
      'pairs:\n  - { id: "a b", venue: paper }\n  - { id: AAA, venue: paper, symbol: X, strategy: { name: magic } }\n',
    );
    expect((await fleet.api('/api/orchestrator/reload', { method: 'POST' })).status).toBe(202);
    await orchestrator.says(/The configuration was not read; the old one stays/);
    expect(await fleet.whenRunning('AAA')).toBe(pid);
    await orchestrator.stop();

    const refused = startApp('orchestrator', { env: fleet.env });
    expect((await refused.exited).code).toBe(1);
    for (const fault of ['pairs.0.id', 'pairs.0.symbol', 'pairs.0.strategy', 'pairs.1.strategy.name']) {
      expect(refused.output).toContain(fault);
    }
    await vi.waitUntil(async () => !(await fleet.redis.exists(fleet.keys.orchestratorLock)));
  });
});
