import { mkdtempSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WorkerLogs } from './worker-log.js';

function setup() {
  const dataDir = mkdtempSync(join(tmpdir(), 'flotilla-logs-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const logs = new WorkerLogs(dataDir);
  const { fd, close } = logs.open('BTC-USD');
  onTestFinished(close);
  return { logs, path: join(dataDir, 'logs', 'BTC-USD.log'), write: (text: string) => writeSync(fd, text) };
}

describe('WorkerLogs', () => {
  it('gives the newest lines, oldest first', () => {
    const { logs, write } = setup();
    write('one\ntwo\nthree\n');
    expect(logs.read('BTC-USD', 2)).toEqual(['two', 'three']);
    expect(logs.read('ETH-USD', 2)).toEqual([]);
  });

  it('is bounded, under a process that goes on writing, and readable across the cut', () => {
    const { logs, path, write } = setup();
    const line = `${'x'.repeat(1023)}\n`;
    for (let mib = 0; mib < 12; mib += 1) {
      for (let kib = 0; kib < 1024; kib += 1) write(line);
      logs.rotate('BTC-USD');
    }
    write('last\n');
    expect(statSync(path).size + statSync(`${path}.1`).size).toBeLessThan(12 * 2 ** 20);
    expect(logs.read('BTC-USD', 3).map((text) => text.slice(0, 4))).toEqual(['xxxx', 'xxxx', 'last']);
  });

  it('is readable by its owner only', () => {
    const { path } = setup();
    expect(statSync(path).mode & 0o077).toBe(0);
  });
});
