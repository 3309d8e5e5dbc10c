import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Pair, parsePairs, revisionOf } from './pair-config.js';

const pair = Pair.parse({
  id: 'BTC-USD',
  venue: 'paper',
  symbol: 'BTC/USD',
  strategy: { name: 'example', params: { fast: 5, slow: 20 } },
});

describe('parsePairs', () => {
  it('reads a declaration and fills in what is left out', () => {
    const yaml = 'pairs:\n  - { id: BTC-USD, venue: paper, symbol: BTC/USD, strategy: { name: example } }';
    expect(parsePairs(yaml, 'pairs.yaml')).toEqual([
      {
        ...pair,
        strategy: { name: 'example', params: { fast: 5, slow: 20, notional: '100' } },
        intervalSec: 900,
        profiles: [],
        enabled: true,
      },
    ]);
  });

  it.each([
    ['pairs: [', /is not YAML/],
    ['', /pairs\.yaml has faults/],
    ['pairs: []\nextra: 1', /extra/],
    [
      'pairs: [{ id: A, venue: v, symbol: s, strategy: { name: example } }, { id: A, venue: v, symbol: s, strategy: { name: example } }]',
      /two pairs have the same id/,
    ],
  ])('refuses %j', (yaml, message) => {
    expect(() => parsePairs(yaml, 'pairs.yaml')).toThrow(message);
  });
});

describe('revisionOf', () => {
  it('is the same for the same configuration, whatever the order of its fields', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(Object.entries(pair), { minLength: Object.keys(pair).length }), (entries) => {
        expect(revisionOf(Object.fromEntries(entries) as Pair)).toBe(revisionOf(pair));
      }),
    );
  });

  it.each([
    { symbol: 'ETH/USD' },
    { intervalSec: 901 },
    { profiles: ['p'] },
    { strategy: { name: 'example' as const, params: { fast: 6, slow: 20, notional: '100' } } },
    { strategy: { name: 'example' as const, params: { fast: 5, slow: 20, notional: '101' } } },
  ])('changes with %j', (change) => {
    expect(revisionOf({ ...pair, ...change })).not.toBe(revisionOf(pair));
  });
});
