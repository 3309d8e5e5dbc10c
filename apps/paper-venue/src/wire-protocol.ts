import { alpacaError } from './alpaca/alpaca-error.js';
import { binanceError } from './binance/binance-error.js';
import { geckoError } from './gecko/gecko-error.js';
import type { WireError } from './wire-error.js';

export type WireProtocol = 'alpaca' | 'binance' | 'gecko';

/** Which venue an address belongs to; undefined for our own. */
export function protocolOf(path: string): WireProtocol | undefined {
  const first = path.split('/', 2)[1];
  return first === 'alpaca' || first === 'binance' || first === 'gecko' ? first : undefined;
}

export function serverErrorOf(protocol: WireProtocol): WireError {
  switch (protocol) {
    case 'alpaca':
      return alpacaError(500, { code: 50010000, message: 'internal server error occurred' });
    case 'binance':
      return binanceError(500, {
        code: -1001,
        msg: 'Internal error; unable to process your request. Please try again.',
      });
    case 'gecko':
      return geckoError(500, 'Internal Server Error');
  }
}

/** Why a request is one too many. */
export interface Excess {
  readonly retryAfterSec: number;
  /** Whoever goes on asking is shut out for a while; only Binance has a status for that. */
  readonly isBanned?: boolean;
  readonly isOrderCount?: boolean;
}

export function tooManyRequestsOf(protocol: WireProtocol, excess: Excess = { retryAfterSec: 1 }): WireError {
  const headers = { 'retry-after': String(excess.retryAfterSec) };
  switch (protocol) {
    case 'alpaca':
      return alpacaError(429, { code: 42910000, message: 'rate limit exceeded' }, headers);
    case 'binance':
      if (excess.isBanned) {
        const msg =
          'Way too much request weight used; IP banned. Please use the websocket for live updates to avoid bans.';
        return binanceError(418, { code: -1003, msg }, headers);
      }
      return excess.isOrderCount
        ? binanceError(429, { code: -1015, msg: 'Too many new orders.' }, headers)
        : binanceError(429, { code: -1003, msg: 'Too much request weight used; current limit is exceeded.' }, headers);
    case 'gecko':
      return geckoError(429, "You've exceeded the Rate Limit. Please wait and try again.", headers);
  }
}

/** An address that the venue does not serve. */
export function notFoundOf(protocol: WireProtocol): WireError {
  switch (protocol) {
    case 'alpaca':
      return alpacaError(404, { code: 40410000, message: 'endpoint not found' });
    case 'binance':
      return binanceError(404, { code: -1000, msg: 'Path not found.' });
    case 'gecko':
      return geckoError(404, 'Not Found');
  }
}
