import { AsyncLocalStorage } from 'node:async_hooks';
import type { Exchange } from 'ccxt';
import { OperatorError } from '#libs/operator';
import { exchangeOnce, type HttpAnswer } from '../http-transport.js';
import type { CcxtSettings, UrlTree } from '../venues-file.js';
import type { Dialect } from './dialect.js';

/** What happened on the wire during one call of ccxt. */
export interface CallTrace {
  readonly signal: AbortSignal;
  wasSent: boolean;
  answer?: { readonly status: number; readonly headers: Record<string, string>; readonly body: string };
}

export interface ExactExchange {
  readonly exchange: Exchange;
  readonly hasStream: boolean;
  /** Runs a call of ccxt under the signal; the trace is filled as it goes. */
  traced<T>(trace: CallTrace, work: () => Promise<T>): Promise<T>;
}

/** Above every timeout of ours: our own signal ends a call, also while a body is being read, where ccxt would not. */
const CCXT_TIMEOUT_MS = 3_600_000;

/**
 * An exchange of ccxt that loses no digit, sends once, and lets nothing escape. Loaded on first use: all of ccxt is
 * 100 MB in memory.
 */
export async function openExactExchange(settings: CcxtSettings, dialect: Dialect): Promise<ExactExchange> {
  const { default: ccxt } = await import('ccxt');
  const streaming = (ccxt.pro as unknown as Record<string, typeof Exchange | undefined>)[settings.exchange];
  const plain = (ccxt as unknown as Record<string, typeof Exchange | undefined>)[settings.exchange];
  const Base = ccxt.exchanges.includes(settings.exchange) ? (streaming ?? plain) : undefined;
  if (!Base) {
    throw new OperatorError(
      `Venue ${settings.id}: ccxt knows no exchange ${settings.exchange}. Correct "exchange" in VENUES_FILE.`,
    );
  }
  const traces = new AsyncLocalStorage<CallTrace>();
  const Guarded = guarded(Base, traces);
  const exchange = new Guarded({
    apiKey: settings.key.reveal(),
    secret: settings.secret.reveal(),
    ...(settings.password && { password: settings.password.reveal() }),
    enableRateLimit: false,
    timeout: CCXT_TIMEOUT_MS,
    userAgent: 'flotilla',
    options: { ...dialect.options, maxRetriesOnFailure: 0, ws: { backoff: { base: 0 } } },
  });
  if (settings.paper) exchange.setSandboxMode(true);
  Object.assign(exchange.urls, { api: exchange.deepExtend(exchange.urls.api, urlsOf(settings, dialect)) as unknown });
  Object.assign(exchange, {
    // Numbers stay the texts that the exchange sent.
    number: String,
    fetchImplementation: tracedFetch(traces),
  });
  // Without an agent ccxt opens no socket without TLS, not even on loopback.
  await exchange.loadHttpProxyAgent();
  return {
    exchange,
    hasStream: streaming !== undefined && exchange.has['watchOrders'] === true,
    traced: (trace, work) => traces.run(trace, work),
  };
}

function urlsOf(settings: CcxtSettings, dialect: Dialect): UrlTree {
  if (settings.urls) return settings.urls;
  if (settings.baseUrl === undefined) return {};
  if (dialect.urlsUnder) return dialect.urlsUnder(settings.baseUrl);
  throw new OperatorError(
    `Venue ${settings.id}: baseUrl does not say where each part of ${settings.exchange} is. Use "urls" in VENUES_FILE.`,
  );
}

function tracedFetch(traces: AsyncLocalStorage<CallTrace>) {
  return async (
    url: string,
    init: { method: string; headers: Record<string, string>; body?: string },
  ): Promise<HttpAnswer> => {
    const trace = traces.getStore();
    if (!trace) throw new Error('Invariant: every request goes out under a trace.');
    trace.wasSent = true;
    const { method, headers, body } = init;
    return exchangeOnce(url, { method, headers, body, signal: trace.signal });
  };
}

interface SocketClient {
  future(hash: string): Promise<unknown>;
  readonly connected: Promise<unknown>;
}

/** The exchange's class with two holes mended. */
function guarded(Base: typeof Exchange, traces: AsyncLocalStorage<CallTrace>): typeof Exchange {
  return class Guarded extends Base {
    /** Kept beside the error that ccxt makes of an answer, because that one drops status, code and headers. */
    override onRestResponse(...response: Parameters<Exchange['onRestResponse']>): string {
      const [status, , , , headers, body] = response as unknown as [
        number,
        string,
        string,
        string,
        Record<string, string>,
        string,
      ];
      const trace = traces.getStore();
      if (trace) trace.answer = { status, headers, body };
      return super.onRestResponse(...response) as string;
    }

    /**
     * ccxt makes promises for messages that nobody may ever wait for, and rejects all of them when a socket closes.
     * One without a handler would end the process.
     */
    override client(url: string): ReturnType<Exchange['client']> {
      const isNew = !(url in this.clients);
      const client = super.client(url);
      if (isNew) {
        const sockets = client as unknown as SocketClient;
        const future = sockets.future.bind(sockets);
        sockets.future = (hash) => {
          const promise = future(hash);
          promise.catch(() => undefined);
          return promise;
        };
        sockets.connected.catch(() => undefined);
      }
      return client;
    }
  };
}
