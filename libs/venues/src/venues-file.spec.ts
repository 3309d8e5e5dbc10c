import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { paperVenueSettings, readVenueSettings } from '../index.js';
import { parseVenues } from './venues-file.js';

const LEAK = 'PKTHISISAKEY0123456789';

function setup(env: Record<string, string> = { ALPACA_KEY: 'key-one', ALPACA_SECRET: 'secret-one' }) {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-venues-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const faultsOf = (yaml: string): string => {
    try {
      parseVenues(yaml, 'venues.yaml');
      return '';
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  };
  return { file, faultsOf };
}

const GOOD = '{ id: main, adapter: alpaca, keyEnv: ALPACA_KEY, secretEnv: ALPACA_SECRET }';

describe('parseVenues', () => {
  it('reads the secrets that the file names, from variables and files', () => {
    const { file } = setup();
    const yaml = `
venues:
  - ${GOOD}
  - id: crypto
    adapter: ccxt
    exchange: okx
    keyFile: ${file('key', 'key-two\n')}
    secretFile: ${file('secret', 'secret-two\n')}
    passwordFile: ${file('password', 'phrase\n')}
    fleetShare: 0.25
    urls: { rest: 'https://www.okx.com', ws: { private: 'wss://ws.okx.com:8443' } }
`;
    const [alpaca, okx] = parseVenues(yaml, 'venues.yaml');
    expect(alpaca).toMatchObject({ id: 'main', adapter: 'alpaca', paper: false, fleetShare: 0.1 });
    expect(alpaca?.key.reveal()).toBe('key-one');
    expect(okx).toMatchObject({ id: 'crypto', adapter: 'ccxt', exchange: 'okx', fleetShare: 0.25 });
    expect([okx?.key, okx?.secret].map((secret) => secret?.reveal())).toEqual(['key-two', 'secret-two']);
  });

  it('names every fault at once, with file, venue, field and what to do', () => {
    const { faultsOf } = setup();
    const faults = faultsOf(`
venues:
  - { id: one, adapter: alpaca, keyEnv: NOT_SET_ANYWHERE, secretFile: /nowhere/secret }
  - { id: two, adapter: ccxt, exchange: binance, keyEnv: ALPACA_KEY, keyFile: x, colour: blue }
  - { id: three, adapter: kraken }
  - { adapter: alpaca, keyEnv: ALPACA_KEY }
  - { id: five, adapter: ccxt, exchange: binance, keyEnv: ALPACA_KEY, keyFile: x }
`);
    expect(faults.split('\n')).toEqual([
      'VENUES_FILE venues.yaml has faults:',
      '  - venue one, keyEnv: the variable NOT_SET_ANYWHERE is not set; export it, or name another.',
      '  - venue one, secretFile: /nowhere/secret cannot be read (ENOENT); correct the path or its permissions.',
      '  - venue two, colour: no such field; see docs/venues.md.',
      expect.stringMatching(/^ {2}- venue three, adapter: /),
      expect.stringMatching(/^ {2}- venue number 4, id: /),
      '  - venue five, keyEnv and keyFile: both are given; keep one.',
      '  - venue five, secretEnv: missing; name the environment variable that holds it, or a secretFile.',
    ]);
  });

  it.each([
    `venues: [{ id: main, adapter: alpaca, keyEnv: ${LEAK}, secretEnv: ALPACA_SECRET }]`,
    `venues: [{ id: main, adapter: alpaca, key: ${LEAK} }]`,
    `venues: [{ id: main, adapter: alpaca, keyEnv: "${LEAK}`,
    `venues: { main: ${LEAK} }`,
    `venues: [${LEAK}]`,
  ])('never repeats a key that somebody wrote into the file: %s', (yaml) => {
    const { faultsOf } = setup();
    const faults = faultsOf(yaml);
    expect(faults).toContain('VENUES_FILE venues.yaml');
    expect(faults).not.toContain(LEAK);
  });

  it.each([
    ['http://api.alpaca.markets', false],
    ['https://api.alpaca.markets', true],
    ['http://127.0.0.1:3002/alpaca', true],
    ['http://[::1]:3002', true],
    ['http://127.0.0.1.example.com', false],
    ['https://me:secret@api.alpaca.markets', false],
    ['ftp://127.0.0.1', false],
    ['api.alpaca.markets', false],
  ])('takes %s for a base address: %s', (address, isTaken) => {
    const { faultsOf } = setup();
    const faults = faultsOf(`venues: [{ ...${GOOD}, baseUrl: "${address}" }]`.replace(`...${GOOD}`, GOOD.slice(1, -1)));
    expect(faults === '').toBe(isTaken);
  });

  it('refuses two entries of one id, and two that would share one key', () => {
    const { faultsOf } = setup();
    const faults = faultsOf(`venues: [${GOOD}, ${GOOD}, ${GOOD.replace('main', 'other')}]`);
    expect(faults).toContain('venue main, id: is used twice; rename one.');
    expect(faults).toContain('venue other, key: is the key of venue main as well; give each account one entry.');
  });

  it('refuses a file without venues', () => {
    const { faultsOf } = setup();
    expect(faultsOf('')).toContain('has faults');
    expect(faultsOf('venues: []')).toContain('expected at least one venue');
  });
});

describe('readVenueSettings', () => {
  it('is the paper venue where no file is configured', () => {
    expect(readVenueSettings({ PAPER_PORT: 3002 })).toEqual([paperVenueSettings(3002)]);
    expect(paperVenueSettings(3002)).toMatchObject({
      id: 'paper',
      adapter: 'alpaca',
      baseUrl: 'http://127.0.0.1:3002/alpaca',
    });
    expect(paperVenueSettings(3002, 'ccxt')).toMatchObject({
      exchange: 'binance',
      baseUrl: 'http://127.0.0.1:3002/binance',
    });
  });

  it('says plainly when the file is not there', () => {
    expect(() => readVenueSettings({ VENUES_FILE: '/nowhere/venues.yaml', PAPER_PORT: 3002 })).toThrow(
      /VENUES_FILE \/nowhere\/venues\.yaml cannot be read .*Correct the path/,
    );
  });
});
