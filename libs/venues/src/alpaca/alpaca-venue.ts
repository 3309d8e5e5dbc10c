import { z } from 'zod';
import { Decimal } from '#libs/money';
import { fits } from '../client-order-id.js';
import { judge, lookupOf, submitOutcomeOf, type Fault } from '../fault.js';
import { isTerminal, type Balance, type Candle, type Order, type Position, type Ticker } from '../order.js';
import type { CancelOutcome, Lookup, SubmitOutcome } from '../outcome.js';
import { keepStreaming } from '../stream-loop.js';
import type { Call, CallResult } from '../venue-calls.js';
import { UnreadableAnswer, VenueUnavailable } from '../venue-error.js';
import type { VenueParts } from '../venue-parts.js';
import type {
  CallOptions,
  CandlesRequest,
  ClientOrderRef,
  FillPage,
  FillsRequest,
  Instrument,
  OrderRef,
  RateLimit,
  StreamEvent,
  SubmitRequest,
  Venue,
  VenueCapabilities,
} from '../venue.js';
import type { AlpacaSettings } from '../venues-file.js';
import { readAs } from '../wire-value.js';
import { bodyOf, openAlpacaClient, under, tradingUrlOf, type AlpacaClient } from './alpaca-client.js';
import { alpacaWords, explainAlpaca } from './alpaca-errors.js';
import { listCandles, listFills, listOrders, type Request } from './alpaca-lists.js';
import {
  isCrypto,
  orderRequestOf,
  tickerOf,
  WireAccount,
  WireAsset,
  WireOrder,
  WirePosition,
  WireQuotes,
} from './alpaca-wire.js';
import { followTradeUpdates } from './trade-updates.js';

const REQUESTS_PER_MINUTE = 200;
const BEGINNING = new Date(0);
/** Steps change once in years; an order that keeps to old ones is refused. */
const INSTRUMENT_KEPT_MS = 600_000;

/** Stocks: cents from one dollar up, and shares in parts of 10^-9. */
const STOCK_PRICE_TICK = Decimal.parse('0.01');
const STOCK_QUANTITY_STEP = Decimal.parse('0.000000001');

export function alpacaLimits(settings: AlpacaSettings): RateLimit[] {
  return [{ name: 'requests', count: settings.requestsPerMinute ?? REQUESTS_PER_MINUTE, perMs: 60_000 }];
}

export class AlpacaVenue implements Venue {
  readonly id: string;
  readonly capabilities: VenueCapabilities;
  private client: Promise<AlpacaClient> | undefined;
  private readonly instruments = new Map<string, { readonly instrument: Instrument; readonly keptTill: number }>();

  constructor(
    private readonly settings: AlpacaSettings,
    private readonly parts: VenueParts,
  ) {
    this.id = settings.id;
    this.capabilities = {
      clientOrderIds: { lengthMax: 128, alphabet: /[\x21-\x7e]/, unique: 'always' },
      hasPositions: true,
      orderTypes: ['market', 'limit', 'stop', 'stop-limit'],
      timesInForce: ['day', 'gtc', 'ioc', 'fok'],
      limits: alpacaLimits(settings),
    };
  }

  async submit(request: SubmitRequest, options?: CallOptions): Promise<SubmitOutcome> {
    if (!fits(request.clientOrderId, this.capabilities.clientOrderIds)) {
      return { outcome: 'refused', reason: 'invalid-request', message: 'the venue takes no such client order id' };
    }
    const priority = request.purpose === 'exit' ? 'urgent' : 'entry';
    const result = await this.ask({ ...options, priority, cost: ONE, isOrder: true }, async (client, signal) => {
      const postOrderRequest = orderRequestOf(request);
      return readAs(WireOrder, await bodyOf(client.orders.postOrderRaw({ postOrderRequest }, under(signal))));
    });
    return result.isAnswered
      ? { outcome: 'accepted', order: result.value }
      : submitOutcomeOf(result.fault, alpacaWords);
  }

  async cancel(ref: OrderRef, options?: CallOptions): Promise<CancelOutcome> {
    const result = await this.ask({ ...options, priority: 'urgent', cost: ONE, isOrder: true }, (client, signal) =>
      client.orders.deleteOrderByOrderID({ orderId: ref.venueOrderId }, under(signal)),
    );
    if (result.isAnswered) return { outcome: 'accepted' };
    const verdict = judge(result.fault, alpacaWords);
    if (verdict.outcome === 'duplicate') throw new Error('Invariant: a cancellation carries no client order id.');
    if (verdict.outcome !== 'refused' || verdict.reason !== 'invalid-order') return verdict;
    // Not cancelable is said of orders that ended and of some that still work: the order itself decides.
    const lookup = await this.findByVenueOrderId(ref, options);
    if (lookup.outcome === 'not-found') return lookup;
    if (lookup.outcome === 'unknown') return { outcome: 'unknown', reason: 'venue-unsure', message: lookup.message };
    return isTerminal(lookup.order) ? { outcome: 'already-terminal', order: lookup.order } : verdict;
  }

  findByClientOrderId({ clientOrderId }: ClientOrderRef, options?: CallOptions): Promise<Lookup> {
    return this.find(options, (client, signal) =>
      client.orders.getOrderByClientOrderIdRaw({ clientOrderId }, under(signal)),
    );
  }

  findByVenueOrderId({ venueOrderId }: OrderRef, options?: CallOptions): Promise<Lookup> {
    return this.find(options, (client, signal) =>
      client.orders.getOrderByOrderIDRaw({ orderId: venueOrderId }, under(signal)),
    );
  }

  openOrders(options?: CallOptions): Promise<readonly Order[]> {
    return this.list('openOrders', options, (client, request) =>
      listOrders(client, request, { status: 'open', since: BEGINNING }),
    );
  }

  closedOrders(
    { since, symbols }: { since: Date; symbols: readonly string[] },
    options?: CallOptions,
  ): Promise<readonly Order[]> {
    return this.list('closedOrders', options, (client, request) =>
      listOrders(client, request, { status: 'closed', since, symbols }),
    );
  }

  fills(wanted: FillsRequest, options?: CallOptions): Promise<FillPage> {
    return this.list('fills', options, (client, request) => listFills(client, request, wanted));
  }

  positions(options?: CallOptions): Promise<readonly Position[]> {
    return this.list('positions', options, (client, request) =>
      request(async (signal) =>
        readAs(z.array(WirePosition), await bodyOf(client.positions.getAllOpenPositionsRaw(under(signal)))),
      ),
    );
  }

  balances(options?: CallOptions): Promise<readonly Balance[]> {
    return this.list('balances', options, (client, request) =>
      request(async (signal) => readAs(WireAccount, await bodyOf(client.accounts.getAccountRaw(under(signal))))),
    );
  }

  candles(wanted: CandlesRequest, options?: CallOptions): Promise<readonly Candle[]> {
    return this.list('candles', { ...options, priority: 'data' }, (client, request) =>
      listCandles(client, request, wanted),
    );
  }

  ticker(symbol: string, options?: CallOptions): Promise<Ticker> {
    return this.list('ticker', { ...options, priority: 'data' }, (client, request) =>
      request(async (signal) => {
        const answer = isCrypto(symbol)
          ? client.crypto.cryptoLatestQuotesRaw({ loc: 'us', symbols: symbol }, under(signal))
          : client.stocks.stockLatestQuotesRaw({ symbols: symbol }, under(signal));
        const quote = readAs(WireQuotes, await bodyOf(answer)).quotes[symbol];
        if (!quote) throw new UnreadableAnswer(`no quote of ${symbol}`);
        return tickerOf(symbol, quote);
      }),
    );
  }

  async instrument(symbol: string, options?: CallOptions): Promise<Instrument> {
    const { clock } = this.parts;
    const kept = this.instruments.get(symbol);
    if (kept && clock.monotonic() < kept.keptTill) return kept.instrument;
    const instrument = await this.readInstrument(symbol, options);
    this.instruments.set(symbol, { instrument, keptTill: clock.monotonic() + INSTRUMENT_KEPT_MS });
    return instrument;
  }

  private readInstrument(symbol: string, options?: CallOptions): Promise<Instrument> {
    return this.list('instrument', { ...options, priority: 'data' }, (client, request) =>
      request(async (signal) => {
        const answer = client.assets.getV2AssetsSymbolOrAssetIdRaw({ symbolOrAssetId: symbol }, under(signal));
        const asset = readAs(WireAsset, await bodyOf(answer));
        if (asset.class !== 'crypto') {
          return { symbol, quantityStep: STOCK_QUANTITY_STEP, priceTick: STOCK_PRICE_TICK };
        }
        const { min_trade_increment: quantityStep, price_increment: priceTick, min_order_size: quantityMin } = asset;
        if (!quantityStep || !priceTick) throw new UnreadableAnswer(`no steps of ${symbol}`);
        return { symbol, quantityStep, priceTick, ...(quantityMin && { quantityMin }) };
      }),
    );
  }

  async stream(listener: (event: StreamEvent) => void, signal: AbortSignal): Promise<void> {
    const { streaming } = await this.open();
    const { key, secret } = this.settings;
    const url = `${tradingUrlOf(this.settings).replace(/^http/, 'ws')}/stream`;
    const { clock, streamObserver: observer, streamBackoffMs: backoffMs } = this.parts;
    const connect = (session: Parameters<typeof followTradeUpdates>[1], until: AbortSignal): Promise<void> =>
      followTradeUpdates({ streaming, url, key, secret }, session, until);
    await keepStreaming({ clock, observer, backoffMs, connect }, listener, signal);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  private async find(
    options: CallOptions | undefined,
    ask: (client: AlpacaClient, signal: AbortSignal) => Promise<{ raw: Response }>,
  ): Promise<Lookup> {
    const result = await this.ask({ ...options, priority: 'reconcile', cost: ONE }, async (client, signal) =>
      readAs(WireOrder, await bodyOf(ask(client, signal))),
    );
    return result.isAnswered ? { outcome: 'found', order: result.value } : lookupOf(result.fault, alpacaWords);
  }

  /** Every request of the list must succeed, or the whole list is unavailable. */
  private async list<T>(
    verb: string,
    options: (CallOptions & { priority?: 'data' }) | undefined,
    read: (client: AlpacaClient, request: Request) => Promise<T>,
  ): Promise<T> {
    const client = await this.open();
    const request: Request = async (attempt) => {
      const call = { priority: 'reconcile' as const, ...options, cost: ONE };
      const result = await this.ask(call, (_client, signal) => attempt(signal));
      if (result.isAnswered) return result.value;
      const verdict = judge(result.fault, alpacaWords);
      const reason = 'reason' in verdict ? verdict.reason : 'other';
      throw new VenueUnavailable(this.id, verb, reason, result.fault.message);
    };
    try {
      return await read(client, request);
    } catch (error) {
      if (!(error instanceof UnreadableAnswer)) throw error;
      throw new VenueUnavailable(this.id, verb, 'unreadable', error.message);
    }
  }

  private async ask<T>(
    call: Call,
    attempt: (client: AlpacaClient, signal: AbortSignal) => Promise<T>,
  ): Promise<CallResult<T>> {
    const client = await this.open();
    const secrets = [this.settings.key, this.settings.secret];
    const explain = (error: unknown): Fault => explainAlpaca(error, client.errors, secrets);
    return this.parts.calls.call(call, (signal) => attempt(client, signal), explain);
  }

  private open(): Promise<AlpacaClient> {
    this.client ??= openAlpacaClient(this.settings);
    return this.client;
  }
}

const ONE = { requests: 1 };
