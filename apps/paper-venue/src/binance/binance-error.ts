import type { Refusal } from '../engine/order-rules.js';
import { WireError } from '../wire-error.js';

/** The body of every error of Binance's. */
export function binanceError(
  status: number,
  body: { code: number; msg: string },
  headers?: Record<string, string>,
): WireError {
  return new WireError(status, body, headers);
}

const badRequest = (code: number, msg: string): WireError => binanceError(400, { code, msg });

export const mandatory = (name: string): WireError =>
  badRequest(-1102, `Mandatory parameter '${name}' was not sent, was empty/null, or malformed.`);
export const invalidParameter = (code: number, msg: string): WireError => badRequest(code, msg);
export const invalidSymbol = (): WireError => badRequest(-1121, 'Invalid symbol.');
export const unknownOrder = (): WireError => badRequest(-2011, 'Unknown order sent.');
export const noSuchOrder = (): WireError => badRequest(-2013, 'Order does not exist.');
export const archivedOrder = (): WireError =>
  badRequest(-2026, 'Order was canceled or expired with no executed qty over 90 days ago and has been archived.');
export const wrongKey = (): WireError =>
  binanceError(401, { code: -2015, msg: 'Invalid API-key, IP, or permissions for action.' });
export const wrongSignature = (): WireError => badRequest(-1022, 'Signature for this request is not valid.');
export const tooEarly = (): WireError =>
  badRequest(-1021, "Timestamp for this request was 1000ms ahead of the server's time.");
export const tooLate = (): WireError => badRequest(-1021, 'Timestamp for this request is outside of the recvWindow.');

export function refused(refusal: Refusal): WireError {
  switch (refusal.reason) {
    case 'duplicate-client-order-id':
      return badRequest(-2010, 'Duplicate order sent.');
    case 'insufficient-funds':
      return badRequest(-2010, 'Account has insufficient balance for requested action.');
    case 'quantity-missing':
      return mandatory('quantity');
    case 'quantity-range':
      return badRequest(-1013, 'Invalid quantity.');
    case 'quantity-step':
      return badRequest(-1013, 'Filter failure: LOT_SIZE');
    case 'price-tick':
      return badRequest(-1013, 'Filter failure: PRICE_FILTER');
    case 'notional-min':
      return badRequest(-1013, 'Filter failure: NOTIONAL');
    case 'no-market':
      return badRequest(-2010, 'Market is closed.');
  }
}
