import { Decimal } from '#libs/money';

/** The wire formats in which orders arrive. */
export type Protocol = 'alpaca' | 'binance';

/** What a venue demands of an order's numbers. */
export interface TradingRules {
  readonly quantityStep: Decimal;
  readonly priceTick: Decimal;
  readonly notionalMin: Decimal;
}

export interface Instrument {
  /** The name inside the venue, such as BTC-USD or AAPL. */
  readonly id: string;
  readonly kind: 'crypto' | 'stock';
  readonly base: string;
  /** What the price is counted in. Binance calls the same balance USDT. */
  readonly quote: 'USD';
  /** The name in each protocol; undefined where it is not traded. */
  readonly names: { readonly alpaca: string; readonly binance: string | undefined };
  readonly rules: Record<Protocol, TradingRules>;
  /** Where the walk comes back to. */
  readonly usualPrice: number;
}

/** The finest price and quantity that the market itself deals in. */
const FINE = Decimal.parse('0.000000001');

const CRYPTOS = [
  { base: 'BTC', usualPrice: 60_000, step: '0.00001', tick: '0.01' },
  { base: 'ETH', usualPrice: 3_000, step: '0.0001', tick: '0.01' },
  { base: 'SOL', usualPrice: 150, step: '0.001', tick: '0.01' },
  { base: 'BNB', usualPrice: 600, step: '0.001', tick: '0.01' },
  { base: 'LTC', usualPrice: 80, step: '0.001', tick: '0.01' },
  { base: 'AVAX', usualPrice: 30, step: '0.01', tick: '0.001' },
  { base: 'LINK', usualPrice: 15, step: '0.01', tick: '0.001' },
  { base: 'XRP', usualPrice: 0.6, step: '0.1', tick: '0.0001' },
  { base: 'DOGE', usualPrice: 0.12, step: '1', tick: '0.00001' },
];

const STOCKS = [
  { symbol: 'AAPL', usualPrice: 190 },
  { symbol: 'MSFT', usualPrice: 420 },
  { symbol: 'NVDA', usualPrice: 120 },
  { symbol: 'TSLA', usualPrice: 240 },
  { symbol: 'AMZN', usualPrice: 180 },
  { symbol: 'SPY', usualPrice: 550 },
];

export const INSTRUMENTS: readonly Instrument[] = [
  ...CRYPTOS.map(({ base, usualPrice, step, tick }): Instrument => ({
    id: `${base}-USD`,
    kind: 'crypto',
    base,
    quote: 'USD',
    names: { alpaca: `${base}/USD`, binance: `${base}USDT` },
    rules: {
      alpaca: { quantityStep: FINE, priceTick: FINE, notionalMin: Decimal.parse('1') },
      binance: { quantityStep: Decimal.parse(step), priceTick: Decimal.parse(tick), notionalMin: Decimal.parse('5') },
    },
    usualPrice,
  })),
  ...STOCKS.map(({ symbol, usualPrice }): Instrument => {
    const rules = { quantityStep: FINE, priceTick: Decimal.parse('0.01'), notionalMin: Decimal.parse('1') };
    return {
      id: symbol,
      kind: 'stock',
      base: symbol,
      quote: 'USD',
      names: { alpaca: symbol, binance: undefined },
      rules: { alpaca: rules, binance: rules },
      usualPrice,
    };
  }),
];

const BY_NAME = {
  // Alpaca's older name without the slash is what it still calls positions by.
  alpaca: new Map(INSTRUMENTS.flatMap((it) => [it.names.alpaca, it.names.alpaca.replace('/', '')].map((n) => [n, it]))),
  binance: new Map(INSTRUMENTS.flatMap((it) => (it.names.binance ? [[it.names.binance, it]] : []))),
};
const BY_ANY_NAME = new Map(
  INSTRUMENTS.flatMap((it) =>
    [it.id, it.names.alpaca, it.names.alpaca.replace('/', ''), it.names.binance, `${it.base}/USDT`].map((n) => [n, it]),
  ),
);

export function findInstrument(protocol: Protocol, name: string): Instrument | undefined {
  return BY_NAME[protocol].get(name);
}

/** By the name in any protocol, for people. */
export function findInstrumentByAnyName(name: string): Instrument | undefined {
  return BY_ANY_NAME.get(name.toUpperCase());
}

/** The name in the protocol, or the venue's own where the protocol does not trade it. */
export function nameIn(protocol: Protocol, instrument: Instrument): string {
  return instrument.names[protocol] ?? instrument.id;
}

/** Decimal places of prices in the market: fine enough for five digits of even the cheapest instrument. */
export function priceScaleOf({ rules }: Instrument): number {
  return rules.binance.priceTick.scale;
}

/** What a protocol calls an asset. */
export function assetIn(protocol: Protocol, asset: string): string {
  return protocol === 'binance' && asset === 'USD' ? 'USDT' : asset;
}
