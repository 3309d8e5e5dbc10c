import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TaskNotice } from '../index.js';
import { Model } from './testing/model.js';
import type { Puppet } from './testing/puppet.js';
import { scripts, TASKS_MAX, ticks, type Step } from './testing/script.js';
import { setupStarted } from './testing/setup.js';

const nameOf = (index: number): string => `task-${index}`;

function play(
  context: ReturnType<typeof setupStarted>,
  puppets: Puppet[],
  characters: readonly ('obedient' | 'stubborn')[],
): (step: Step) => Promise<void> {
  const { clock, supervisor, add } = context;
  return async (step) => {
    if (step.act === 'advance') return clock.advance(step.ms);
    if (step.act === 'add') return void puppets.push(add(nameOf(puppets.length), characters[puppets.length]));
    // A script does not wait for the answers: it goes on while runs are still ending.
    if (step.act === 'shutdown') return void supervisor.shutdown();
    if (step.act === 'kill') return void supervisor.killTask(nameOf(step.task));
    if (step.act === 'restart') return void supervisor.restart(nameOf(step.task)).catch(expectEnded);
    puppets[step.task]?.[step.act]();
  };
}

/** Steps that a caller would be refused: they are tested by name elsewhere. */
function isPossible(step: Step, state: { tasks: number; hasEnded: boolean }): boolean {
  if (step.act === 'add') return !state.hasEnded && state.tasks < TASKS_MAX;
  if (step.act === 'restart' && state.hasEnded) return false;
  return 'task' in step ? step.task < state.tasks : true;
}

function applyToModel(model: Model, step: Step): void {
  if (step.act === 'advance') return model.advance(step.ms);
  if (step.act === 'shutdown') return model.hasEnded ? undefined : model.shutdown();
  if (step.act === 'add') return model.add();
  const task = model.tasks[step.task];
  if (task === undefined) throw new Error('Expected a task of the model.');
  if (step.act === 'kill') model.kill(task);
  else if (step.act === 'restart') model.restart(task);
  else model.endRun(task, step.act);
}

describe('Under any script of failures, completions, kills, restarts and time', () => {
  it('statuses, runs and the times of their starts are those of the model', async () => {
    await fc.assert(
      fc.asyncProperty(scripts, async ({ settings, characters, script }) => {
        const context = setupStarted(settings);
        const puppets: Puppet[] = [];
        const act = play(context, puppets, characters);
        const model = new Model(settings, characters);
        for (const step of script) {
          if (!isPossible(step, { tasks: model.tasks.length, hasEnded: model.hasEnded })) continue;
          await act(step);
          await context.settle();
          applyToModel(model, step);
          expect([...context.supervisor.getAllTaskStatuses().values()]).toEqual(model.tasks.map((task) => task.status));
          expect(puppets.map((puppet) => puppet.live.size)).toEqual(model.tasks.map((task) => Number(task.isRunning)));
          expect(puppets.map((puppet) => puppet.startTimes())).toEqual(model.tasks.map((task) => task.starts));
        }
      }),
      { numRuns: 500 },
    );
  });

  it('no task runs twice at once, statuses follow the arrows, and after the end nothing starts', async () => {
    await fc.assert(
      fc.asyncProperty(scripts, ticks, async ({ settings, characters, script }, ticksAfter) => {
        const context = setupStarted(settings);
        const puppets: Puppet[] = [];
        const act = play(context, puppets, characters);
        let hasEnded = false;
        void context.supervisor.wait().then(() => (hasEnded = true));
        for (const step of script) {
          // The supervisor may have given up without its end being known here yet, so a refusal is in order.
          if (isPossible(step, { tasks: puppets.length, hasEnded })) await act(step).catch(expectEnded);
          for (let left = ticksAfter.next().value; left > 0; left -= 1) await Promise.resolve();
        }
        await expectSilenceAfterShutdown(context, puppets);
        expect(puppets.every((puppet) => puppet.liveMax <= 1)).toBe(true);
        expectArrows(context.notices);
      }),
      { numRuns: 500 },
    );
  });
});

function expectEnded(error: unknown): void {
  expect(error).toHaveProperty('name', 'SupervisionEnded');
}

async function expectSilenceAfterShutdown(context: ReturnType<typeof setupStarted>, puppets: Puppet[]): Promise<void> {
  const end = context.supervisor.shutdown();
  await context.clock.advance(50);
  const { stillRunning } = await end;
  const liveNow = puppets.flatMap((puppet, index) => (puppet.live.size > 0 ? [nameOf(index)] : []));
  expect(stillRunning).toEqual(expect.arrayContaining(liveNow));
  const runs = puppets.map((puppet) => puppet.runs.length);
  for (const puppet of puppets) puppet.fail();
  await context.clock.advance(3_600_000);
  expect(puppets.map((puppet) => puppet.runs.length)).toEqual(runs);
  expect(new Set(context.supervisor.getAllTaskStatuses().values())).not.toContain('healthy');
}

const arrows = [
  'created started healthy',
  'created killed dead',
  'healthy completed completed',
  'healthy failed failed',
  'healthy restarted healthy',
  'healthy killed dead',
  'failed started healthy',
  'failed restarted healthy',
  'failed exhausted dead',
  'failed killed dead',
  'completed restarted healthy',
  'dead restarted healthy',
];

function expectArrows(notices: readonly TaskNotice[]): void {
  const last = new Map<string, string>();
  for (const notice of notices) {
    if (notice.event === 'stop-failed') continue;
    expect(arrows).toContain(`${notice.from} ${notice.event} ${notice.to}`);
    expect(notice.from).toBe(last.get(notice.task) ?? 'created');
    last.set(notice.task, notice.to);
  }
}
