import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { Decimal } from '#libs/money';
import type { OrderRequest } from '../engine/order.js';
import { findInstrument } from '../market/instruments.js';
import { alpacaError, invalidRequest } from './alpaca-error.js';

const CLIENT_ORDER_ID_LENGTH_MAX = 128;

/** Alpaca takes numbers as text and as numbers. */
const Amount = z.union([z.string(), z.number()]).transform((value, context) => {
  try {
    return Decimal.parse(String(value));
  } catch {
    context.addIssue('must be a decimal number');
    return z.NEVER;
  }
});

const Price = Amount.nullish().transform((price) => price ?? undefined);

/** Fields that we do not know are ignored, as Alpaca does. */
const OrderBody = z.object({
  symbol: z.string(),
  qty: Price,
  notional: Price,
  side: z.enum(['buy', 'sell']),
  type: z.enum(['market', 'limit', 'stop', 'stop_limit']),
  time_in_force: z.enum(['day', 'gtc', 'ioc', 'fok']),
  limit_price: Price,
  stop_price: Price,
  client_order_id: z.string().max(CLIENT_ORDER_ID_LENGTH_MAX).nullish(),
  order_class: z.enum(['simple', '']).nullish(),
});

export function parseOrder(body: unknown): OrderRequest {
  const parsed = OrderBody.safeParse(body);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw invalidRequest(`invalid ${issue?.path.join('.') ?? 'body'}: ${issue?.message ?? 'not understood'}`);
  }
  const { data } = parsed;
  const instrument = findInstrument('alpaca', data.symbol);
  if (!instrument) throw alpacaError(422, { code: 42210000, message: `asset "${data.symbol}" not found` });
  const needsLimit = data.type === 'limit' || data.type === 'stop_limit';
  const needsStop = data.type === 'stop' || data.type === 'stop_limit';
  if (needsLimit !== (data.limit_price !== undefined)) {
    throw invalidRequest(`${data.type} orders ${needsLimit ? 'require a' : 'must not have a'} limit_price`);
  }
  if (needsStop !== (data.stop_price !== undefined)) {
    throw invalidRequest(`${data.type} orders ${needsStop ? 'require a' : 'must not have a'} stop_price`);
  }
  if ((data.qty === undefined) === (data.notional === undefined)) throw invalidRequest('qty or notional is required');
  if (data.notional && data.type !== 'market') throw invalidRequest('notional orders must be market orders');
  return {
    protocol: 'alpaca',
    clientOrderId: data.client_order_id ? data.client_order_id : randomUUID(),
    instrument,
    side: data.side,
    type: data.type === 'stop_limit' ? 'stop-limit' : data.type,
    timeInForce: data.time_in_force,
    quantity: data.qty,
    notional: data.notional,
    limitPrice: data.limit_price,
    stopPrice: data.stop_price,
  };
}
