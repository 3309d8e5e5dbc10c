import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { inject, onTestFinished } from 'vitest';

const SURROUNDINGS = { PATH: process.env['PATH'] ?? '', HOME: tmpdir(), PORT: '0', DRAIN_MS: '0' };

/** A process of ours, started as a user would, with everything it says. */
export class Started {
  output = '';
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  private readonly waiting = new Set<() => void>();

  constructor(readonly child: ChildProcess) {
    const collect = (chunk: Buffer): void => {
      this.output += chunk.toString();
      for (const notice of this.waiting) notice();
    };
    child.stdout?.on('data', collect);
    child.stderr?.on('data', collect);
    this.exited = new Promise((done) => child.once('close', (code, signal) => done({ code, signal })));
    void this.exited.then(() => {
      for (const notice of this.waiting) notice();
    });
  }

  get pid(): number {
    if (this.child.pid === undefined) throw new Error('Expected the process to have started.');
    return this.child.pid;
  }

  /** Resolves with the match once the process says it; rejects when the process ends without. */
  async says(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.output);
      if (match) return match;
      if (this.child.exitCode !== null || this.child.signalCode !== null) {
        throw new Error(`The process ended without saying ${pattern}. It said:\n${this.output}`);
      }
      await new Promise<void>((wake) => {
        const notice = (): void => {
          this.waiting.delete(notice);
          wake();
        };
        this.waiting.add(notice);
      });
    }
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill(signal);
    return this.exited;
  }
}

/** Runs a compiled app on a free port, and stops it when the test ends. */
export function startApp(
  app: 'orchestrator' | 'worker' | 'paper-venue',
  options: { env: Record<string, string>; args?: string[] },
): Started {
  return start(process.execPath, [mainOf(app), ...(options.args ?? [])], options.env);
}

export function mainOf(app: string): string {
  return resolve('dist', 'apps', app, 'src', 'main.js');
}

export function start(program: string, args: readonly string[], env: Record<string, string>): Started {
  const started = launch(program, args, env);
  onTestFinished(async () => {
    await started.stop();
  });
  return started;
}

/** For whoever stops it again. */
export function launch(program: string, args: readonly string[], env: Record<string, string>): Started {
  return new Started(
    spawn(program, args, {
      env: { ...SURROUNDINGS, VENUES_FILE: inject('venuesFile'), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
}

/** An empty DATA_DIR. Whatever still runs on it at the end is stopped by a last orderly start and stop. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
