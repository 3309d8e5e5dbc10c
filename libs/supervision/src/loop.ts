import type { Clock } from '#libs/clock';
import type { Task } from './task.js';

interface LoopSettings {
  readonly name: string;
  /** From the beginning of one run to the beginning of the next; a run that takes longer is followed at once. */
  readonly intervalMs: number;
  runOnce(signal: AbortSignal): Promise<void>;
  /** Asked when a run is due. While it says no, nothing runs, and nothing counts as a run. */
  mayRun?(): boolean;
}

export interface LoopObserver {
  /** Without an error the run was good. */
  ran(loop: string, run: { readonly durationMs: number; readonly error?: unknown }): void;
}

/** How a loop fares at one moment. Stamps are Unix ms, and undefined before the first run. */
export interface LoopState {
  readonly intervalMs: number;
  readonly isHealthy: boolean;
  /** Since the last good run ended; before the first one, since the loop was made. */
  readonly goodAgoMs: number;
  readonly lastRunAt: number | undefined;
  readonly lastGoodRunAt: number | undefined;
  readonly durationMs: number | undefined;
  /** For how long the present run has been under way. */
  readonly runningForMs: number | undefined;
  readonly failures: number;
  /** What the last run failed with. */
  readonly error: unknown;
}

/**
 * The one rule of health for anything that repeats: what went well less than twice its interval ago is healthy. A run
 * that is stuck or fails again and again therefore shows in the same way as one that never begins.
 */
export function isHealthyAfter(goodAgoMs: number, intervalMs: number): boolean {
  return goodAgoMs < 2 * intervalMs;
}

/** Work that repeats, one run at a time, and knows how it fares. A run that fails is told, and the next may do better. */
export class Loop {
  readonly name: string;
  private readonly madeAt: number;
  private last: { readonly endedAt: number; readonly stamp: number; readonly durationMs: number } | undefined;
  private lastGood: { readonly endedAt: number; readonly stamp: number } | undefined;
  private runningSince: number | undefined;
  private failures = 0;
  private error: unknown;

  constructor(
    private readonly settings: LoopSettings,
    private readonly around: { readonly clock: Clock; readonly observer: LoopObserver },
  ) {
    this.name = settings.name;
    this.madeAt = around.clock.monotonic();
  }

  /** For a supervisor: repeats until the signal, and lets the run that is under way finish. */
  readonly task: Task = async (signal) => {
    const { clock } = this.around;
    while (!signal.aborted) {
      const startedAt = clock.monotonic();
      await this.runOnce(signal);
      await clock.sleep(Math.max(0, this.settings.intervalMs - (clock.monotonic() - startedAt)), signal);
    }
  };

  async runOnce(signal: AbortSignal): Promise<void> {
    if (this.settings.mayRun?.() === false) return;
    const startedAt = this.around.clock.monotonic();
    this.runningSince = startedAt;
    try {
      await this.settings.runOnce(signal);
      this.ended(startedAt);
    } catch (error) {
      // A run that was told to stop and says so has not failed.
      if (!signal.aborted) this.ended(startedAt, error ?? new Error('The run failed without saying why.'));
    } finally {
      this.runningSince = undefined;
    }
  }

  state(): LoopState {
    const now = this.around.clock.monotonic();
    const { intervalMs } = this.settings;
    const goodAgoMs = now - (this.lastGood?.endedAt ?? this.madeAt);
    return {
      ...{ intervalMs, goodAgoMs, isHealthy: isHealthyAfter(goodAgoMs, intervalMs) },
      ...{ lastRunAt: this.last?.stamp, lastGoodRunAt: this.lastGood?.stamp, durationMs: this.last?.durationMs },
      runningForMs: this.runningSince === undefined ? undefined : now - this.runningSince,
      ...{ failures: this.failures, error: this.error },
    };
  }

  private ended(startedAt: number, error?: unknown): void {
    const { clock, observer } = this.around;
    const endedAt = clock.monotonic();
    const durationMs = endedAt - startedAt;
    this.last = { endedAt, stamp: clock.now(), durationMs };
    this.error = error;
    if (error === undefined) this.lastGood = this.last;
    else this.failures += 1;
    observer.ran(this.name, error === undefined ? { durationMs } : { durationMs, error });
  }
}

/** Why a loop is not healthy, for people. */
export function explainLoop(
  name: string,
  state: Pick<LoopState, 'goodAgoMs' | 'intervalMs' | 'runningForMs' | 'lastGoodRunAt'> & { readonly error?: unknown },
): string {
  const { goodAgoMs, intervalMs, runningForMs, lastGoodRunAt, error } = state;
  const last = lastGoodRunAt === undefined ? 'has had no good run for' : 'had its last good run';
  const ago = lastGoodRunAt === undefined ? '' : ' ago';
  const words = [`The loop ${name} ${last} ${seconds(goodAgoMs)}${ago}, and its interval is ${seconds(intervalMs)}.`];
  if (error !== undefined) words.push(`Its last run failed: ${messageOf(error)}`);
  if (runningForMs !== undefined) words.push(`A run has been under way for ${seconds(runningForMs)}.`);
  return words.join(' ');
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function seconds(ms: number): string {
  return `${Number((ms / 1000).toFixed(1))} s`;
}
