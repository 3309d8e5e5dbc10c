import { Decimal } from '#libs/money';
import { isDormant, isOpen, type Fill, type Order } from '../engine/order.js';
import { assetIn } from '../market/instruments.js';

/** Binance's names of the states. */
const STATUSES = {
  new: 'NEW',
  partially_filled: 'PARTIALLY_FILLED',
  filled: 'FILLED',
  canceled: 'CANCELED',
  expired: 'EXPIRED',
} as const;

const TYPES = { market: 'MARKET', limit: 'LIMIT', stop: 'STOP_LOSS', 'stop-limit': 'STOP_LOSS_LIMIT' } as const;

const PLACES = 8;

/** Amounts have eight places on this wire. */
export function amount(value: Decimal | undefined): string {
  const [whole = '0', fraction = ''] = (value ?? Decimal.zero).toString().split('.');
  return `${whole}.${fraction.padEnd(PLACES, '0')}`;
}

export const binanceStatus = ({ status }: Order): string => STATUSES[status];
export const binanceType = ({ type }: Order): string => TYPES[type];
export const binanceSide = ({ side }: Pick<Order, 'side'>): string => side.toUpperCase();
export const binanceSymbol = ({ instrument }: Pick<Order, 'instrument'>): string => instrument.names.binance ?? '';

/** A market order has none of its own; Binance writes GTC. */
export function binanceTimeInForce({ timeInForce, limitPrice }: Order): string {
  return limitPrice && timeInForce !== 'day' ? timeInForce.toUpperCase() : 'GTC';
}

/** The fields that every answer about an order has. */
function common(order: Order): Record<string, unknown> {
  return {
    symbol: binanceSymbol(order),
    orderId: order.seq,
    orderListId: -1,
    clientOrderId: order.clientOrderId,
    price: amount(order.limitPrice),
    origQty: amount(order.quantity),
    executedQty: amount(order.filledQuantity),
    origQuoteOrderQty: amount(order.notional),
    cummulativeQuoteQty: amount(order.filledNotional),
    status: binanceStatus(order),
    timeInForce: binanceTimeInForce(order),
    type: binanceType(order),
    side: binanceSide(order),
    ...(order.stopPrice && { stopPrice: amount(order.stopPrice) }),
    workingTime: isDormant(order) ? -1 : order.createdAt,
    selfTradePreventionMode: 'NONE',
  };
}

/** The answer to a new order, in the detail that was asked for. */
export function acceptedJson(order: Order, fills: readonly Fill[], detail: string): Record<string, unknown> {
  const whole = { ...common(order), transactTime: order.updatedAt };
  if (detail === 'ACK') {
    const { symbol, orderId, orderListId, clientOrderId } = common(order);
    return { symbol, orderId, orderListId, clientOrderId, transactTime: order.updatedAt };
  }
  if (detail === 'RESULT') return whole;
  return {
    ...whole,
    fills: fills.map((fill) => ({
      price: amount(fill.price),
      qty: amount(fill.quantity),
      commission: amount(fill.fee),
      commissionAsset: assetIn('binance', fill.feeAsset),
      tradeId: fill.seq,
    })),
  };
}

export function orderJson(order: Order): Record<string, unknown> {
  return {
    ...common(order),
    stopPrice: amount(order.stopPrice),
    icebergQty: amount(undefined),
    time: order.createdAt,
    updateTime: order.updatedAt,
    isWorking: isOpen(order) ? !isDormant(order) : true,
  };
}

/** In the answer to a cancellation the client order id is the cancellation's own. */
export function canceledJson(order: Order, cancelId: string): Record<string, unknown> {
  return {
    ...common(order),
    clientOrderId: cancelId,
    origClientOrderId: order.clientOrderId,
    transactTime: order.updatedAt,
  };
}

export function tradeJson(fill: Fill): Record<string, unknown> {
  return {
    symbol: binanceSymbol(fill),
    id: fill.seq,
    orderId: fill.orderSeq,
    orderListId: -1,
    price: amount(fill.price),
    qty: amount(fill.quantity),
    quoteQty: amount(fill.price.times(fill.quantity)),
    commission: amount(fill.fee),
    commissionAsset: assetIn('binance', fill.feeAsset),
    time: fill.at,
    isBuyer: fill.side === 'buy',
    isMaker: fill.isMaker,
    isBestMatch: true,
  };
}
