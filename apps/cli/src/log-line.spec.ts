import { describe, expect, it } from 'vitest';
import { formatLogLine } from './log-line.js';
import { plain } from './paint.js';

const TIME = '2026-01-01T12:00:00.123Z';

function format(line: object | string): string {
  return formatLogLine(typeof line === 'string' ? line : JSON.stringify(line), plain);
}

describe('formatLogLine', () => {
  it('shows time, level and message, messages below each other', () => {
    expect(format({ level: 'info', time: TIME, pid: 1, msg: 'Stopped' })).toBe(`${TIME} INFO  Stopped`);
    expect(format({ level: 'error', time: TIME, msg: 'Failed' })).toBe(`${TIME} ERROR Failed`);
  });

  it('shows the error behind a message once', () => {
    const err = { type: 'Error', message: 'no market', stack: 'Error: no market\n    at decide' };
    expect(format({ level: 'error', time: TIME, msg: 'The task failed', err })).toContain('The task failed: no market');
    expect(format({ level: 'error', time: TIME, msg: 'no market', err })).toBe(`${TIME} ERROR no market`);
  });

  it.each(['    at decide (file.js:1:2)', '{"half": ', '[1]', '{"msg":"no time"}'])('leaves %j as it is', (line) => {
    expect(format(line)).toBe(line.trimEnd());
  });

  it('lets no line command the terminal', () => {
    expect(format('crash\u001b[2J')).toBe('crash[2J');
    expect(format({ level: 'info', time: TIME, msg: 'a\u001b[2Jb\nc' })).toBe(`${TIME} INFO  a [2Jb c`);
  });
});
