import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { GroupCommit } from './group-commit.js';

function setup() {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-test-'));
  const [database, reader] = [0, 1].map(() => new DatabaseSync(join(folder, 'test.db'))) as [
    DatabaseSync,
    DatabaseSync,
  ];
  database.exec('pragma journal_mode = wal; create table notes (text text) strict');
  onTestFinished(() => {
    for (const connection of [database, reader]) connection.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const commits: number[] = [];
  const failures: unknown[] = [];
  const commit = new GroupCommit(database, {
    committed: (works) => commits.push(works),
    failed: (error) => failures.push(error),
  });
  return {
    commit,
    commits,
    failures,
    write: (text: string) => commit.run(() => database.prepare('insert into notes values (?)').run(text)),
    seen: () =>
      reader
        .prepare('select text from notes')
        .all()
        .map((row) => row['text']),
  };
}

describe('GroupCommit', () => {
  it('answers nobody before others can see what was written', async () => {
    const { write, seen } = setup();
    const answer = write('one').then(seen);
    expect(seen()).toEqual([]);
    expect(await answer).toEqual(['one']);
  });

  it('commits once for all that came in the same turn', async () => {
    const { write, commits, seen } = setup();
    await Promise.all(['one', 'two', 'three'].map(write));
    expect(commits).toEqual([3]);
    await write('four');
    expect(commits).toEqual([3, 1]);
    expect(seen()).toEqual(['one', 'two', 'three', 'four']);
  });

  it('lets a reader wait for what is not yet on the disk', async () => {
    const { commit, write, seen } = setup();
    void write('one');
    await commit.settled();
    expect(seen()).toEqual(['one']);
    await commit.settled();
  });

  it('runs effects after the commit, in the order they were asked for', async () => {
    const { commit, seen } = setup();
    const effects: unknown[] = [];
    const note = (name: string) => commit.run(() => commit.afterCommit(() => effects.push([name, seen().length])));
    await Promise.all([note('first'), note('second')]);
    expect(effects.map((effect) => (effect as string[])[0])).toEqual(['first', 'second']);
  });

  it('reports a failure and answers nobody, since memory and disk may differ', async () => {
    const { commit, failures } = setup();
    const answers: string[] = [];
    const broken = new Error('broken');
    void commit
      .run(() => {
        throw broken;
      })
      .then(() => answers.push('answered'));
    await commit.settled();
    expect([failures, answers]).toEqual([[broken], []]);
  });
});
