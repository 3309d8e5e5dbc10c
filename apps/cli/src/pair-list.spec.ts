import { describe, expect, it } from 'vitest';
import { formatPairs, PairList } from './pair-list.js';
import { plain } from './paint.js';

describe('formatPairs', () => {
  it('has a line per pair', () => {
    const list = PairList.parse({
      items: [
        {
          id: 'BTC-USD',
          venue: 'paper',
          symbol: 'BTC/USD',
          strategy: { name: 'example', params: { fast: 3 } },
          intervalSec: 900,
          profiles: [],
          enabled: true,
        },
        {
          id: 'ETH-USD',
          venue: 'paper',
          symbol: 'ETH/USD',
          strategy: { name: 'example', params: {} },
          intervalSec: 10,
          profiles: ['anna', 'ben'],
          enabled: false,
        },
      ],
    });
    expect(formatPairs(list, plain).split('\n')).toEqual([
      'PAIR     VENUE  SYMBOL   STRATEGY  EVERY  PROFILES   ENABLED',
      'BTC-USD  paper  BTC/USD  example   15m    -          yes',
      'ETH-USD  paper  ETH/USD  example   10s    anna, ben  no',
    ]);
  });
});
