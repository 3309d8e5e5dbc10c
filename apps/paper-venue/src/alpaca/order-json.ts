import { remainingOf, type EngineEvent, type Fill, type Order } from '../engine/order.js';
import type { Identifiers } from '../identifiers.js';
import { INSTRUMENTS, type Instrument } from '../market/instruments.js';

const AVERAGE_SCALE = 9;

export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

export function assetId(identifiers: Identifiers, instrument: Instrument): string {
  return identifiers.uuid('asset', INSTRUMENTS.indexOf(instrument) + 1);
}

/** What must be filled at once and was not is canceled in Alpaca's words, expired in Binance's. */
export function alpacaStatus({ status, timeInForce }: Order): string {
  return status === 'expired' && (timeInForce === 'ioc' || timeInForce === 'fok') ? 'canceled' : status;
}

export function orderJson(order: Order, identifiers: Identifiers): Record<string, unknown> {
  const status = alpacaStatus(order);
  const stamp = (when: string): string | null => (status === when ? isoTime(order.updatedAt) : null);
  const type = order.type === 'stop-limit' ? 'stop_limit' : order.type;
  const average = order.filledQuantity.isZero()
    ? null
    : order.filledNotional.dividedBy(order.filledQuantity, { scale: AVERAGE_SCALE, rounding: 'half-even' }).toString();
  return {
    id: identifiers.uuid('order', order.seq),
    client_order_id: order.clientOrderId,
    created_at: isoTime(order.createdAt),
    updated_at: isoTime(order.updatedAt),
    submitted_at: isoTime(order.createdAt),
    filled_at: stamp('filled'),
    expired_at: stamp('expired'),
    canceled_at: stamp('canceled'),
    failed_at: null,
    replaced_at: null,
    replaced_by: null,
    replaces: null,
    asset_id: assetId(identifiers, order.instrument),
    symbol: order.instrument.names.alpaca,
    asset_class: assetClass(order.instrument),
    notional: order.notional?.toString() ?? null,
    qty: order.notional ? null : order.quantity.toString(),
    filled_qty: order.filledQuantity.toString(),
    filled_avg_price: average,
    order_class: '',
    order_type: type,
    type,
    side: order.side,
    position_intent: order.side === 'buy' ? 'buy_to_open' : 'sell_to_close',
    time_in_force: order.timeInForce,
    limit_price: order.limitPrice?.toString() ?? null,
    stop_price: order.stopPrice?.toString() ?? null,
    status,
    extended_hours: false,
    legs: null,
    trail_percent: null,
    trail_price: null,
    hwm: null,
    subtag: null,
    source: null,
  };
}

export function assetClass({ kind }: Instrument): string {
  return kind === 'crypto' ? 'crypto' : 'us_equity';
}

/** A fill in the list of account activities. Its id sorts by time and carries the fill's number. */
export function fillActivity(fill: Fill, order: Order, identifiers: Identifiers): Record<string, unknown> {
  return {
    id: activityId('fill', fill, identifiers),
    activity_type: 'FILL',
    transaction_time: isoTime(fill.at),
    type: order.status === 'filled' && order.filledQuantity.equals(order.quantity) ? 'fill' : 'partial_fill',
    price: fill.price.toString(),
    qty: fill.quantity.toString(),
    side: fill.side,
    symbol: fill.instrument.names.alpaca,
    leaves_qty: remainingOf(order).toString(),
    cum_qty: order.filledQuantity.toString(),
    order_id: identifiers.uuid('order', fill.orderSeq),
    order_status: alpacaStatus(order),
  };
}

/** Alpaca takes fees on crypto from what the trade brings in, and lists them as activities of their own. */
export function feeActivity(fill: Fill, identifiers: Identifiers): Record<string, unknown> {
  const isBase = fill.feeAsset === fill.instrument.base;
  return {
    id: activityId('fee', fill, identifiers),
    activity_type: 'CFEE',
    date: isoTime(fill.at).slice(0, 10),
    net_amount: isBase ? '0' : fill.fee.negated().toString(),
    description: 'Coin Pair Transaction Fee (Non USD)',
    symbol: fill.instrument.names.alpaca,
    qty: isBase ? fill.fee.negated().toString() : '0',
    price: fill.price.toString(),
    status: 'executed',
  };
}

function activityId(kind: 'fill' | 'fee', fill: Fill, identifiers: Identifiers): string {
  const stamp = isoTime(fill.at).replaceAll(/\D/g, '').slice(0, 17);
  return `${stamp}::${identifiers.uuid(kind, fill.seq)}`;
}

/** The word for an event on the stream; undefined for what Alpaca does not tell. */
export function eventName(event: EngineEvent): string | undefined {
  switch (event.kind) {
    case 'fill':
      return event.order.status === 'filled' ? 'fill' : 'partial_fill';
    case 'expired':
      return alpacaStatus(event.order);
    case 'new':
    case 'canceled':
      return event.kind;
    case 'triggered':
      return undefined;
  }
}
