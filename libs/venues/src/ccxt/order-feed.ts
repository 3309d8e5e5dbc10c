import type { Exchange } from 'ccxt';
import { z } from 'zod';
import type { Session } from '../stream-loop.js';
import { UnreadableAnswer } from '../venue-error.js';
import { readAs } from '../wire-value.js';
import { WireFill, WireOrder } from './ccxt-wire.js';

type Authenticating = Exchange & { authenticate?: (params: { type: string }) => Promise<unknown> };

/**
 * One connection of ccxt for orders and fills; whichever of the two loops fails ends it. ccxt holds a stream to be
 * confirmed as soon as somebody asked for it, so the first to ask must be the one who waits: only what it returns
 * from is live.
 */
export async function followOrderFeed(exchange: Authenticating, session: Session, signal: AbortSignal): Promise<void> {
  const stop = Promise.withResolvers<void>();
  const onAbort = (): void => stop.resolve();
  signal.addEventListener('abort', onAbort, { once: true });
  const ended = new AbortController();
  let loops: Promise<void>[] = [];
  try {
    await Promise.race([exchange.authenticate?.({ type: 'spot' }), stop.promise]);
    if (signal.aborted) return;
    loops = [loop(ended.signal, async () => readOrders(await exchange.watchOrders(), session))];
    if (exchange.has['watchMyTrades'] === true) {
      loops.push(loop(ended.signal, async () => readFills(await exchange.watchMyTrades(), session)));
    }
    session.live();
    await Promise.race([...loops, stop.promise]);
  } finally {
    ended.abort();
    signal.removeEventListener('abort', onAbort);
    await exchange.close().catch(() => undefined);
    await Promise.allSettled(loops);
  }
}

async function loop(signal: AbortSignal, step: () => Promise<void>): Promise<void> {
  while (!signal.aborted) await step();
}

function readOrders(orders: unknown, session: Session): void {
  read(session, () => {
    for (const order of readAs(z.array(WireOrder), orders)) session.event({ kind: 'order', order });
  });
}

function readFills(fills: unknown, session: Session): void {
  read(session, () => {
    for (const fill of readAs(z.array(WireFill), fills)) session.event({ kind: 'fill', fill });
  });
}

function read(session: Session, work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof UnreadableAnswer)) throw error;
    session.unreadable(error.message);
  }
}
