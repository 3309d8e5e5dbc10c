import { spawn } from 'node:child_process';
import { childEnvironment } from '#libs/config';
import { isProcessAlive } from '#libs/embedded';
import type { WorkerLogs } from './worker-log.js';
import type { WorkerKind } from './worker-state.js';

/** A process of a worker, be it our child or one that an earlier orchestrator left behind. */
export interface WorkerProcess {
  readonly pid: number;
  /** Our child tells us when it ends; at any other process we have to look. */
  readonly isChild: boolean;
  isAlive(): boolean;
  signal(signal: 'SIGTERM' | 'SIGKILL'): void;
}

export interface Assignment {
  readonly kind: WorkerKind;
  readonly id: string;
}

export class WorkerSpawner {
  constructor(
    private readonly program: { readonly main: string; readonly env: Record<string, string> },
    private readonly logs: WorkerLogs,
  ) {}

  /** In a session of its own: Ctrl-C in the terminal and the death of the orchestrator do not reach it. */
  spawn({ kind, id }: Assignment, ended: () => void): WorkerProcess {
    const log = this.logs.open(id);
    try {
      const child = spawn(process.execPath, ['--enable-source-maps', this.program.main, kind, id], {
        env: childEnvironment(this.program.env),
        stdio: ['ignore', log.fd, log.fd],
        detached: true,
      });
      let isAlive = child.pid !== undefined;
      const end = (): void => {
        isAlive = false;
        ended();
      };
      child.once('exit', end);
      child.once('error', end);
      return {
        pid: child.pid ?? 0,
        isChild: true,
        isAlive: () => isAlive,
        signal: (signal) => void child.kill(signal),
      };
    } finally {
      log.close();
    }
  }

  /** A process of this machine that works on this assignment; undefined when the id belongs to anything else. */
  find({ kind, id }: Assignment, pid: number): WorkerProcess | undefined {
    const isAlive = (): boolean => isProcessAlive(pid, ` ${kind} ${id} `);
    if (!isAlive()) return undefined;
    return { pid, isChild: false, isAlive, signal: (signal) => isAlive() && process.kill(pid, signal) };
  }
}
