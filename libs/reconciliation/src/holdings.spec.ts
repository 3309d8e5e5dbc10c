import { describe, expect, it } from 'vitest';
import type { AssetFlow } from '#libs/lifecycle';
import { Decimal } from '#libs/money';
import { compareHoldings, totalsOf, type HoldingsView } from './holdings.js';
import { d, NOW } from './testing/samples.js';

const flow = (asset: string, amount: string, changes: Partial<AssetFlow> = {}): AssetFlow => ({
  ...{ asset, amount: d(amount), turnover: d(amount).abs(), inflowWithoutFee: Decimal.zero, fills: 1 },
  ...changes,
});
const amounts = (held: Record<string, string>) =>
  new Map(Object.entries(held).map(([asset, text]) => [asset, d(text)]));

function view(parts: {
  readonly totals: Record<string, string>;
  readonly known?: Record<string, string>;
  readonly flows?: readonly AssetFlow[];
  readonly net?: Record<string, string>;
  readonly moving?: readonly string[];
}): HoldingsView {
  return {
    ...{ venue: 'paper', totals: amounts(parts.totals), feeBps: 30, moving: new Set(parts.moving) },
    known: new Map([...amounts(parts.known ?? {})].map(([asset, held]) => [asset, { asset, held, heldAt: NOW }])),
    flows: new Map((parts.flows ?? []).map((each) => [each.asset, each])),
    net: Object.entries(parts.net ?? {}).map(([symbol, quantity]) => ({ symbol, quantity: d(quantity) })),
  };
}

function seen(parts: Parameters<typeof view>[0]) {
  const { corrections, toNote } = compareHoldings(view(parts));
  return {
    found: corrections.map(({ kind, symbol, recorded, reported }) => [
      kind,
      symbol ?? '',
      recorded?.['held'],
      reported?.['held'],
    ]),
    noted: Object.fromEntries([...toNote].map(([asset, held]) => [asset, held.toString()])),
  };
}

const NOTHING = { found: [], noted: {} };

describe('what an account holds', () => {
  it.each([
    ['is what it was', { totals: { USD: '5' }, known: { USD: '5' } }],
    [
      'is what our fills made of it',
      {
        totals: { USD: '900', BTC: '1' },
        known: { USD: '1000', BTC: '0' },
        flows: [flow('USD', '-100'), flow('BTC', '1')],
      },
    ],
    ['is nothing where nothing is listed and nothing was', { totals: {}, known: { BTC: '0' } }],
    [
      'may be less by a fee that fills did not tell',
      { totals: { BTC: '0.997' }, known: { BTC: '0' }, flows: [flow('BTC', '1', { inflowWithoutFee: d('1') })] },
    ],
    ['may be rounded', { totals: { BTC: '1.00004' }, known: { BTC: '0' }, flows: [flow('BTC', '1')] }],
    [
      'is not compared while it moves',
      { totals: { BTC: '7' }, known: { BTC: '0' }, moving: ['BTC'], net: { 'BTC/USD': '9' } },
    ],
    ['is not noted while it moves', { totals: { BTC: '7' }, moving: ['BTC'] }],
  ] satisfies [string, Parameters<typeof view>[0]][])('%s', (_, parts) => {
    expect(seen(parts)).toEqual(NOTHING);
  });

  it('is noted when it was not known', () => {
    expect(seen({ totals: { BTC: '7', USD: '1' }, known: { USD: '1' } })).toEqual({ found: [], noted: { BTC: '7' } });
  });

  it.each([
    ['more', '1001'],
    ['less', '999'],
    ['a little more than rounding explains', '1000.00000002'],
  ])('was moved by somebody else when it is %s', (_, total) => {
    const parts = { totals: { USD: total }, known: { USD: '1000' } };
    expect(seen(parts)).toEqual({ found: [['holding-moved', '', '1000', d(total).toString()]], noted: {} });
    const { corrections, toNoteWith } = compareHoldings(view(parts));
    expect(toNoteWith.get(corrections[0]?.id ?? '')).toEqual(new Map([['USD', d(total)]]));
  });

  it('was moved when a listed asset is not listed any more', () => {
    expect(seen({ totals: {}, known: { BTC: '2' } }).found).toEqual([['holding-moved', '', '2', '0']]);
  });

  it('was moved when more is missing than a fee that was not told', () => {
    const flows = [flow('BTC', '1', { inflowWithoutFee: d('1') })];
    expect(seen({ totals: { BTC: '0.996' }, known: { BTC: '0' }, flows }).found).toHaveLength(1);
  });

  it('is noted anew after so many fills, but not what was moved', () => {
    const flows = [flow('USD', '-100', { fills: 100 })];
    const known = { USD: '1000', BTC: '3', ETH: '5' };
    expect(seen({ totals: { USD: '900', BTC: '3', ETH: '4' }, known, flows })).toEqual({
      ...{ found: [['holding-moved', '', '5', '4']], noted: { USD: '900', BTC: '3' } },
    });
    expect(
      seen({ totals: { USD: '901' }, known: { USD: '1000' }, flows: [flow('USD', '-99', { fills: 99 })] }),
    ).toEqual(NOTHING);
  });
});

describe('what our trades hold', () => {
  it.each([
    ['is covered', { BTC: '2' }, { 'BTC/USD': '2' }],
    ['is covered by more', { BTC: '3' }, { 'BTC/USD': '2' }],
    ['is covered but for a fee', { BTC: '1.994' }, { 'BTC/USD': '2' }],
    ['is covered when it is short', { BTC: '-2' }, { 'BTC/USD': '-2' }],
    ['is covered over several symbols', { BTC: '2' }, { 'BTC/USD': '3', 'BTC/EUR': '-1' }],
  ])('%s', (_, totals, net) => {
    expect(seen({ totals, known: totals, net })).toEqual(NOTHING);
  });

  it.each([
    ['less', { BTC: '1.9' }, { 'BTC/USD': '2' }, [['BTC/USD', '2', '1.9']]],
    ['nothing', {}, { AAPL: '2' }, [['AAPL', '2', '0']]],
    ['less of a short', { BTC: '-1' }, { 'BTC/USD': '-2' }, [['BTC/USD', '-2', '-1']]],
    [
      'less over several symbols',
      { BTC: '2' },
      { 'BTC/USD': '1', 'BTC/EUR': '2' },
      [
        ['BTC/USD', '3', '2'],
        ['BTC/EUR', '3', '2'],
      ],
    ],
  ])('is short when the account holds %s', (_, totals, net, expected) => {
    expect(seen({ totals, known: totals, net }).found).toEqual(expected.map((each) => ['holding-short', ...each]));
  });
});

it('the total of an asset is its balance, or its position, and nothing where a traded one is not listed', () => {
  const totals = totalsOf({
    balances: [{ asset: 'USD', total: d('5'), available: d('1') }],
    positions: [
      { symbol: 'AAPL', quantity: d('-2'), averagePrice: d('1') },
      { symbol: 'BTC/USD', quantity: d('3'), averagePrice: d('1') },
    ],
    symbols: new Set(['ETH/USD']),
  });
  expect(totals).toEqual(
    new Map([
      ['ETH', d('0')],
      ['USD', d('5')],
      ['AAPL', d('-2')],
      ['BTC', d('3')],
    ]),
  );
});
