import { z } from 'zod';
import { isOpen, type EngineEvent } from '../engine/order.js';
import type { StreamFaults } from '../faults/stream-faults.js';
import { assetIn } from '../market/instruments.js';
import type { StreamClient } from '../sockets/sockets.js';
import type { Venue } from '../venue.js';
import { WireError } from '../wire-error.js';
import { amount, binanceSide, binanceStatus, binanceSymbol, binanceTimeInForce, binanceType } from './order-json.js';
import { verifyParameters } from './signature.js';

const Request = z.object({
  id: z.union([z.string(), z.number(), z.null()]).default(null),
  method: z.string(),
  params: z.record(z.string(), z.unknown()).default({}),
});

type Json = Record<string, unknown>;

/** Serves one client of the WebSocket API: the time, and the events of the account to whoever signs for them. */
export function serveUserStream({ socket, setListening }: StreamClient, venue: Venue, faults: StreamFaults): void {
  const send = (message: object): void => socket.send(JSON.stringify(message));
  const channel = faults.channel(socket, send);
  let subscriptionId: number | undefined;
  let subscriptions = 0;

  const answer = ({ method, params }: z.infer<typeof Request>): Json => {
    switch (method) {
      case 'ping':
        return {};
      case 'time':
        return { serverTime: venue.parts.clock.now() };
      case 'userDataStream.subscribe.signature':
        verifyParameters(params, venue.parts.clock.now());
        subscriptionId ??= subscriptions++;
        setListening(true);
        return { subscriptionId };
      case 'userDataStream.unsubscribe':
        subscriptionId = undefined;
        setListening(false);
        return {};
      default:
        throw new WireError(400, { code: -1020, msg: 'This operation is not supported.' });
    }
  };
  socket.on('message', (data: Buffer) => {
    const parsed = Request.safeParse(readJson(data.toString()));
    if (!parsed.success) {
      return send({ id: null, status: 400, error: { code: -1000, msg: 'The request could not be read.' } });
    }
    try {
      send({ id: parsed.data.id, status: 200, result: answer(parsed.data) });
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      send({ id: parsed.data.id, status: error.status, error: error.body });
    }
  });

  const ignore = venue.listen((events) => {
    if (subscriptionId === undefined) return;
    for (const event of events) {
      if (binanceSymbol(event.order) === '') continue;
      for (const message of userEvents(event, venue)) channel.deliver({ subscriptionId, event: message });
    }
  });
  socket.on('close', ignore);
}

function userEvents(event: EngineEvent, venue: Venue): Json[] {
  // A stop that is triggered becomes a working order; the fills that follow tell of it.
  if (event.kind === 'triggered') return [];
  return [executionReport(event), accountPosition(event, venue)];
}

function executionReport(event: Exclude<EngineEvent, { kind: 'triggered' }>): Json {
  const { order } = event;
  const fill = event.kind === 'fill' ? event.fill : undefined;
  const executionTypes = { new: 'NEW', fill: 'TRADE', canceled: 'CANCELED', expired: 'EXPIRED' } as const;
  const isCancel = event.kind === 'canceled';
  return {
    e: 'executionReport',
    E: event.at,
    s: binanceSymbol(order),
    // On a cancellation c is the cancellation's own id and C the order's.
    c: isCancel ? `cancel_${event.seq}` : order.clientOrderId,
    S: binanceSide(order),
    o: binanceType(order),
    f: binanceTimeInForce(order),
    q: amount(order.quantity),
    p: amount(order.limitPrice),
    P: amount(order.stopPrice),
    F: amount(undefined),
    g: -1,
    C: isCancel ? order.clientOrderId : '',
    x: executionTypes[event.kind],
    X: binanceStatus(order),
    r: 'NONE',
    i: order.seq,
    l: amount(fill?.quantity),
    z: amount(order.filledQuantity),
    L: amount(fill?.price),
    n: fill ? amount(fill.fee) : '0',
    N: fill ? assetIn('binance', fill.feeAsset) : null,
    T: event.at,
    t: fill?.seq ?? -1,
    I: event.seq,
    w: isOpen(order),
    m: fill?.isMaker ?? false,
    M: false,
    O: order.createdAt,
    Z: amount(order.filledNotional),
    Y: amount(fill && fill.price.times(fill.quantity)),
    Q: amount(order.notional),
    W: order.createdAt,
    V: 'NONE',
  };
}

function accountPosition({ order, at }: EngineEvent, venue: Venue): Json {
  const { base, quote } = order.instrument;
  return {
    e: 'outboundAccountPosition',
    E: at,
    u: at,
    B: [base, quote].map((asset) => {
      const { free, locked } = venue.parts.engine.balances.of(asset);
      return { a: assetIn('binance', asset), f: amount(free), l: amount(locked) };
    }),
  };
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
