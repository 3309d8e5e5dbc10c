import { describe, expect, it } from 'vitest';
import { SupervisionEnded, Supervisor } from '../index.js';
import { setup, setupStarted } from './testing/setup.js';

describe('shutdown', () => {
  it('tells all tasks to stop, waits for their end and leaves nothing running', async () => {
    const { supervisor, add, settle } = setupStarted();
    const puppets = [add('poller'), add('monitor')];
    await settle();
    expect(await supervisor.shutdown()).toEqual({ reason: 'shutdown', stillRunning: [] });
    expect(puppets.map((puppet) => puppet.live.size)).toEqual([0, 0]);
    expect([...supervisor.getAllTaskStatuses().values()]).toEqual(['dead', 'dead']);
  });

  it('waits for a run that takes its time to end', async () => {
    const { clock, supervisor, add, settle } = setupStarted();
    const poller = add('poller', 'stubborn');
    await settle();
    let hasEnded = false;
    const end = supervisor.shutdown().then((report) => {
      hasEnded = true;
      return report;
    });
    await clock.advance(29_999);
    expect(hasEnded).toBe(false);
    poller.complete();
    expect(await end).toEqual({ reason: 'shutdown', stillRunning: [] });
  });

  it('names the tasks that still run when the grace is over, also those killed before', async () => {
    const { clock, supervisor, add, settle } = setupStarted({ stopGraceMs: 5_000 });
    add('poller', 'stubborn');
    add('monitor');
    add('stuck', 'stubborn');
    await settle();
    void supervisor.killTask('stuck');
    const end = supervisor.shutdown();
    await clock.advance(5_000);
    expect(await end).toEqual({ reason: 'shutdown', stillRunning: ['poller', 'stuck'] });
  });

  it('cancels scheduled restarts and those that wait for a run to end', async () => {
    const { clock, supervisor, add, settle, fail } = setupStarted();
    const failed = add('failed');
    const ending = add('ending', 'stubborn');
    await settle();
    await fail(failed);
    const restart = supervisor.restart('ending');
    const end = supervisor.shutdown();
    ending.complete();
    await end;
    await clock.advance(3_600_000);
    expect([await restart, failed.runs.length, ending.runs.length]).toEqual(['cancelled', 1, 1]);
  });

  it('leaves completed tasks completed', async () => {
    const { supervisor, add, settle } = setupStarted();
    const migration = add('migration');
    await settle();
    migration.complete();
    await settle();
    await supervisor.shutdown();
    expect(supervisor.getTaskStatus('migration')).toBe('completed');
  });

  it('may be called twice, and before the start', async () => {
    const { supervisor, add, settle } = setup();
    const poller = add('poller');
    const ends = await Promise.all([supervisor.shutdown(), supervisor.shutdown()]);
    expect(ends).toEqual([
      { reason: 'shutdown', stillRunning: [] },
      { reason: 'shutdown', stillRunning: [] },
    ]);
    await settle();
    expect([supervisor.getTaskStatus('poller'), poller.runs.length]).toEqual(['dead', 0]);
  });

  it('is final: nothing can be started or added afterwards, but a kill is still answered', async () => {
    const { supervisor, add } = setup();
    add('poller');
    await supervisor.shutdown();
    expect(() => supervisor.start()).toThrow(SupervisionEnded);
    expect(() => add('late')).toThrow(SupervisionEnded);
    expect(await supervisor.killTask('poller')).toBe('ended');
  });

  it('leaves no sleeper behind, so that the process may exit', async () => {
    const { clock, supervisor, add, settle } = setupStarted();
    const failed = add('failed');
    add('poller');
    await settle();
    failed.fail();
    await settle();
    await supervisor.restart('poller');
    await supervisor.shutdown();
    const asleep = await Promise.race([clock.whenSleeping(1).then(() => 'asleep'), settle().then(() => 'none')]);
    expect(asleep).toBe('none');
  });
});

describe('start', () => {
  it('happens once', () => {
    const { supervisor } = setupStarted();
    expect(() => supervisor.start()).toThrow('Expected a supervisor that has not been started yet.');
  });

  it('is never reached with settings that make no sense', () => {
    expect(() => setup({ restartDelayBaseMs: 0 })).toThrow(RangeError);
  });
});

describe('wait', () => {
  it('resolves with the end of a shutdown, for whoever asked before or after', async () => {
    const { supervisor } = setupStarted();
    const before = supervisor.wait();
    await supervisor.shutdown();
    expect(await Promise.all([before, supervisor.wait()])).toEqual([
      { reason: 'shutdown', stillRunning: [] },
      { reason: 'shutdown', stillRunning: [] },
    ]);
  });

  it('goes on when all tasks are over, because more may be added', async () => {
    const { supervisor, add, settle } = setupStarted();
    const migration = add('migration');
    await settle();
    migration.complete();
    const first = await Promise.race([supervisor.wait(), settle().then(() => 'waiting')]);
    expect(first).toBe('waiting');
  });
});

describe('The supervisor as a whole', () => {
  it('gives up when more than the allowed share is dead, stops the rest and says so', async () => {
    const { clock, supervisor, add, settle, fail } = setupStarted({ restartsMax: 0, deadShareMax: 0.5 });
    const [first, second] = [add('first'), add('second')];
    const third = add('third', 'stubborn');
    await settle();
    await fail(first);
    expect(supervisor.getTaskStatus('third')).toBe('healthy');
    await fail(second);
    expect([...supervisor.getAllTaskStatuses().values()]).toEqual(['dead', 'dead', 'dead']);
    expect(third.runs[0]?.signal.aborted).toBe(true);
    await clock.advance(30_000);
    expect(await supervisor.wait()).toEqual({
      reason: 'too-many-dead',
      dead: ['first', 'second'],
      stillRunning: ['third'],
    });
  });

  it('answers a shutdown after giving up with what happened', async () => {
    const { supervisor, add, settle, fail } = setupStarted({ restartsMax: 0, deadShareMax: 0 });
    const poller = add('poller');
    await settle();
    await fail(poller);
    expect(await supervisor.shutdown()).toEqual({
      reason: 'too-many-dead',
      dead: ['poller'],
      stillRunning: [],
    });
    expect(() => add('late')).toThrow(SupervisionEnded);
  });

  it('counts killed tasks as dead', async () => {
    const { supervisor, add } = setupStarted({ deadShareMax: 0 });
    add('poller');
    add('monitor');
    await supervisor.killTask('poller');
    expect(await supervisor.wait()).toMatchObject({ reason: 'too-many-dead', dead: ['poller'] });
  });

  it('judges tasks killed before the start when it starts, for more may be added until then', async () => {
    const { supervisor, add, settle } = setup({ deadShareMax: 0.4 });
    add('poller');
    await supervisor.killTask('poller');
    const monitor = add('monitor');
    supervisor.start();
    expect(await supervisor.wait()).toEqual({ reason: 'too-many-dead', dead: ['poller'], stillRunning: [] });
    await settle();
    expect(monitor.runs.length).toBe(0);
  });

  it('never gives up by default', async () => {
    const { supervisor, add, settle, fail } = setupStarted({ restartsMax: 0 });
    const poller = add('poller');
    await settle();
    await fail(poller);
    const monitor = add('monitor');
    await settle();
    expect([supervisor.getTaskStatus('monitor'), monitor.live.size]).toEqual(['healthy', 1]);
  });
});

describe('The observer', () => {
  it('is told of every change in order, with the error and the time to the restart', async () => {
    const { clock, notices, add, settle, fail } = setupStarted({ restartsMax: 1 });
    const poller = add('poller');
    const error = new Error('The venue is gone.');
    await settle();
    await fail(poller, error);
    await clock.advance(2_000);
    await fail(poller, error);
    expect(notices).toEqual([
      { task: 'poller', event: 'started', from: 'created', to: 'healthy' },
      { task: 'poller', event: 'failed', from: 'healthy', to: 'failed', error, restartInMs: 2_000 },
      { task: 'poller', event: 'started', from: 'failed', to: 'healthy' },
      { task: 'poller', event: 'failed', from: 'healthy', to: 'failed', error, restartInMs: undefined },
      { task: 'poller', event: 'exhausted', from: 'failed', to: 'dead' },
    ]);
  });

  it('hears what a run threw while stopping, unless that is the abort itself', async () => {
    const { notices, supervisor, add, settle } = setupStarted();
    const stubborn = add('stubborn', 'stubborn');
    add('obedient');
    await settle();
    const error = new Error('The lock could not be released.');
    const end = supervisor.shutdown();
    stubborn.fail(error);
    await end;
    expect(notices.slice(2)).toEqual([
      { task: 'stubborn', event: 'killed', from: 'healthy', to: 'dead' },
      { task: 'obedient', event: 'killed', from: 'healthy', to: 'dead' },
      { task: 'stubborn', event: 'stop-failed', error },
    ]);
  });

  it('hears of a change when it is complete, so that a kill may answer the last failure', async () => {
    const { clock, settle } = setup();
    const events: string[] = [];
    const supervisor: Supervisor = new Supervisor({
      clock,
      settings: { restartsMax: 0 },
      observer: ({ task, event }) => {
        events.push(event);
        if (event === 'failed') void supervisor.killTask(task);
      },
    });
    supervisor.addTask('poller', () => Promise.reject(new Error('The venue is gone.')));
    supervisor.start();
    await settle();
    expect(events).toEqual(['started', 'failed', 'exhausted']);
  });

  it('may answer a notice with any verb', async () => {
    const { clock, settle } = setup();
    let runs = 0;
    const supervisor: Supervisor = new Supervisor({
      clock,
      settings: { restartsMax: 0 },
      observer: ({ task, event }) => {
        if (event === 'exhausted') void (runs < 3 ? supervisor.restart(task) : supervisor.shutdown());
      },
    });
    supervisor.addTask('poller', () => {
      runs += 1;
      return Promise.reject(new Error('Not yet.'));
    });
    supervisor.start();
    await settle();
    expect([runs, await supervisor.wait()]).toEqual([3, { reason: 'shutdown', stillRunning: [] }]);
  });
});
