import { closeSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { EmbeddedError } from './embedded-error.js';

/**
 * One orchestrator per data folder. Node has no file locks of its own, but SQLite takes one from the kernel for an
 * exclusive transaction: it cannot outlive its process, so a killed orchestrator leaves nothing to clean up.
 */
export class DataDirectoryLock {
  private constructor(
    private readonly database: DatabaseSync,
    private readonly paths: { lock: string; pid: string },
  ) {}

  static acquire(dataDir: string): DataDirectoryLock {
    const paths = { lock: join(dataDir, 'orchestrator.lock'), pid: join(dataDir, 'orchestrator.pid') };
    // A holder that stops removes the file. If it did so between our opening and our locking, we hold a lock on a
    // file that nobody else will ever see, and must try again.
    for (;;) {
      closeSync(openSync(paths.lock, 'a', 0o600));
      const opened = statSync(paths.lock, { throwIfNoEntry: false })?.ino;
      const database = new DatabaseSync(paths.lock, { timeout: 0 });
      if (!tryLock(database)) throw alreadyRunning(dataDir, paths.pid);
      if (opened !== undefined && statSync(paths.lock, { throwIfNoEntry: false })?.ino === opened) {
        writeFileSync(paths.pid, `${process.pid}\n`);
        return new DataDirectoryLock(database, paths);
      }
      database.close();
    }
  }

  /** Removes the files before the lock goes, so that a successor's files are never taken for ours. */
  release(): void {
    if (!this.database.isOpen) return;
    rmSync(this.paths.pid, { force: true });
    rmSync(this.paths.lock, { force: true });
    this.database.close();
  }
}

function tryLock(database: DatabaseSync): boolean {
  try {
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return true;
  } catch {
    database.close();
    return false;
  }
}

function alreadyRunning(dataDir: string, pidPath: string): EmbeddedError {
  return new EmbeddedError(
    `An orchestrator is already running on DATA_DIR ${dataDir}${holder(pidPath)}. Stop it first, or set DATA_DIR and PORT to run a second system.`,
  );
}

function holder(pidPath: string): string {
  try {
    return ` (process ${readFileSync(pidPath, 'utf8').trim()})`;
  } catch {
    return '';
  }
}
