import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { join } from 'node:path';

const BYTES_MAX = 5 * 2 ** 20;

/**
 * What workers say, a file each. Workers write into their file directly, so that they lose neither their voice nor
 * their life with the orchestrator; they append, so that the file can be cut under them.
 */
export class WorkerLogs {
  private readonly folder: string;

  constructor(dataDir: string) {
    this.folder = join(dataDir, 'logs');
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
  }

  /** For a process to inherit; to be closed by whoever opened it. */
  open(id: string): { fd: number; close: () => void } {
    const fd = openSync(this.path(id), 'a', 0o600);
    return { fd, close: () => closeSync(fd) };
  }

  /** Keeps one older file beside the current one, so that a worker takes twice the limit at most. */
  rotate(id: string): void {
    const path = this.path(id);
    if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) <= BYTES_MAX) return;
    copyFileSync(path, `${path}.1`);
    truncateSync(path);
  }

  /** The newest lines, oldest first. */
  read(id: string, lines: number): string[] {
    const current = this.readLines(this.path(id));
    if (current.length >= lines) return current.slice(-lines);
    return [...this.readLines(`${this.path(id)}.1`), ...current].slice(-lines);
  }

  private readLines(path: string): string[] {
    return existsSync(path)
      ? readFileSync(path, 'utf8')
          .split('\n')
          .filter((line) => line !== '')
      : [];
  }

  private path(id: string): string {
    return join(this.folder, `${id}.log`);
  }
}
