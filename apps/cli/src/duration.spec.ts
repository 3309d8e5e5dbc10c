import { describe, expect, it } from 'vitest';
import { formatAge, formatDuration } from './duration.js';

describe('formatDuration', () => {
  it.each([
    [-5_000, '0s'],
    [999, '0s'],
    [1_000, '1s'],
    [59_999, '59s'],
    [60_000, '1m'],
    [192_000, '3m 12s'],
    [3_600_000, '1h'],
    [3_605_000, '1h'],
    [7_500_000, '2h 5m'],
    [273_600_000, '3d 4h'],
  ])('tells %d ms as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });
});

describe('formatAge', () => {
  it('counts from the given moment', () => {
    expect(formatAge('2026-01-01T00:00:00.000Z', Date.UTC(2026, 0, 1, 0, 1, 5))).toBe('1m 5s');
  });
});
