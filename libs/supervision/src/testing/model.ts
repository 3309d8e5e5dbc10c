import type { SupervisionSettings } from '../settings.js';
import type { TaskStatus } from '../task-status.js';

interface ModelTask {
  status: TaskStatus;
  attempts: number;
  starts: number[];
  isRunning: boolean;
  isToldToStop: boolean;
  isRestartWished: boolean;
  restartAt: number | undefined;
}

/**
 * What supervision is to do, told without promises: every verb acts in full before the next one, and time moves
 * only when told. Written apart from the library, formula and all, so that both would have to err alike.
 */
export class Model {
  readonly tasks: ModelTask[] = [];
  hasEnded = false;
  private now = 0;

  constructor(
    private readonly settings: SupervisionSettings,
    private readonly characters: readonly ('obedient' | 'stubborn')[],
  ) {}

  add(): void {
    const task: ModelTask = {
      status: 'created',
      attempts: 0,
      starts: [],
      isRunning: false,
      isToldToStop: false,
      isRestartWished: false,
      restartAt: undefined,
    };
    this.tasks.push(task);
    this.start(task);
  }

  advance(ms: number): void {
    const target = this.now + ms;
    for (const task of this.tasks) {
      if (task.restartAt === undefined || task.restartAt > target) continue;
      this.now = task.restartAt;
      this.start(task);
    }
    this.now = target;
  }

  endRun(task: ModelTask, how: 'complete' | 'fail'): void {
    if (!task.isRunning) return;
    if (task.isToldToStop) return this.endToldRun(task);
    task.isRunning = false;
    this.forgetIfStable(task);
    if (how === 'complete') task.status = 'completed';
    else this.fail(task);
  }

  restart(task: ModelTask): void {
    task.restartAt = undefined;
    if (!task.isRunning) return this.start(task);
    task.isRestartWished = true;
    this.tellToStop(task);
  }

  kill(task: ModelTask): void {
    task.restartAt = undefined;
    task.isRestartWished = false;
    if (task.status !== 'completed') task.status = 'dead';
    if (task.isRunning) this.tellToStop(task);
    this.giveUpIfTooManyAreDead();
  }

  shutdown(): void {
    this.hasEnded = true;
    for (const task of this.tasks) this.kill(task);
  }

  private start(task: ModelTask): void {
    task.status = 'healthy';
    task.isRunning = true;
    task.isToldToStop = false;
    task.restartAt = undefined;
    task.starts.push(this.now);
  }

  private fail(task: ModelTask): void {
    const { restartsMax, restartDelayBaseMs, restartExponentMax } = this.settings;
    if (task.attempts === restartsMax) {
      task.status = 'dead';
      this.giveUpIfTooManyAreDead();
    } else {
      task.attempts += 1;
      task.status = 'failed';
      let delayMs = restartDelayBaseMs;
      for (let i = 0; i < task.attempts && i < restartExponentMax; i += 1) delayMs *= 2;
      task.restartAt = this.now + delayMs;
    }
  }

  private tellToStop(task: ModelTask): void {
    if (!task.isToldToStop) {
      task.isToldToStop = true;
      this.forgetIfStable(task);
    }
    if (this.characters[this.tasks.indexOf(task)] === 'obedient') this.endToldRun(task);
  }

  private endToldRun(task: ModelTask): void {
    task.isRunning = false;
    if (!task.isRestartWished) return;
    task.isRestartWished = false;
    this.start(task);
  }

  private forgetIfStable(task: ModelTask): void {
    if (this.now - (task.starts.at(-1) ?? 0) >= this.settings.stableAfterMs) task.attempts = 0;
  }

  private giveUpIfTooManyAreDead(): void {
    const dead = this.tasks.filter((task) => task.status === 'dead').length;
    if (!this.hasEnded && dead / this.tasks.length > this.settings.deadShareMax) this.shutdown();
  }
}
