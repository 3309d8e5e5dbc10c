import type { Clock } from '#libs/clock';
import { attemptsAfterRun, planAfterFailure } from './restart-policy.js';
import type { SupervisionSettings } from './settings.js';
import { isOver, nextStatus, type TaskEvent, type TaskStatus } from './task-status.js';
import type { KillOutcome, RestartOutcome, Task, TaskNotice } from './task.js';

interface Run {
  readonly startedAt: number;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

interface Surroundings {
  readonly clock: Clock;
  readonly settings: SupervisionSettings;
  readonly notify: (notice: TaskNotice) => void;
}

/**
 * One task and its runs, of which there is never more than one: a run that was told to stop keeps its place
 * until it has ended, and a restart wished for meanwhile waits. Notifying comes last in every step, because the
 * supervisor may answer a notice by killing this very task.
 */
export class SupervisedTask {
  private current: TaskStatus = 'created';
  private attempts = 0;
  private run: Run | undefined;
  private scheduled: AbortController | undefined;
  private wish: PromiseWithResolvers<'restarted' | 'cancelled'> | undefined;

  constructor(
    readonly name: string,
    private readonly task: Task,
    private readonly surroundings: Surroundings,
  ) {}

  get status(): TaskStatus {
    return this.current;
  }

  start(): void {
    this.begin('started');
  }

  async restart(): Promise<RestartOutcome> {
    this.scheduled?.abort();
    if (this.run === undefined) {
      this.begin('restarted');
      return 'restarted';
    }
    this.wish ??= Promise.withResolvers();
    const { promise } = this.wish;
    this.stopRun();
    return this.withinGrace(promise);
  }

  async kill(): Promise<KillOutcome> {
    this.scheduled?.abort();
    this.wish?.resolve('cancelled');
    this.wish = undefined;
    const ended = this.run?.ended.then(() => 'ended' as const);
    // Dead before the signal is aborted: code that listens to the signal sees the truth.
    if (!isOver(this.current)) this.change('killed');
    this.stopRun();
    return ended ? this.withinGrace(ended) : 'ended';
  }

  private begin(event: 'started' | 'restarted'): void {
    const stop = new AbortController();
    const { signal } = stop;
    // The task's own code comes one tick later, when this object and the supervisor are at rest again.
    const ended = Promise.resolve()
      .then(() => (signal.aborted ? undefined : this.task(signal)))
      .then(
        () => (signal.aborted ? this.stopped() : this.returned()),
        (error: unknown) => (signal.aborted ? this.stopped(error) : this.threw(error)),
      );
    this.run = { startedAt: this.surroundings.clock.monotonic(), stop, ended };
    this.change(event);
  }

  private returned(): void {
    this.creditUptime();
    this.run = undefined;
    this.change('completed');
  }

  private threw(error: unknown): void {
    this.creditUptime();
    this.run = undefined;
    const plan = planAfterFailure(this.attempts, this.surroundings.settings);
    if (plan.action === 'give-up') {
      this.changeToFailed(error, undefined);
      this.change('exhausted');
    } else {
      this.attempts = plan.attempt;
      void this.startAfter(plan.delayMs);
      this.changeToFailed(error, plan.delayMs);
    }
  }

  /** A run that was told to stop has ended, in whatever way. It neither completes nor fails the task. */
  private stopped(error?: unknown): void {
    const { wish } = this;
    this.wish = undefined;
    this.run = undefined;
    if (error !== undefined && !isAbort(error)) {
      this.surroundings.notify({ task: this.name, event: 'stop-failed', error });
    }
    if (wish) {
      this.begin('restarted');
      wish.resolve('restarted');
    }
  }

  private async startAfter(delayMs: number): Promise<void> {
    const cancel = new AbortController();
    this.scheduled = cancel;
    await this.surroundings.clock.sleep(delayMs, cancel.signal);
    if (!cancel.signal.aborted) this.begin('started');
  }

  private stopRun(): void {
    if (this.run === undefined || this.run.stop.signal.aborted) return;
    // Uptime counts until now: the time that a run takes to end says nothing about its stability.
    this.creditUptime();
    this.run.stop.abort();
  }

  private creditUptime(): void {
    if (this.run === undefined) throw new Error('Invariant: only a run has uptime.');
    const uptimeMs = this.surroundings.clock.monotonic() - this.run.startedAt;
    this.attempts = attemptsAfterRun({ attempts: this.attempts, uptimeMs }, this.surroundings.settings);
  }

  private async withinGrace<T>(outcome: Promise<T>): Promise<T | 'still-running'> {
    const { clock, settings } = this.surroundings;
    const waited = new AbortController();
    const grace = clock.sleep(settings.stopGraceMs, waited.signal).then(() => 'still-running' as const);
    try {
      return await Promise.race([outcome, grace]);
    } finally {
      waited.abort();
    }
  }

  private change(event: Exclude<TaskEvent, 'failed'>): void {
    const from = this.current;
    this.current = nextStatus(from, event);
    this.surroundings.notify({ task: this.name, event, from, to: this.current });
  }

  private changeToFailed(error: unknown, restartInMs: number | undefined): void {
    const from = this.current;
    this.current = nextStatus(from, 'failed');
    this.surroundings.notify({
      task: this.name,
      event: 'failed',
      from,
      to: this.current,
      error,
      restartInMs,
    });
  }
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}
