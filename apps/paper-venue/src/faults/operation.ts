import type { Operation } from './fault.js';

const ROUTES: readonly [string, RegExp, Operation][] = [
  ['POST', /^\/alpaca\/v2\/orders$/, 'submit'],
  ['GET', /^\/alpaca\/v2\/orders$/, 'open-orders'],
  ['GET', /^\/alpaca\/v2\/orders(\/|:)/, 'lookup'],
  ['DELETE', /^\/alpaca\/v2\/orders(\/|$)/, 'cancel'],
  ['POST', /^\/binance\/api\/v3\/order$/, 'submit'],
  ['GET', /^\/binance\/api\/v3\/order$/, 'lookup'],
  ['DELETE', /^\/binance\/api\/v3\/order$/, 'cancel'],
  ['GET', /^\/binance\/api\/v3\/openOrders$/, 'open-orders'],
  ['DELETE', /^\/binance\/api\/v3\/openOrders$/, 'cancel'],
];

/** What faults call a request; undefined for all that only "any" concerns. */
export function operationOf(method: string, path: string): Operation | undefined {
  return ROUTES.find(([verb, pattern]) => verb === method && pattern.test(path))?.[2];
}
