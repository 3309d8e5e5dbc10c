import type { Clock } from '#libs/clock';
import { areTooManyDead } from './restart-policy.js';
import { completeSettings, type SupervisionSettings } from './settings.js';
import { SupervisedTask } from './supervised-task.js';
import type { TaskStatus } from './task-status.js';
import type { KillOutcome, RestartOutcome, Task, TaskNotice } from './task.js';

export interface SupervisorOptions {
  readonly clock: Clock;
  readonly settings?: Partial<SupervisionSettings>;
  /** Told of every change, in order, after it happened. What it throws is an uncaught exception of the process. */
  readonly observer?: (notice: TaskNotice) => void;
}

/** Still running are the tasks that had not heeded their signal when the grace was over; nobody waits for them. */
export type SupervisionEnd =
  | { readonly reason: 'shutdown'; readonly stillRunning: readonly string[] }
  | {
      readonly reason: 'too-many-dead';
      readonly dead: readonly string[];
      readonly stillRunning: readonly string[];
    };

export class UnknownTask extends Error {
  constructor(readonly task: string) {
    super(`Expected the name of a supervised task, got ${JSON.stringify(task)}.`);
    this.name = 'UnknownTask';
  }
}

export class SupervisionEnded extends Error {
  constructor() {
    super('Supervision has ended, so nothing can be started any more; make a new supervisor.');
    this.name = 'SupervisionEnded';
  }
}

export class Supervisor {
  private readonly tasks = new Map<string, SupervisedTask>();
  private readonly settings: SupervisionSettings;
  private readonly end = Promise.withResolvers<SupervisionEnd>();
  private phase: 'idle' | 'running' | 'ended' = 'idle';

  constructor(private readonly options: SupervisorOptions) {
    this.settings = completeSettings(options.settings ?? {});
  }

  start(): void {
    this.assertNotEnded();
    if (this.phase === 'running') throw new Error('Expected a supervisor that has not been started yet.');
    this.phase = 'running';
    for (const task of this.tasks.values()) {
      if (task.status === 'created') task.start();
    }
    this.giveUpIfTooManyAreDead();
  }

  /** The task starts with the supervisor, or at once when that has started. */
  addTask(name: string, run: Task): void {
    this.assertNotEnded();
    if (this.tasks.has(name)) {
      throw new Error(`Expected a new name for a task, but ${JSON.stringify(name)} is supervised already.`);
    }
    const { clock } = this.options;
    const task = new SupervisedTask(name, run, { clock, settings: this.settings, notify: this.notify });
    this.tasks.set(name, task);
    if (this.phase === 'running') task.start();
  }

  /**
   * Starts the task at once whatever its status, or as soon as its present run has ended; revives dead and
   * completed tasks. Failures already counted stay counted.
   */
  async restart(name: string): Promise<RestartOutcome> {
    this.assertNotEnded();
    const task = this.getTask(name);
    if (this.phase === 'idle') throw new Error('Expected a started supervisor; start it before restarting a task.');
    return task.restart();
  }

  /** The task is dead when this returns its promise, and stays so unless restarted; the promise waits for its run. */
  async killTask(name: string): Promise<KillOutcome> {
    return this.getTask(name).kill();
  }

  getTaskStatus(name: string): TaskStatus {
    return this.getTask(name).status;
  }

  getAllTaskStatuses(): ReadonlyMap<string, TaskStatus> {
    return new Map(Array.from(this.tasks.values(), (task) => [task.name, task.status]));
  }

  /** Resolves when all runs have ended or the grace is over. Later calls get the same answer. */
  shutdown(): Promise<SupervisionEnd> {
    if (this.phase !== 'ended') this.finish({ reason: 'shutdown' });
    return this.end.promise;
  }

  /** Resolves when supervision ends, by shutdown or by giving up; tasks that are all over do not end it. */
  wait(): Promise<SupervisionEnd> {
    return this.end.promise;
  }

  private readonly notify = (notice: TaskNotice): void => {
    const { observer } = this.options;
    // In a tick of its own, so that an observer may call any verb and its faults cannot reach the supervision.
    if (observer) queueMicrotask(() => observer(notice));
    if (notice.event === 'exhausted' || notice.event === 'killed') this.giveUpIfTooManyAreDead();
  };

  private giveUpIfTooManyAreDead(): void {
    if (this.phase !== 'running') return;
    const tasks = [...this.tasks.values()];
    const isGivingUp = areTooManyDead(
      tasks.map((task) => task.status),
      this.settings,
    );
    if (!isGivingUp) return;
    const dead = tasks.filter((task) => task.status === 'dead').map((task) => task.name);
    this.finish({ reason: 'too-many-dead', dead });
  }

  private finish(cause: { reason: 'shutdown' } | { reason: 'too-many-dead'; dead: string[] }): void {
    this.phase = 'ended';
    this.end.resolve(this.killAll().then((stillRunning) => ({ ...cause, stillRunning })));
  }

  private async killAll(): Promise<string[]> {
    const outcomes = await Promise.all(
      Array.from(this.tasks.values(), async (task) => ({ name: task.name, outcome: await task.kill() })),
    );
    return outcomes.filter(({ outcome }) => outcome === 'still-running').map(({ name }) => name);
  }

  private getTask(name: string): SupervisedTask {
    const task = this.tasks.get(name);
    if (task === undefined) throw new UnknownTask(name);
    return task;
  }

  private assertNotEnded(): void {
    if (this.phase === 'ended') throw new SupervisionEnded();
  }
}
