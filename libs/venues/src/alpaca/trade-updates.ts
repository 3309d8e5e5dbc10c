import type { streaming } from '@alpacahq/alpaca-trade-api';
import type { Session } from '../stream-loop.js';
import type { Secret } from '../secret.js';
import { UnreadableAnswer } from '../venue-error.js';
import { readAs } from '../wire-value.js';
import { WireTradeUpdate } from './alpaca-wire.js';

const PING_INTERVAL_MS = 10_000;
const PONG_WAIT_MS = 5_000;

export interface TradeUpdatesParts {
  readonly streaming: typeof streaming;
  readonly url: string;
  readonly key: Secret;
  readonly secret: Secret;
}

/** One connection to trade_updates. The client's own reconnecting is off: who reconnects must also tell the gap. */
export function followTradeUpdates(parts: TradeUpdatesParts, session: Session, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    let lastError = 'the venue closed the connection';
    const stream = rawStream(parts, (data) => readUpdate(data, session));
    const stop = (): void => stream.disconnect();
    signal.addEventListener('abort', stop, { once: true });
    stream.onError((message) => {
      lastError = message;
      if (message.startsWith('failed to ')) session.unreadable(message);
    });
    stream.on(parts.streaming.EVENT.SUBSCRIPTION, () => session.live());
    stream.onDisconnect(() => {
      signal.removeEventListener('abort', stop);
      if (signal.aborted) resolve();
      else reject(new Error(lastError));
    });
    stream.subscribeTradeUpdates();
    stream.connect();
    if (signal.aborted) stop();
  });
}

/** The client turns what it reads into classes and drops fields on the way; we read the frame as it was sent. */
function rawStream(parts: TradeUpdatesParts, onUpdate: (data: unknown) => void): streaming.TradingStream {
  class RawTradingStream extends parts.streaming.TradingStream {
    protected override handleMessage(message: unknown): void {
      const frame = message as { stream?: unknown; data?: unknown } | null;
      if (frame?.stream === 'trade_updates') onUpdate(frame.data);
      else super.handleMessage(message);
    }
  }
  return new RawTradingStream({
    credentials: { keyId: parts.key.reveal(), secret: parts.secret.reveal() },
    url: parts.url,
    reconnect: false,
    pingIntervalMs: PING_INTERVAL_MS,
    pongWaitMs: PONG_WAIT_MS,
  });
}

function readUpdate(data: unknown, session: Session): void {
  try {
    const event = (data as { event?: unknown } | null)?.event;
    const kind = event === 'fill' || event === 'partial_fill' ? 'fill' : 'change';
    const { order, fill } = readAs(WireTradeUpdate, { ...(data as object), kind });
    if (fill) session.event({ kind: 'fill', fill });
    session.event({ kind: 'order', order });
  } catch (error) {
    if (!(error instanceof UnreadableAnswer)) throw error;
    session.unreadable(error.message);
  }
}
