import { z } from 'zod';
import type { Clock } from '#libs/clock';
import type { StreamClient } from '../sockets/sockets.js';
import type { Venue } from '../venue.js';
import { isKnownStream, marketUpdate } from './market-update.js';

/** How often subscribers hear of the market; the walk takes a step each second. */
const UPDATE_MS = 1_000;
const STREAMS_MAX = 1_024;

const Request = z.object({
  id: z.union([z.string(), z.number(), z.null()]).default(null),
  method: z.enum(['SUBSCRIBE', 'UNSUBSCRIBE', 'LIST_SUBSCRIPTIONS']),
  params: z.array(z.string()).default([]),
});

/** Serves one client of the market streams: /binance/testnet/ws, with a stream's name behind it or without. */
export function serveMarketStream({ socket, path, setListening }: StreamClient, venue: Venue, clock: Clock): void {
  const send = (message: object): void => socket.send(JSON.stringify(message));
  const streams = new Set<string>();
  const closed = new AbortController();
  socket.on('close', () => closed.abort());
  const named = path.split('/').at(-1) ?? '';
  if (named.includes('@')) streams.add(named);

  socket.on('message', (data: Buffer) => {
    const parsed = Request.safeParse(readJson(data.toString()));
    if (!parsed.success) return send({ error: { code: 2, msg: 'Invalid request' }, id: null });
    const { id, method, params } = parsed.data;
    const unknown = params.find((name) => !isKnownStream(name));
    if (unknown !== undefined || streams.size + params.length > STREAMS_MAX) {
      return send({ error: { code: 2, msg: 'Invalid request: invalid stream' }, id });
    }
    if (method === 'LIST_SUBSCRIPTIONS') return send({ result: [...streams], id });
    for (const name of params) {
      if (method === 'SUBSCRIBE') streams.add(name);
      else streams.delete(name);
    }
    setListening(streams.size > 0);
    send({ result: null, id });
    if (method === 'SUBSCRIBE') for (const name of params) send(marketUpdate(name, venue));
  });

  void (async () => {
    while (!closed.signal.aborted) {
      for (const name of streams) send(marketUpdate(name, venue));
      await clock.sleep(UPDATE_MS, closed.signal);
    }
  })();
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
