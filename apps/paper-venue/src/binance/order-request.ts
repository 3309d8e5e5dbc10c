import { randomBytes } from 'node:crypto';
import type { OrderRequest, OrderType, TimeInForce } from '../engine/order.js';
import { invalidParameter, mandatory } from './binance-error.js';
import type { Parameters } from './parameters.js';

/** Binance's types of orders in ours. */
const TYPES: Readonly<Record<string, OrderType>> = {
  MARKET: 'market',
  LIMIT: 'limit',
  STOP_LOSS: 'stop',
  STOP_LOSS_LIMIT: 'stop-limit',
};
export const ORDER_TYPES = Object.keys(TYPES);

const CLIENT_ORDER_ID = /^[a-zA-Z0-9-_.:/]{1,36}$/;

export function parseOrder(parameters: Parameters): OrderRequest {
  const instrument = parameters.getInstrument();
  const side = parameters.getOneOf('side', ['BUY', 'SELL'], -1117) === 'BUY' ? 'buy' : 'sell';
  const type = TYPES[parameters.getOneOf('type', ORDER_TYPES, -1116)] ?? 'market';
  const isLimited = type === 'limit' || type === 'stop-limit';
  const isStop = type === 'stop' || type === 'stop-limit';
  const quantity = parameters.findDecimal('quantity');
  const notional = type === 'market' ? parameters.findDecimal('quoteOrderQty') : undefined;
  if (!quantity && !notional) throw mandatory('quantity');
  const limitPrice = isLimited ? parameters.findDecimal('price') : undefined;
  if (isLimited && !limitPrice) throw mandatory('price');
  const stopPrice = isStop ? parameters.findDecimal('stopPrice') : undefined;
  if (isStop && !stopPrice) throw mandatory('stopPrice');
  const clientOrderId = parameters.find('newClientOrderId') ?? randomBytes(11).toString('hex');
  if (!CLIENT_ORDER_ID.test(clientOrderId)) {
    throw invalidParameter(
      -1100,
      "Illegal characters found in parameter 'newClientOrderId'; legal range is '^[a-zA-Z0-9-_]{1,36}$'.",
    );
  }
  return {
    protocol: 'binance',
    clientOrderId,
    instrument,
    side,
    type,
    timeInForce: isLimited ? timeInForceOf(parameters) : 'ioc',
    quantity: notional ? undefined : quantity,
    notional,
    limitPrice,
    stopPrice,
  };
}

/** What a market order cannot get at once expires, so it has no time in force of its own. */
function timeInForceOf(parameters: Parameters): TimeInForce {
  const value = parameters.getOneOf('timeInForce', ['GTC', 'IOC', 'FOK'], -1115);
  return value === 'GTC' ? 'gtc' : value === 'IOC' ? 'ioc' : 'fok';
}
