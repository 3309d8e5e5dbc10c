import { closeSync, openSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/**
 * Whose the private servers of a data folder are. Node has no file locks of its own, but SQLite takes one from the kernel for an
 * exclusive transaction: it cannot outlive its process, so a killed owner leaves nothing to clean up.
 */
export class DataDirectoryLock {
  private constructor(
    private readonly database: DatabaseSync,
    private readonly path: string,
  ) {}

  /** Undefined when another process holds it. */
  static tryAcquire(dataDir: string): DataDirectoryLock | undefined {
    const path = join(dataDir, 'orchestrator.lock');
    // A holder that stops removes the file. If it did so between our opening and our locking, we hold a lock on a
    // file that nobody else will ever see, and must try again.
    for (;;) {
      closeSync(openSync(path, 'a', 0o600));
      const opened = statSync(path, { throwIfNoEntry: false })?.ino;
      const database = new DatabaseSync(path, { timeout: 0 });
      if (!tryLock(database)) return undefined;
      if (opened !== undefined && statSync(path, { throwIfNoEntry: false })?.ino === opened) {
        return new DataDirectoryLock(database, path);
      }
      database.close();
    }
  }

  /** Removes the file before the lock goes, so that a successor's file is never taken for ours. */
  release(): void {
    if (!this.database.isOpen) return;
    rmSync(this.path, { force: true });
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
