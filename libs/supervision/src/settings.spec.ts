import { describe, expect, it } from 'vitest';
import { completeSettings, type SupervisionSettings } from './settings.js';

describe('completeSettings', () => {
  it('has a default for everything and never gives up on the whole unless asked to', () => {
    expect(completeSettings({})).toEqual({
      restartsMax: 5,
      restartDelayBaseMs: 1_000,
      restartExponentMax: 5,
      stableAfterMs: 80_000,
      deadShareMax: 1,
      stopGraceMs: 30_000,
    });
  });

  it('takes the same settings in any order', () => {
    const inOneOrder = completeSettings({
      restartsMax: Infinity,
      restartDelayBaseMs: 5_000,
      deadShareMax: 0,
    });
    const inAnother = completeSettings({ deadShareMax: 0, restartDelayBaseMs: 5_000, restartsMax: Infinity });
    expect(inAnother).toEqual(inOneOrder);
  });

  it.each<Partial<SupervisionSettings>>([
    { restartsMax: 0 },
    { restartsMax: Infinity },
    { restartDelayBaseMs: 1 },
    { restartDelayBaseMs: 2 ** 31 - 1, restartExponentMax: 0 },
    { stableAfterMs: 1 },
    { deadShareMax: 0 },
    { stopGraceMs: 0 },
  ])('allows %j', (settings) => {
    expect(completeSettings(settings)).toMatchObject(settings);
  });

  it.each<[Partial<SupervisionSettings>, string]>([
    [{ restartsMax: -1 }, 'restartsMax'],
    [{ restartsMax: 1.5 }, 'restartsMax'],
    [{ restartsMax: Number.NaN }, 'restartsMax'],
    [{ restartDelayBaseMs: 0 }, 'restartDelayBaseMs'],
    [{ restartExponentMax: -1 }, 'restartExponentMax'],
    [{ stableAfterMs: 0 }, 'stableAfterMs'],
    [{ deadShareMax: 1.01 }, 'deadShareMax'],
    [{ deadShareMax: Number.NaN }, 'deadShareMax'],
    [{ stopGraceMs: -1 }, 'stopGraceMs'],
    [{ stopGraceMs: 2 ** 31 }, 'stopGraceMs'],
  ])('refuses %j', (settings, name) => {
    expect(() => completeSettings(settings)).toThrow(new RegExp(`^Expected ${name} to be .*, got .*\\.$`));
  });

  it('refuses a longest delay that no timer can sleep', () => {
    expect(() => completeSettings({ restartDelayBaseMs: 2 ** 30, restartExponentMax: 1 })).toThrow(
      'restartDelayBaseMs × 2^restartExponentMax to be at most 2147483647, got 2147483648',
    );
  });

  it('names all faults together', () => {
    expect(() => completeSettings({ restartsMax: -1, stableAfterMs: 0 })).toThrow(/restartsMax.*; stableAfterMs/);
  });
});
