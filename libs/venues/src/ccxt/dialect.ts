import type { ErrorWords } from '../fault.js';
import type { ClientOrderIdRules, RateLimit } from '../venue.js';
import type { UrlTree } from '../venues-file.js';

export type CcxtVerb =
  | 'submit'
  | 'cancel'
  | 'find'
  | 'openOrders'
  | 'closedOrders'
  | 'fills'
  | 'balances'
  | 'candles'
  | 'ticker'
  | 'markets'
  | 'time';

/** What ccxt does not say about an exchange, or says too loosely. */
export interface Dialect {
  readonly words: ErrorWords;
  /** The exchange's own code in an error, or undefined when it cannot be told; then the error proves nothing. */
  readonly codeOf: (body: string, errorName: string) => string | undefined;
  readonly clientOrderIds: ClientOrderIdRules;
  readonly closedOrdersKeptMs?: number;
  /** Undefined: one request per the pause that ccxt recommends. */
  readonly limits?: readonly RateLimit[];
  readonly weights: Readonly<Record<CcxtVerb, number>>;
  readonly options: Readonly<Record<string, unknown>>;
  /** Addresses under one base, for a simulated venue or a proxy. */
  readonly urlsUnder?: (baseUrl: string) => UrlTree;
  /** Open orders of all symbols come whole in one answer. */
  readonly hasWholeOpenOrders: boolean;
  /** Longest time between the two ends of a list of orders or fills. */
  readonly windowMs: number;
  /** Fills can be read on from an id, which no clock can spoil. */
  readonly hasFillIds: boolean;
}

const DAY_MS = 86_400_000;

/** Codes by which Binance says that it does not know: unknown, disconnected, unexpected, timeout, shutting down. */
const BINANCE_UNSURE = new Set(['-1000', '-1001', '-1006', '-1007', '-1016']);
const BINANCE_NOT_PERMITTED = new Set(['-1002', '-1022', '-2014', '-2015']);

const binance: Dialect = {
  words: {
    // One code for everything that the matching engine refuses; the message tells a duplicate.
    isDuplicate: ({ code, message }) => code === '-2010' && /duplicate order sent/i.test(message),
    // An order that ended without a fill is archived after 90 days, and can be looked up no more than one that never was.
    isNotFound: ({ code }) => code === '-2013' || code === '-2026',
    isUnsure: ({ code }) => code !== undefined && BINANCE_UNSURE.has(code),
    isClock: ({ code }) => code === '-1021',
    refusalOf: ({ status, code, message }) => {
      if (status < 400 || code === undefined || code === '-1003') return undefined;
      if (BINANCE_NOT_PERMITTED.has(code)) return 'not-permitted';
      if (code === '-2010' && /insufficient balance/i.test(message)) return 'insufficient-funds';
      return code === '-2010' || code === '-1013' || /^-11\d\d$/.test(code) ? 'invalid-order' : 'other';
    },
  },
  codeOf: (body) => /^\s*\{\s*"code"\s*:\s*(-\d+)\s*,\s*"msg"\s*:/.exec(body)?.[1],
  clientOrderIds: { lengthMax: 36, alphabet: /[A-Za-z0-9_-]/, unique: 'while-open' },
  closedOrdersKeptMs: 90 * DAY_MS,
  limits: [
    { name: 'requests', count: 6_000, perMs: 60_000 },
    { name: 'orders', count: 100, perMs: 10_000 },
  ],
  weights: {
    submit: 1,
    cancel: 1,
    find: 4,
    openOrders: 80,
    closedOrders: 20,
    fills: 20,
    balances: 20,
    candles: 2,
    ticker: 4,
    markets: 21,
    time: 1,
  },
  options: {
    defaultType: 'spot',
    fetchMarkets: { types: ['spot'] },
    // Both ask addresses that a key for trading alone may not use, for what we do not need.
    fetchCurrencies: false,
    fetchMargins: false,
    adjustForTimeDifference: true,
    warnOnFetchOpenOrdersWithoutSymbol: false,
  },
  urlsUnder: (baseUrl) => {
    const sockets = baseUrl.replace(/^http/, 'ws');
    return {
      public: `${baseUrl}/api/v3`,
      private: `${baseUrl}/api/v3`,
      v1: `${baseUrl}/api/v1`,
      sapi: `${baseUrl}/sapi/v1`,
      // ccxt looks for this word in the address to tell spot from futures.
      ws: { spot: `${sockets}/testnet/ws`, 'ws-api': { spot: `${sockets}/ws-api/v3` } },
    };
  },
  hasWholeOpenOrders: true,
  windowMs: DAY_MS,
  hasFillIds: true,
};

/** Any other exchange, by the classes of ccxt's errors. Ids are narrow enough for all that we know of. */
const others: Dialect = {
  words: {
    isDuplicate: ({ code }) => code === 'DuplicateOrderId',
    isNotFound: ({ code }) => code === 'OrderNotFound',
    isUnsure: () => false,
    isClock: ({ code }) => code === 'InvalidNonce',
    refusalOf: ({ code }) => {
      if (code === 'InsufficientFunds') return 'insufficient-funds';
      if (code === 'BadRequest' || code === 'BadSymbol') return 'invalid-order';
      if (code !== undefined && /^(Invalid|Order)/.test(code)) return 'invalid-order';
      if (code !== undefined && /^(Authentication|PermissionDenied|Account)/.test(code)) return 'not-permitted';
      return code === 'OperationRejected' || code === 'MarketClosed' ? 'other' : undefined;
    },
  },
  codeOf: (_body, errorName) => (PROVING.has(errorName) ? errorName : undefined),
  clientOrderIds: { lengthMax: 32, alphabet: /[A-Za-z0-9]/, unique: 'while-open' },
  // Nobody promises that an order which has ended can still be found.
  closedOrdersKeptMs: 0,
  weights: {
    submit: 1,
    cancel: 1,
    find: 1,
    openOrders: 1,
    closedOrders: 1,
    fills: 1,
    balances: 1,
    candles: 1,
    ticker: 1,
    markets: 1,
    time: 1,
  },
  options: { defaultType: 'spot', adjustForTimeDifference: true, warnOnFetchOpenOrdersWithoutSymbol: false },
  hasWholeOpenOrders: false,
  windowMs: DAY_MS,
  hasFillIds: false,
};

/** The classes that ccxt gives to what an exchange refused by name; its general ones may hide anything. */
const PROVING = new Set([
  'AccountNotEnabled',
  'AccountSuspended',
  'AuthenticationError',
  'BadRequest',
  'BadSymbol',
  'DuplicateOrderId',
  'InsufficientFunds',
  'InvalidNonce',
  'InvalidOrder',
  'MarketClosed',
  'OperationRejected',
  'OrderImmediatelyFillable',
  'OrderNotFillable',
  'OrderNotFound',
  'PermissionDenied',
]);

export function dialectOf(exchange: string): Dialect {
  return exchange === 'binance' || exchange === 'binanceus' ? binance : others;
}
