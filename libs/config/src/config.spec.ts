import { describe, expect, it } from 'vitest';
import { ConfigError, findMisspellings, parseConfig, settings, settingsTable } from '../index.js';

function faultsOf(env: Record<string, string>): readonly string[] {
  try {
    parseConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}

describe('parseConfig', () => {
  it('has a working default for everything', () => {
    expect(parseConfig({})).toMatchObject({ PORT: 3001, HOST: '127.0.0.1', DATA_DIR: '.data', LOG_LEVEL: 'info' });
    expect(parseConfig({}).DATABASE_URL).toBeUndefined();
  });

  it('takes an empty variable for an unset one', () => {
    expect(parseConfig({ PORT: '', REDIS_URL: '' })).toEqual(parseConfig({}));
  });

  it('names every fault at once, with the variable, its value and what is allowed', () => {
    expect(faultsOf({ PORT: '70000', LOG_LEVEL: 'loud', DRAIN_MS: '-1' })).toEqual([
      'PORT is "70000"; allowed is a whole number from 0 to 65535.',
      'DRAIN_MS is "-1"; allowed is a whole number from 0 to 3600000.',
      'LOG_LEVEL is "loud"; allowed is one of fatal, error, warn, info, debug, trace, silent.',
    ]);
  });

  it.each(['1.5', '1e3', '0x10', ' 5', '5 ', '９', '99999999999999999999'])('refuses %j as a whole number', (text) => {
    expect(faultsOf({ PORT: text })).toHaveLength(1);
  });

  it.each(['localhost:5432', 'mysql://host/db', 'postgres://', 'http://host'])('refuses %j as DATABASE_URL', (text) => {
    expect(faultsOf({ DATABASE_URL: text })).toHaveLength(1);
  });

  it.each([
    'https://login.example.com/keys',
    'http://127.0.0.1:8080/keys',
    'http://localhost/keys',
    'http://[::1]:8080/',
  ])('takes %j as JWKS_URL', (text) => {
    expect(faultsOf({ JWKS_URL: text })).toEqual([]);
  });

  it.each([
    'http://login.example.com/keys',
    'http://127.evil.com/',
    'http://localhost.evil.com/',
    'https://u:p@host/',
    'ftp://h/',
    'keys',
  ])('refuses %j as JWKS_URL', (text) => {
    expect(faultsOf({ JWKS_URL: text })).toHaveLength(1);
  });

  it('counts the bytes of JWT_SECRET', () => {
    expect(faultsOf({ JWT_SECRET: 'x'.repeat(31) })).toHaveLength(1);
    expect(faultsOf({ JWT_SECRET: 'ü'.repeat(16) })).toEqual([]);
  });

  it('never repeats the value of a secret', () => {
    const faults = faultsOf({ DATABASE_URL: 'mysql://me:hunter2@host/db', ADMIN_TOKEN: 'two words' }).join();
    expect(faults).toContain('DATABASE_URL is a value that is not shown');
    expect(faults).not.toMatch(/hunter2|two words/);
  });

  it('points out a likely misspelling beside the faults', () => {
    expect(faultsOf({ PORT: 'x', REDIS_ULR: 'redis://h' })).toContain(
      'REDIS_ULR is set but is no setting of Flotilla; did you mean REDIS_URL?',
    );
  });
});

describe('findMisspellings', () => {
  it.each([
    ['DATABSE_URL', 'DATABASE_URL'],
    ['LOG_LEVLE', 'LOG_LEVEL'],
    ['ADMINTOKEN', 'ADMIN_TOKEN'],
    ['log_level', 'LOG_LEVEL'],
    ['PROT', 'PORT'],
  ])('takes %s for %s', (name, meant) => {
    expect(findMisspellings([name])).toEqual([expect.stringContaining(`did you mean ${meant}?`)]);
  });

  it('leaves the usual variables of a shell alone', () => {
    const usual = [
      'HOME',
      'PATH',
      'USER',
      'SHELL',
      'TERM',
      'LANG',
      'PWD',
      'HOSTNAME',
      'LOGNAME',
      'PGHOST',
      'PGPORT',
      'NODE_ENV',
      'CI',
      'EDITOR',
    ];
    expect(findMisspellings([...usual, ...Object.keys(settings)])).toEqual([]);
  });
});

describe('settings', () => {
  it('have defaults that are allowed by their own rule', () => {
    for (const [name, setting] of Object.entries(settings)) {
      if (setting.default !== undefined) expect(setting.kind.parse(setting.default), name).toBeDefined();
      else expect(setting, name).toHaveProperty('whenUnset');
    }
  });

  it('make a table with one row each', () => {
    expect(settingsTable().split('\n')).toHaveLength(Object.keys(settings).length + 2);
  });
});
