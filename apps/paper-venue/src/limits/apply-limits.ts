import type { HttpApp } from '#libs/http';
import { operationOf } from '../faults/operation.js';
import { protocolOf, tooManyRequestsOf } from '../wire-protocol.js';
import type { RequestLimits } from './request-limits.js';

/** What Binance counts for a request; one for those that are not listed. */
const BINANCE_WEIGHTS: ReadonlyMap<string, number> = new Map([
  ['GET /binance/api/v3/exchangeInfo', 20],
  ['GET /binance/api/v3/klines', 2],
  ['GET /binance/api/v3/depth', 5],
  ['GET /binance/api/v3/trades', 25],
  ['GET /binance/api/v3/ticker/24hr', 2],
  ['GET /binance/api/v3/ticker/price', 2],
  ['GET /binance/api/v3/ticker/bookTicker', 2],
  ['GET /binance/api/v3/order', 4],
  ['GET /binance/api/v3/openOrders', 6],
  ['GET /binance/api/v3/allOrders', 20],
  ['GET /binance/api/v3/myTrades', 20],
  ['GET /binance/api/v3/account', 20],
]);

/** Asking for the open orders of all symbols is dear. */
const ALL_OPEN_ORDERS_WEIGHT = 80;

/** Counts every request to the imitated venues and refuses those that are too many, in each venue's words. */
export function applyLimits(app: HttpApp, limits: RequestLimits): void {
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onRequest', async (request, reply) => {
      const [path = '', query = ''] = request.url.split('?');
      const protocol = protocolOf(path);
      if (!protocol) return undefined;
      const isOrder = operationOf(request.method, path) === 'submit';
      const { headers, excess } = limits.count(protocol, { weight: weightOf(request.method, path, query), isOrder });
      void reply.headers(headers);
      if (!excess) return undefined;
      const error = tooManyRequestsOf(protocol, excess);
      return reply.status(error.status).headers(error.headers).send(error.body);
    });
}

function weightOf(method: string, path: string, query: string): number {
  const isForAll = path.endsWith('/openOrders') && !query.includes('symbol=');
  return isForAll ? ALL_OPEN_ORDERS_WEIGHT : (BINANCE_WEIGHTS.get(`${method} ${path}`) ?? 1);
}
