import { closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { OperatorError } from '#libs/operator';

const BUSY_TIMEOUT_MS = 5_000;

/**
 * Each entry brings a file from the version that is its index to the next one. A released entry stays as it is: files
 * that have passed it never come back to it.
 */
const MIGRATIONS = [
  `create table candles (
     ts integer primary key constraint candle_starts_with_its_minute check (ts % 60000 = 0),
     open text not null,
     high text not null,
     low text not null,
     close text not null,
     volume text not null
   ) strict;
   create table decisions (
     epoch integer primary key,
     ts integer not null,
     decision text not null constraint decision_is_known check (decision in ('ENTER', 'LEAVE', 'HOLD')),
     reason text not null
   ) strict;
   -- Apart from the decisions, so that the count goes on when they are pruned.
   create table epoch_counter (
     id integer primary key constraint epoch_counter_has_one_row check (id = 1),
     latest integer not null
   ) strict;
   insert into epoch_counter (id, latest) values (1, 0);`,
];

/** Opens the file of a pair, made and migrated as needed. A file that is refused stays as it was, byte for byte. */
export function openPairFile(path: string): DatabaseSync {
  try {
    createIfAbsent(path);
    inspect(path);
    return openForWriting(path);
  } catch (error) {
    throw explained(path, error);
  }
}

/** Commits what the work did, or nothing of it. */
export function transaction<T>(database: DatabaseSync, work: () => T): T {
  database.exec('begin immediate');
  try {
    const result = work();
    database.exec('commit');
    return result;
  } catch (error) {
    // Some failures, such as a full disk, make SQLite roll back by itself.
    if (database.isTransaction) database.exec('rollback');
    throw error;
  }
}

/** SQLite would make the file readable for everybody; the files that it puts beside it follow this one's mode. */
function createIfAbsent(path: string): void {
  try {
    // Not opened if it exists: closing it again would drop the locks that this process holds on it through SQLite.
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'EEXIST') throw error;
  }
}

/**
 * Looks before anything is written. Read-only, because a writer that closes a file folds the log beside it into it,
 * and so would touch a file that is then refused.
 */
function inspect(path: string): void {
  const database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
  try {
    const finding = database.prepare('pragma quick_check(1)').get()?.['quick_check'];
    // A finding stands below a heading.
    if (finding !== 'ok') throw damaged(path, String(finding).split('\n').at(-1));
    const version = versionOf(database);
    if (version > MIGRATIONS.length) throw tooNew(path, version);
  } catch (error) {
    // A process that died while it made the file left a change half done. Only a writer can take it back, and will.
    if (sqliteCodeOf(error) !== SQLITE.readonly) throw error;
  } finally {
    database.close();
  }
}

function openForWriting(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    // What was committed survives the death of the process. A power cut may take the latest commits, epochs included,
    // and leaves the file sound.
    database.exec('pragma journal_mode = wal; pragma synchronous = normal');
    transaction(database, () => migrate(database));
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function migrate(database: DatabaseSync): void {
  const pending = MIGRATIONS.slice(versionOf(database));
  if (pending.length === 0) return;
  for (const sql of pending) database.exec(sql);
  database.exec(`pragma user_version = ${MIGRATIONS.length}`);
}

function versionOf(database: DatabaseSync): number {
  return Number(database.prepare('pragma user_version').get()?.['user_version']);
}

/** SQLite's primary result codes for what a person can mend. */
const SQLITE = { perm: 3, busy: 5, readonly: 8, ioerr: 10, corrupt: 11, full: 13, cantopen: 14, notadb: 26 };

function explained(path: string, error: unknown): unknown {
  const code = sqliteCodeOf(error);
  if (code === SQLITE.corrupt || code === SQLITE.notadb) return damaged(path, error);
  if (!isSystemError(error) && !Object.values(SQLITE).some((known) => known === code)) return error;
  return new OperatorError(
    `The store ${path} cannot be opened (${messageOf(error)}). See that its folder exists, that this user may write there, that the disk has space left and that no other process holds the file.`,
    { cause: error },
  );
}

function damaged(path: string, evidence: unknown): OperatorError {
  return new OperatorError(
    `The store ${path} is damaged (${messageOf(evidence)}). Nothing was changed. Put a backup in its place, or move it and the files -wal and -shm beside it away to start with an empty one, whose epochs count from 1 again.`,
    { cause: evidence },
  );
}

function tooNew(path: string, version: number): OperatorError {
  return new OperatorError(
    `The store ${path} has version ${version} and was written by a newer Flotilla; this one knows versions up to ${MIGRATIONS.length}. Start that Flotilla or a later one. Nothing was changed.`,
  );
}

/** The primary code, without the details that SQLite adds in the higher bits; undefined for errors of others. */
function sqliteCodeOf(error: unknown): number | undefined {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'
    ? error.errcode & 0xff
    : undefined;
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
