import type { errors, marketData, streaming, trading } from '@alpacahq/alpaca-trade-api';
import { exchangeOnce } from '../http-transport.js';
import type { AlpacaSettings } from '../venues-file.js';
import { parseExactJson } from '../wire-value.js';

/** The parts of the client library that we use, each bound to the account. */
export interface AlpacaClient {
  readonly orders: trading.OrdersApi;
  readonly activities: trading.AccountActivitiesApi;
  readonly positions: trading.PositionsApi;
  readonly accounts: trading.AccountsApi;
  readonly assets: trading.AssetsApi;
  readonly crypto: marketData.CryptoApi;
  readonly stocks: marketData.StockApi;
  readonly streaming: typeof streaming;
  readonly errors: typeof errors;
}

/**
 * Loaded on first use, so that a process without this venue does not pay for it. The classes are used without the
 * library's own facade: that one retries, waits for a rate limit of its own and reads the environment.
 */
export async function openAlpacaClient(settings: AlpacaSettings): Promise<AlpacaClient> {
  const library = await import('@alpacahq/alpaca-trade-api');
  const account = {
    keyId: settings.key.reveal(),
    secret: settings.secret.reveal(),
    retry: { maxRetries: 0 },
    // Our own signal ends every call; a second clock would only disagree with the first.
    timeoutMs: 0,
    fetchApi,
  };
  const tradingAccount = new library.trading.Configuration({ ...account, basePath: tradingUrlOf(settings) });
  const dataAccount = new library.marketData.Configuration({
    ...account,
    ...(settings.dataUrl !== undefined && { basePath: settings.dataUrl }),
  });
  return {
    orders: new library.trading.OrdersApi(tradingAccount),
    activities: new library.trading.AccountActivitiesApi(tradingAccount),
    positions: new library.trading.PositionsApi(tradingAccount),
    accounts: new library.trading.AccountsApi(tradingAccount),
    assets: new library.trading.AssetsApi(tradingAccount),
    crypto: new library.marketData.CryptoApi(dataAccount),
    stocks: new library.marketData.StockApi(dataAccount),
    streaming: library.streaming,
    errors: library.errors,
  };
}

const SIGNAL = Symbol('signal');

/** What a call adds to a request. The library's own way with signals reads every body through three more layers. */
export function under(signal: AbortSignal): RequestInit {
  return { [SIGNAL]: signal } as RequestInit;
}

async function fetchApi(url: string, init: RequestInit): Promise<Response> {
  const signal = (init as { [SIGNAL]?: AbortSignal })[SIGNAL];
  if (!signal) throw new Error('Invariant: every request goes out under a signal.');
  const answer = await exchangeOnce(url, {
    method: init.method ?? 'GET',
    headers: init.headers as Record<string, string>,
    body: init.body as string | undefined,
    signal,
  });
  if (answer.status < 300) return answer as unknown as Response;
  // The library looks closer at errors.
  const { status, statusText, headers } = answer;
  return new Response(await answer.text(), { status, statusText, headers });
}

export function tradingUrlOf({ baseUrl, paper }: AlpacaSettings): string {
  return baseUrl ?? (paper ? 'https://paper-api.alpaca.markets' : 'https://api.alpaca.markets');
}

/** The library's raw answer, as exact JSON: its own models lose fields and turn times into Dates unasked. */
export async function bodyOf(answer: Promise<{ raw: Response }>): Promise<unknown> {
  return parseExactJson(await (await answer).raw.text());
}
