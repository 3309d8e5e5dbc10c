import { describe, expect, it } from 'vitest';
import { SupervisionEnded, UnknownTask } from '../index.js';
import { setup, setupStarted } from './testing/setup.js';

describe('restart', () => {
  it('replaces a run: the old one is told to stop, the new one starts at once', async () => {
    const { supervisor, add, settle } = setupStarted();
    const poller = add('poller');
    await settle();
    expect(await supervisor.restart('poller')).toBe('restarted');
    await settle();
    expect([supervisor.getTaskStatus('poller'), poller.runs.length, poller.liveMax]).toEqual(['healthy', 2, 1]);
    expect(poller.runs[0]?.signal.aborted).toBe(true);
  });

  it('waits for the old run to end before the new one starts', async () => {
    const { clock, supervisor, add, settle } = setupStarted();
    const poller = add('poller', 'stubborn');
    await settle();
    const outcome = supervisor.restart('poller');
    await clock.advance(29_999);
    expect([poller.runs.length, supervisor.getTaskStatus('poller')]).toEqual([1, 'healthy']);
    poller.complete();
    await settle();
    expect([await outcome, poller.runs.length, poller.liveMax]).toEqual(['restarted', 2, 1]);
  });

  it('says after the grace that the old run still runs, and starts the new one when it ends', async () => {
    const { clock, supervisor, add, settle } = setupStarted({ stopGraceMs: 1_000 });
    const poller = add('poller', 'stubborn');
    await settle();
    const outcome = supervisor.restart('poller');
    await clock.advance(1_000);
    expect([await outcome, poller.runs.length]).toEqual(['still-running', 1]);
    poller.fail();
    await settle();
    expect([supervisor.getTaskStatus('poller'), poller.runs.length, poller.liveMax]).toEqual(['healthy', 2, 1]);
  });

  it('twice while the old run is ending gives one new run', async () => {
    const { supervisor, add, settle } = setupStarted();
    const poller = add('poller', 'stubborn');
    await settle();
    const outcomes = Promise.all([supervisor.restart('poller'), supervisor.restart('poller')]);
    poller.complete();
    await settle();
    expect([await outcomes, poller.runs.length]).toEqual([['restarted', 'restarted'], 2]);
  });

  it('starts a failed task at once and takes the place of the scheduled restart', async () => {
    const { clock, supervisor, add, settle, fail } = setupStarted();
    const poller = add('poller');
    await settle();
    await fail(poller);
    await clock.advance(500);
    expect(await supervisor.restart('poller')).toBe('restarted');
    await clock.advance(3_600_000);
    expect(poller.startTimes()).toEqual([0, 500]);
  });

  it('revives a completed task', async () => {
    const { supervisor, add, settle } = setupStarted();
    const migration = add('migration');
    await settle();
    migration.complete();
    await settle();
    await supervisor.restart('migration');
    await settle();
    expect([supervisor.getTaskStatus('migration'), migration.runs.length]).toEqual(['healthy', 2]);
  });

  it('revives a dead task for one run, because its failures stay counted', async () => {
    const { supervisor, add, settle, fail } = setupStarted({ restartsMax: 0 });
    const poller = add('poller');
    await settle();
    await fail(poller);
    await supervisor.restart('poller');
    await settle();
    expect(supervisor.getTaskStatus('poller')).toBe('healthy');
    await fail(poller);
    expect(supervisor.getTaskStatus('poller')).toBe('dead');
  });

  it('does not count against the limit and does not lengthen the delay', async () => {
    const { clock, supervisor, add, settle, fail } = setupStarted();
    const poller = add('poller');
    for (let restarts = 0; restarts < 10; restarts += 1) {
      await settle();
      await supervisor.restart('poller');
    }
    await settle();
    await fail(poller);
    await clock.advance(2_000);
    expect([supervisor.getTaskStatus('poller'), poller.startTimes().at(-1)]).toEqual(['healthy', 2_000]);
  });

  it('ends a run that was stable, so the failures before it are forgotten', async () => {
    const { clock, supervisor, add, settle, fail } = setupStarted({ stableAfterMs: 80_000, restartsMax: 1 });
    const poller = add('poller');
    await settle();
    await fail(poller);
    await clock.advance(2_000 + 80_000);
    await supervisor.restart('poller');
    await settle();
    await fail(poller);
    expect(supervisor.getTaskStatus('poller')).toBe('failed');
  });

  it('revives a killed task only when its killed run has ended', async () => {
    const { supervisor, add, settle } = setupStarted();
    const poller = add('poller', 'stubborn');
    await settle();
    void supervisor.killTask('poller');
    const outcome = supervisor.restart('poller');
    await settle();
    expect([supervisor.getTaskStatus('poller'), poller.runs.length]).toEqual(['dead', 1]);
    poller.complete();
    await settle();
    expect([await outcome, supervisor.getTaskStatus('poller'), poller.liveMax]).toEqual(['restarted', 'healthy', 1]);
  });

  it('is refused for an unknown task, before the start and after the end', async () => {
    const { supervisor, add } = setup();
    add('poller');
    await expect(supervisor.restart('poller')).rejects.toThrow('Expected a started supervisor');
    await expect(supervisor.restart('pollar')).rejects.toThrow(UnknownTask);
    await supervisor.shutdown();
    await expect(supervisor.restart('poller')).rejects.toThrow(SupervisionEnded);
  });
});
