import { z } from 'zod';
import { CREDENTIALS } from '../credentials.js';
import type { EngineEvent } from '../engine/order.js';
import type { StreamFaults } from '../faults/stream-faults.js';
import type { StreamClient } from '../sockets/sockets.js';
import type { Venue } from '../venue.js';
import { eventName, isoTime, orderJson } from './order-json.js';

const Message = z.union([
  z.object({
    action: z.literal('authenticate'),
    data: z.object({ key_id: z.string(), secret_key: z.string() }),
  }),
  z.object({ action: z.literal('auth'), key: z.string(), secret: z.string() }),
  z.object({ action: z.literal('listen'), data: z.object({ streams: z.array(z.string()) }) }),
]);

/** Serves one client of /alpaca/stream. Alpaca sends its JSON in binary frames. */
export function serveAlpacaStream({ socket, setListening }: StreamClient, venue: Venue, faults: StreamFaults): void {
  let isAuthorized = false;
  let isListening = false;
  const send = (message: object): void => socket.send(Buffer.from(JSON.stringify(message)), { binary: true });
  const channel = faults.channel(socket, send);

  const authorize = (key: string, secret: string): void => {
    isAuthorized = key === CREDENTIALS.key && secret === CREDENTIALS.secret;
    const status = isAuthorized ? 'authorized' : 'unauthorized';
    send({ stream: 'authorization', data: { status, action: 'authenticate' } });
  };
  const onMessage = (text: string): void => {
    const parsed = Message.safeParse(readJson(text));
    if (!parsed.success) {
      send({ action: 'error', data: { error_message: 'message not understood' } });
    } else if (parsed.data.action === 'authenticate') {
      authorize(parsed.data.data.key_id, parsed.data.data.secret_key);
    } else if (parsed.data.action === 'auth') {
      authorize(parsed.data.key, parsed.data.secret);
    } else if (!isAuthorized) {
      send({ stream: 'authorization', data: { status: 'unauthorized', action: 'listen' } });
    } else {
      // Each list takes the place of the one before.
      isListening = parsed.data.data.streams.includes('trade_updates');
      setListening(isListening);
      send({ stream: 'listening', data: { streams: isListening ? ['trade_updates'] : [] } });
    }
  };
  socket.on('message', (data: Buffer) => onMessage(data.toString()));

  const ignore = venue.listen((events) => {
    if (!isListening) return;
    for (const event of events) {
      const update = tradeUpdate(event, venue);
      if (update) channel.deliver(update);
    }
  });
  socket.on('close', ignore);
}

function tradeUpdate(event: EngineEvent, { parts }: Venue): object | undefined {
  const name = eventName(event);
  if (name === undefined) return undefined;
  const { order } = event;
  const { free, locked } = parts.engine.balances.of(order.instrument.base);
  const filled = event.kind === 'fill' && {
    execution_id: parts.identifiers.uuid('fill', event.fill.seq),
    price: event.fill.price.toString(),
    qty: event.fill.quantity.toString(),
    position_qty: free.plus(locked).toString(),
  };
  return {
    stream: 'trade_updates',
    data: {
      event: name,
      // Sorts as text, as Alpaca's do.
      event_id: event.seq.toString().padStart(26, '0'),
      at: isoTime(event.at),
      timestamp: isoTime(event.at),
      ...filled,
      order: orderJson(order, parts.identifiers),
    },
  };
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
