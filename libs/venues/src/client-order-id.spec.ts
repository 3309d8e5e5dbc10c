import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clientOrderIdFor, matchesClientOrderId, parseClientOrderId, type ClientOrderIdRules } from '../index.js';

const alpaca: ClientOrderIdRules = { lengthMax: 128, alphabet: /[\x21-\x7e]/, unique: 'always' };
const binance: ClientOrderIdRules = { lengthMax: 36, alphabet: /[A-Za-z0-9_-]/, unique: 'while-open' };
const okx: ClientOrderIdRules = { lengthMax: 32, alphabet: /[A-Za-z0-9]/, unique: 'while-open' };

const profileId = '0199a3c1-0000-7000-8000-000000000001';
const tradeId = '5f0c7a52-94a4-5b0e-9d0a-2f5a1c8e7b11';

const owners = fc.record(
  { profileId: fc.uuid(), tradeId: fc.uuid(), exitGeneration: fc.integer({ min: 0, max: 999_999 }) },
  { requiredKeys: ['profileId', 'tradeId'] },
);

describe('clientOrderIdFor', () => {
  it('names prefix, profile and trade where the venue has room', () => {
    expect(clientOrderIdFor({ profileId, tradeId }, 'bytelyst', alpaca)).toBe(`bytelyst-${profileId}-${tradeId}`);
    expect(clientOrderIdFor({ profileId, tradeId, exitGeneration: 3 }, 'bytelyst', alpaca)).toBe(
      `bytelyst-${profileId}-${tradeId}-x3`,
    );
  });

  it.each([
    ['Binance', binance, /^bytelyst-[a-z2-7]{27}$/],
    ['OKX', okx, /^bytelyst[a-z2-7]{24}$/],
  ])('is a digest behind the prefix on %s', (_venue, rules, pattern) => {
    expect(clientOrderIdFor({ profileId, tradeId }, 'bytelyst', rules)).toMatch(pattern);
  });

  it('drops the prefix rather than the digest where there is no room for both', () => {
    const narrow = { ...okx, lengthMax: 24 };
    expect(clientOrderIdFor({ profileId, tradeId }, 'bytelyst', narrow)).toMatch(/^[a-z2-7]{24}$/);
  });

  it('never changes, because orders are at venues under these ids', () => {
    expect(clientOrderIdFor({ profileId, tradeId }, 'bytelyst', binance)).toMatchInlineSnapshot(
      `"bytelyst-pmoq2haad7vwnb3miyqvchmpwup"`,
    );
    expect(clientOrderIdFor({ profileId, tradeId, exitGeneration: 0 }, 'bytelyst', okx)).toMatchInlineSnapshot(
      `"bytelystkllfmtswuhgbeep3k42ld6ct"`,
    );
  });

  it.each([alpaca, binance, okx])('keeps to the rules of the venue: %j', (rules) => {
    fc.assert(
      fc.property(owners, fc.stringMatching(/^[A-Za-z0-9]{1,16}$/), (owner, prefix) => {
        const id = clientOrderIdFor(owner, prefix, rules);
        expect(id.length).toBeLessThanOrEqual(rules.lengthMax);
        expect([...id].every((char) => rules.alphabet.test(char))).toBe(true);
      }),
    );
  });

  it.each([alpaca, binance, okx])('differs for different owners and is the same for the same: %j', (rules) => {
    fc.assert(
      fc.property(owners, owners, (a, b) => {
        const isSame = JSON.stringify(a) === JSON.stringify(b);
        expect(clientOrderIdFor(a, 'p', rules) === clientOrderIdFor(b, 'p', rules)).toBe(isSame);
        expect(clientOrderIdFor({ ...a }, 'p', rules)).toBe(clientOrderIdFor(a, 'p', rules));
      }),
    );
  });

  it('gives 200,000 digests without a collision', () => {
    const ids = new Set<string>();
    for (let index = 0; index < 200_000; index += 1) {
      ids.add(clientOrderIdFor({ profileId, tradeId: randomUUID() }, 'bytelyst', { ...okx, lengthMax: 20 }));
    }
    expect(ids.size).toBe(200_000);
  });

  it.each(['not-a-uuid', '5F0C7A52-94A4-5B0E-9D0A-2F5A1C8E7B11', ''])('refuses %j for a trade id', (wrong) => {
    expect(() => clientOrderIdFor({ profileId, tradeId: wrong }, 'bytelyst', alpaca)).toThrow(RangeError);
  });
});

describe('parseClientOrderId', () => {
  it('reads back whatever the long form says, for any prefix', () => {
    fc.assert(
      fc.property(owners, fc.stringMatching(/^[A-Za-z0-9]{1,16}$/), (owner, prefix) => {
        expect(parseClientOrderId(clientOrderIdFor(owner, prefix, alpaca), prefix)).toEqual(owner);
      }),
    );
  });

  it('does not claim the orders of others', () => {
    const id = clientOrderIdFor({ profileId, tradeId }, 'bytelyst', alpaca);
    expect(parseClientOrderId(id, 'another')).toBeUndefined();
    expect(parseClientOrderId(`my${id}`, 'bytelyst')).toBeUndefined();
    expect(parseClientOrderId(`${id}-x07`, 'bytelyst')).toBeUndefined();
    expect(parseClientOrderId('ccxt_0123', 'bytelyst')).toBeUndefined();
  });
});

describe('matchesClientOrderId', () => {
  it('recognises the owner in the digest too', () => {
    const venue = { prefix: 'bytelyst', rules: binance };
    const id = clientOrderIdFor({ profileId, tradeId }, 'bytelyst', binance);
    expect(matchesClientOrderId(id, { profileId, tradeId }, venue)).toBe(true);
    expect(matchesClientOrderId(id, { profileId, tradeId, exitGeneration: 0 }, venue)).toBe(false);
  });
});
