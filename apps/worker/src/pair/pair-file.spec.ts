import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ManualClock } from '#libs/clock';
import { Decimal } from '#libs/money';
import { OperatorError } from '#libs/operator';
import { MINUTE_MS } from './candle.js';
import { PairStore } from './pair-store.js';

const PAGE_BYTES = 4096;

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pair-file-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function setup() {
  const folder = temporaryFolder();
  const path = join(folder, 'BTC-USD.sqlite');
  const open = (file = path): PairStore => {
    const store = PairStore.open(file, { clock: new ManualClock() });
    onTestFinished(() => store.close());
    return store;
  };
  return { folder, path, open };
}

/** A store as a worker leaves it that is killed: the candles are in the file, the decision is in the log beside it. */
function setupKilled() {
  const { path: running, open } = setupClosed();
  open().recordDecision({ ts: 0, decision: 'ENTER', reason: 'because' });
  const path = join(temporaryFolder(), 'BTC-USD.sqlite');
  for (const suffix of ['', '-wal', '-shm']) cpSync(running + suffix, path + suffix);
  return { path, open: () => open(path) };
}

function setupClosed() {
  const { path, open } = setup();
  const store = open();
  const price = Decimal.parse('100');
  const prices = { open: price, high: price, low: price, close: price, volume: price };
  store.saveCandles(Array.from({ length: 1_000 }, (_none, minute) => ({ ts: minute * MINUTE_MS, ...prices })));
  store.close();
  return { path, open };
}

function change(path: string, sql: string): void {
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
}

function refusalOf(open: () => PairStore): string {
  try {
    open();
  } catch (error) {
    expect(error).toBeInstanceOf(OperatorError);
    return (error as OperatorError).message;
  }
  throw new Error('Expected the store to be refused.');
}

describe('Opening the file of a pair', () => {
  it('makes it, and the files beside it, readable for their owner only', () => {
    const { path, open } = setup();
    open().saveCandles([]);
    expect(['', '-wal', '-shm'].map((suffix) => statSync(path + suffix).mode & 0o777)).toEqual([0o600, 0o600, 0o600]);
  });

  it('leaves the mode of a file alone that exists', () => {
    const { path, open } = setup();
    writeFileSync(path, '', { mode: 0o640 });
    open();
    expect(statSync(path).mode & 0o777).toBe(0o640);
  });

  it('keeps a log ahead of the file, and its version in the file', () => {
    const { path, open } = setup();
    open();
    const database = new DatabaseSync(path, { readOnly: true });
    onTestFinished(() => database.close());
    expect(database.prepare('pragma journal_mode').get()).toMatchObject({ journal_mode: 'wal' });
    expect(database.prepare('pragma user_version').get()).toMatchObject({ user_version: 1 });
  });

  it('finds all that a killed worker had committed', () => {
    const { open } = setupKilled();
    const store = open();
    expect(store.readCandles({ from: 0, to: 60_000_000, limit: 10_000 })).toHaveLength(1_000);
    expect(store.latestEpoch()).toBe(1);
  });

  it('takes back what a worker had half done that was killed while it made the file', () => {
    const { path, open } = setup();
    const other = join(temporaryFolder(), 'other.sqlite');
    const database = new DatabaseSync(other);
    // A cache of one page spills the unfinished change into the file, and what it replaced into the journal.
    database.exec(
      `pragma cache_size = 1; create table kept (text text); begin; create table unfinished (text text);
       with recursive n (i) as (select 1 union all select i + 1 from n where i < 1000)
       insert into unfinished select hex(randomblob(100)) from n`,
    );
    for (const suffix of ['', '-journal']) cpSync(other + suffix, path + suffix);
    database.close();
    expect(open().latestEpoch()).toBe(0);
  });

  it('can be done by two at once, which then see each other’s writes', () => {
    const { open } = setup();
    const [one, other] = [open(), open()];
    expect(one.recordDecision({ ts: 0, decision: 'HOLD', reason: 'one' })).toEqual({ epoch: 1 });
    expect(other.recordDecision({ ts: 0, decision: 'HOLD', reason: 'other' })).toEqual({ epoch: 2 });
    expect(one.latestEpoch()).toBe(2);
  });

  it('leaves nothing behind of a migration that fails', () => {
    const { path, open } = setup();
    change(path, 'create table decisions (text text)');
    expect(() => open()).toThrow('table decisions already exists');
    const database = new DatabaseSync(path);
    onTestFinished(() => database.close());
    expect(database.prepare('select name from sqlite_schema').all()).toMatchObject([{ name: 'decisions' }]);
    expect(database.prepare('pragma user_version').get()).toMatchObject({ user_version: 0 });
  });
});

describe('A file that is refused', () => {
  it('is one of a newer version, which says so and stays as it was', () => {
    const { path, open } = setupClosed();
    change(path, 'pragma user_version = 2');
    const before = readFileSync(path);
    expect(refusalOf(open)).toBe(
      `The store ${path} has version 2 and was written by a newer Flotilla; this one knows versions up to 1. Start that Flotilla or a later one. Nothing was changed.`,
    );
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it('is one of a newer version in another journal mode, which it keeps', () => {
    const { path, open } = setup();
    change(path, 'pragma journal_mode = delete; pragma user_version = 7');
    const before = readFileSync(path);
    expect(refusalOf(open)).toContain('has version 7');
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it.each<[string, (bytes: Buffer) => Buffer]>([
    ['text', () => Buffer.from('no database at all\n'.repeat(1_000))],
    ['too short', () => Buffer.from('SQLite')],
    ['cut off', (bytes) => bytes.subarray(0, 5 * PAGE_BYTES)],
    ['overwritten in the middle', (bytes) => Buffer.from(bytes).fill(0x7f, 6 * PAGE_BYTES, 7 * PAGE_BYTES)],
  ])('is one that is %s: it is called damaged and stays as it was', (_name, damage) => {
    const { path, open } = setupClosed();
    const damagedBytes = damage(readFileSync(path));
    writeFileSync(path, damagedBytes);
    expect(refusalOf(open)).toMatch(
      /^The store .+BTC-USD\.sqlite is damaged \(.+\)\. Nothing was changed\. Put a backup/,
    );
    expect(readFileSync(path).equals(damagedBytes)).toBe(true);
  });

  it('keeps the log beside it, out of which a person may rescue something', () => {
    const { path, open } = setupKilled();
    writeFileSync(path, readFileSync(path).fill(0x7f, 6 * PAGE_BYTES, 7 * PAGE_BYTES));
    const log = readFileSync(`${path}-wal`);
    expect(refusalOf(open)).toContain('is damaged');
    expect(readFileSync(`${path}-wal`).equals(log)).toBe(true);
  });

  it('is not folded together with its log when it is of a newer version', () => {
    const { path } = setupKilled();
    const newer = new DatabaseSync(path);
    newer.exec('pragma user_version = 2');
    const copy = join(temporaryFolder(), 'BTC-USD.sqlite');
    for (const suffix of ['', '-wal', '-shm']) cpSync(path + suffix, copy + suffix);
    newer.close();
    const before = ['', '-wal'].map((suffix) => readFileSync(copy + suffix));
    expect(refusalOf(() => PairStore.open(copy, { clock: new ManualClock() }))).toContain('has version 2');
    expect(['', '-wal'].map((suffix, index) => before[index]?.equals(readFileSync(copy + suffix)))).toEqual([
      true,
      true,
    ]);
  });

  it.each([
    ['in a folder that is missing', 'missing/BTC-USD.sqlite', 'ENOENT'],
    ['a folder itself', '.', 'disk I/O error'],
  ])('is %s: it says what to look at', (_name, name, reason) => {
    const { folder, open } = setup();
    const message = refusalOf(() => open(join(folder, name)));
    expect(message).toMatch(/^The store .+ cannot be opened \(.+\)\. See that its folder exists/);
    expect(message).toContain(reason);
  });
});
