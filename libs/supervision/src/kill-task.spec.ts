import { describe, expect, it } from 'vitest';
import { UnknownTask } from '../index.js';
import { setup, setupStarted } from './testing/setup.js';

describe('killTask', () => {
  it('makes a task dead at once and tells its run to stop', async () => {
    const { supervisor, add, settle } = setupStarted();
    const poller = add('poller');
    await settle();
    const outcome = supervisor.killTask('poller');
    expect(supervisor.getTaskStatus('poller')).toBe('dead');
    expect([await outcome, poller.live.size]).toEqual(['ended', 0]);
  });

  it('cancels a scheduled restart', async () => {
    const { clock, supervisor, add, settle, fail } = setupStarted();
    const poller = add('poller');
    await settle();
    await fail(poller);
    await supervisor.killTask('poller');
    await clock.advance(3_600_000);
    expect([supervisor.getTaskStatus('poller'), poller.runs.length]).toEqual(['dead', 1]);
  });

  it('cancels a restart that waits for the old run to end', async () => {
    const { supervisor, add, settle } = setupStarted();
    const poller = add('poller', 'stubborn');
    await settle();
    const restart = supervisor.restart('poller');
    const kill = supervisor.killTask('poller');
    poller.complete();
    await settle();
    expect([await restart, await kill, poller.runs.length]).toEqual(['cancelled', 'ended', 1]);
    expect(supervisor.getTaskStatus('poller')).toBe('dead');
  });

  it.each(['complete', 'fail'] as const)('is final: a late %s does not resurrect the task', async (ending) => {
    const { clock, supervisor, add, settle } = setupStarted();
    const poller = add('poller', 'stubborn');
    await settle();
    void supervisor.killTask('poller');
    poller[ending]();
    await clock.advance(3_600_000);
    expect([supervisor.getTaskStatus('poller'), poller.runs.length]).toEqual(['dead', 1]);
  });

  it('wins over a failure that happened but was not noticed yet', async () => {
    const { clock, supervisor, add, settle } = setupStarted();
    const poller = add('poller');
    await settle();
    poller.fail();
    await supervisor.killTask('poller');
    await clock.advance(3_600_000);
    expect([supervisor.getTaskStatus('poller'), poller.runs.length]).toEqual(['dead', 1]);
  });

  it('says after the grace that the run still runs', async () => {
    const { clock, supervisor, add, settle } = setupStarted({ stopGraceMs: 1_000 });
    add('poller', 'stubborn');
    await settle();
    const outcome = supervisor.killTask('poller');
    await clock.advance(1_000);
    expect([await outcome, supervisor.getTaskStatus('poller')]).toEqual(['still-running', 'dead']);
  });

  it('before the start keeps the task from ever starting', async () => {
    const { supervisor, add, settle } = setup();
    const poller = add('poller');
    expect(await supervisor.killTask('poller')).toBe('ended');
    supervisor.start();
    await settle();
    expect([supervisor.getTaskStatus('poller'), poller.runs.length]).toEqual(['dead', 0]);
  });

  it('in the moment of the start keeps the task from running', async () => {
    const { supervisor, add, settle } = setupStarted();
    const poller = add('poller');
    await supervisor.killTask('poller');
    await settle();
    expect(poller.runs.length).toBe(0);
  });

  it('leaves a completed task completed, and may be repeated on a dead one', async () => {
    const { supervisor, add, settle } = setupStarted();
    const migration = add('migration');
    add('poller');
    await settle();
    migration.complete();
    await settle();
    expect(await supervisor.killTask('migration')).toBe('ended');
    expect(await supervisor.killTask('poller')).toBe('ended');
    expect(await supervisor.killTask('poller')).toBe('ended');
    expect([...supervisor.getAllTaskStatuses()]).toEqual([
      ['migration', 'completed'],
      ['poller', 'dead'],
    ]);
  });

  it('is refused for an unknown task, like the question for its status', async () => {
    const { supervisor } = setup();
    await expect(supervisor.killTask('pollar')).rejects.toThrow(UnknownTask);
    expect(() => supervisor.getTaskStatus('pollar')).toThrow('Expected the name of a supervised task, got "pollar".');
  });
});
