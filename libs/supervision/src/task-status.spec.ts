import { describe, expect, it } from 'vitest';
import { isOver, nextStatus, type TaskEvent, type TaskStatus } from './task-status.js';

const statuses: TaskStatus[] = ['created', 'healthy', 'failed', 'completed', 'dead'];
const events: TaskEvent[] = ['started', 'completed', 'failed', 'exhausted', 'restarted', 'killed'];

const allowed: [TaskStatus, TaskEvent, TaskStatus][] = [
  ['created', 'started', 'healthy'],
  ['created', 'killed', 'dead'],
  ['healthy', 'completed', 'completed'],
  ['healthy', 'failed', 'failed'],
  ['healthy', 'restarted', 'healthy'],
  ['healthy', 'killed', 'dead'],
  ['failed', 'started', 'healthy'],
  ['failed', 'restarted', 'healthy'],
  ['failed', 'exhausted', 'dead'],
  ['failed', 'killed', 'dead'],
  ['completed', 'restarted', 'healthy'],
  ['dead', 'restarted', 'healthy'],
];

const forbidden = statuses
  .flatMap((status) => events.map((event) => [status, event] as const))
  .filter(([status, event]) => !allowed.some(([from, by]) => from === status && by === event));

describe('nextStatus', () => {
  it.each(allowed)('moves a task that is %s and has %s to %s', (from, event, to) => {
    expect(nextStatus(from, event)).toBe(to);
  });

  it.each(forbidden)('refuses that a task that is %s has %s', (status, event) => {
    expect(() => nextStatus(status, event)).toThrow(`Invariant: a ${status} task is never ${event}.`);
  });

  it('leads from created to every status', () => {
    const reached = new Set<TaskStatus>(['created']);
    for (const from of reached) {
      for (const [, , to] of allowed.filter(([status]) => status === from)) reached.add(to);
    }
    expect([...reached].sort()).toEqual([...statuses].sort());
  });
});

describe('isOver', () => {
  it('holds for exactly the statuses that only a restart leaves', () => {
    const leftByRestartOnly = statuses.filter((status) =>
      allowed.every(([from, event]) => from !== status || event === 'restarted'),
    );
    expect(statuses.filter(isOver)).toEqual(leftByRestartOnly);
  });
});
