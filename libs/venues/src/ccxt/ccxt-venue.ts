import { fits } from '../client-order-id.js';
import { judge, lookupOf, submitOutcomeOf, type Fault } from '../fault.js';
import { isTerminal, type Balance, type Candle, type Order, type Position, type Ticker } from '../order.js';
import type { CancelOutcome, Lookup, Refused, SubmitOutcome } from '../outcome.js';
import { keepStreaming, type Session } from '../stream-loop.js';
import type { Call, CallResult } from '../venue-calls.js';
import { UnreadableAnswer, VenueUnavailable, VenueUnsupported } from '../venue-error.js';
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
import type { CcxtSettings } from '../venues-file.js';
import { readAs } from '../wire-value.js';
import { explainCcxt } from './ccxt-errors.js';
import { listCandles, listClosedOrders, listFills, listOpenOrders, type ListParts } from './ccxt-lists.js';
import { mismatchOf, WireBalances, WireMarket, WireOrder, WireTicker } from './ccxt-wire.js';
import { dialectOf, type CcxtVerb, type Dialect } from './dialect.js';
import { openExactExchange, type CallTrace, type ExactExchange } from './exact-exchange.js';
import { followOrderFeed } from './order-feed.js';

/** For an exchange that we know no figures of. */
const CAUTIOUS_LIMITS: readonly RateLimit[] = [{ name: 'requests', count: 300, perMs: 60_000 }];

export function ccxtLimits(settings: CcxtSettings): readonly RateLimit[] {
  const { requestsPerMinute, ordersPer10Seconds } = settings;
  const limits = dialectOf(settings.exchange).limits ?? CAUTIOUS_LIMITS;
  return limits.map((limit) => {
    if (limit.name === 'requests') return { ...limit, count: requestsPerMinute ?? limit.count };
    return { ...limit, count: ordersPer10Seconds ?? limit.count };
  });
}

export class CcxtVenue implements Venue {
  readonly id: string;
  readonly capabilities: VenueCapabilities;
  private readonly dialect: Dialect;
  private opened: Promise<ExactExchange> | undefined;
  private loaded: Promise<void> | undefined;
  private readonly instruments = new Map<string, Instrument>();

  constructor(
    private readonly settings: CcxtSettings,
    private readonly parts: VenueParts,
  ) {
    this.id = settings.id;
    this.dialect = dialectOf(settings.exchange);
    const { clientOrderIds, closedOrdersKeptMs } = this.dialect;
    this.capabilities = {
      clientOrderIds,
      ...(closedOrdersKeptMs !== undefined && { closedOrdersKeptMs }),
      hasPositions: false,
      orderTypes: ['market', 'limit', 'stop', 'stop-limit'],
      timesInForce: ['gtc', 'ioc', 'fok'],
      limits: ccxtLimits(settings),
    };
  }

  async submit(request: SubmitRequest, options?: CallOptions): Promise<SubmitOutcome> {
    const unfit = await this.findUnfit(request, options);
    if (unfit) return unfit;
    const priority = request.purpose === 'exit' ? 'urgent' : 'entry';
    const call = {
      ...options,
      priority,
      cost: { requests: this.dialect.weights.submit, orders: 1 },
      isOrder: true,
    } as const;
    const result = await this.ask(call, async ({ exchange }) => {
      const { symbol, side, quantity, limitPrice, stopPrice, clientOrderId, timeInForce } = request;
      const isPriced = request.type === 'limit' || request.type === 'stop-limit';
      const params = {
        clientOrderId,
        ...(isPriced && { timeInForce: timeInForce.toUpperCase() }),
        ...(stopPrice && { triggerPrice: stopPrice.toString() }),
      };
      // ccxt takes texts where it says number, and would turn a market order with a price into one in money.
      const amount = quantity.toString() as unknown as number;
      const price = isPriced ? (limitPrice?.toString() as unknown as number) : undefined;
      return readAs(
        WireOrder,
        await exchange.createOrder(symbol, isPriced ? 'limit' : 'market', side, amount, price, params),
      );
    });
    if (result.isAnswered) return { outcome: 'accepted', order: result.value };
    const outcome = submitOutcomeOf(result.fault, this.dialect.words);
    if (outcome.outcome === 'refused' && outcome.reason === 'clock') await this.measureClock();
    return outcome;
  }

  async cancel(ref: OrderRef, options?: CallOptions): Promise<CancelOutcome> {
    const notReady = await this.findNotReady();
    if (notReady) return notReady;
    const call = { ...options, priority: 'urgent', cost: this.costOf('cancel'), isOrder: true } as const;
    const result = await this.ask(call, ({ exchange }) => exchange.cancelOrder(ref.venueOrderId, ref.symbol));
    if (result.isAnswered) return { outcome: 'accepted' };
    const verdict = judge(result.fault, this.dialect.words);
    if (verdict.outcome === 'unknown') return verdict;
    if (verdict.outcome === 'refused' && verdict.reason === 'clock') await this.measureClock();
    if (verdict.outcome === 'refused' && verdict.reason !== 'invalid-order' && verdict.reason !== 'other')
      return verdict;
    // The same words for an order that ended and for one that never was: the order itself decides.
    const lookup = await this.findByVenueOrderId(ref, options);
    if (lookup.outcome === 'not-found') return lookup;
    if (lookup.outcome === 'unknown') return { outcome: 'unknown', reason: 'venue-unsure', message: lookup.message };
    if (isTerminal(lookup.order)) return { outcome: 'already-terminal', order: lookup.order };
    return { outcome: 'refused', reason: 'other', message: result.fault.message };
  }

  findByClientOrderId({ clientOrderId, symbol }: ClientOrderRef, options?: CallOptions): Promise<Lookup> {
    return this.find(options, ({ exchange }) =>
      exchange.fetchOrder(undefined as unknown as string, symbol, { clientOrderId }),
    );
  }

  findByVenueOrderId({ venueOrderId, symbol }: OrderRef, options?: CallOptions): Promise<Lookup> {
    return this.find(options, ({ exchange }) => exchange.fetchOrder(venueOrderId, symbol));
  }

  openOrders(options?: CallOptions): Promise<readonly Order[]> {
    return this.list('openOrders', options, listOpenOrders);
  }

  closedOrders(wanted: { since: Date; symbols: readonly string[] }, options?: CallOptions): Promise<readonly Order[]> {
    return this.list('closedOrders', options, (parts) => listClosedOrders(parts, wanted));
  }

  fills(wanted: FillsRequest, options?: CallOptions): Promise<FillPage> {
    return this.list('fills', options, (parts) => listFills(parts, wanted));
  }

  positions(): Promise<readonly Position[]> {
    return Promise.reject(new VenueUnsupported(this.id, 'positions'));
  }

  balances(options?: CallOptions): Promise<readonly Balance[]> {
    return this.list('balances', options, async ({ exchange, request }) =>
      readAs(WireBalances, await request('balances', () => exchange.fetchBalance())),
    );
  }

  candles(wanted: CandlesRequest, options?: CallOptions): Promise<readonly Candle[]> {
    return this.list('candles', { ...options, priority: 'data' }, (parts) => listCandles(parts, wanted));
  }

  ticker(symbol: string, options?: CallOptions): Promise<Ticker> {
    return this.list('ticker', { ...options, priority: 'data' }, async ({ exchange, request }) =>
      readAs(WireTicker, await request('ticker', () => exchange.fetchTicker(symbol))),
    );
  }

  instrument(symbol: string, options?: CallOptions): Promise<Instrument> {
    return this.list('instrument', options, async ({ exchange }) => {
      const market: unknown = exchange.markets?.[symbol];
      if (market === undefined) throw new UnreadableAnswer(`no symbol ${symbol}`);
      return readAs(WireMarket, market);
    });
  }

  async stream(listener: (event: StreamEvent) => void, signal: AbortSignal): Promise<void> {
    const { exchange, hasStream } = await this.open();
    if (!hasStream) throw new VenueUnsupported(this.id, 'stream');
    const { clock, streamObserver: observer, streamBackoffMs: backoffMs } = this.parts;
    const connect = async (session: Session, until: AbortSignal): Promise<void> => {
      await this.ready();
      await followOrderFeed(exchange, session, until);
    };
    await keepStreaming({ clock, observer, backoffMs, connect }, listener, signal);
  }

  async close(): Promise<void> {
    const opened = await this.opened;
    await opened?.exchange.close();
  }

  private async find(
    options: CallOptions | undefined,
    ask: (exact: ExactExchange) => Promise<unknown>,
  ): Promise<Lookup> {
    const notReady = await this.findNotReady();
    if (notReady) return { outcome: 'unknown', reason: notReady.reason, message: notReady.message };
    const call = { ...options, priority: 'reconcile', cost: this.costOf('find') } as const;
    const result = await this.ask(call, async (exact) => readAs(WireOrder, await ask(exact)));
    if (result.isAnswered) return { outcome: 'found', order: result.value };
    const lookup = lookupOf(result.fault, this.dialect.words);
    if (lookup.outcome === 'unknown' && lookup.reason === 'clock') await this.measureClock();
    return lookup;
  }

  /** Every request of the list must succeed, or the whole list is unavailable. */
  private async list<T>(
    verb: string,
    options: (CallOptions & { priority?: 'data' }) | undefined,
    read: (parts: ListParts) => Promise<T>,
  ): Promise<T> {
    const { exchange } = await this.open();
    const request = async (kind: CcxtVerb, attempt: () => Promise<unknown>): Promise<unknown> => {
      const result = await this.ask({ priority: 'reconcile', ...options, cost: this.costOf(kind) }, attempt);
      if (result.isAnswered) return result.value;
      throw await this.unavailable(verb, result.fault);
    };
    try {
      await this.ready();
      const now = new Date(this.parts.clock.now() - this.clockOffsetMs(exchange));
      return await read({ exchange, dialect: this.dialect, request, now });
    } catch (error) {
      if (!(error instanceof UnreadableAnswer)) throw error;
      throw new VenueUnavailable(this.id, verb, 'unreadable', error.message);
    }
  }

  private async unavailable(verb: string, fault: Fault): Promise<VenueUnavailable> {
    const verdict = judge(fault, this.dialect.words);
    const reason = 'reason' in verdict ? verdict.reason : 'other';
    if (reason === 'clock') await this.measureClock();
    return new VenueUnavailable(this.id, verb, reason, fault.message);
  }

  private async findUnfit(request: SubmitRequest, options?: CallOptions): Promise<Refused | undefined> {
    const refuse = (message: string): Refused => ({ outcome: 'refused', reason: 'invalid-request', message });
    if (!fits(request.clientOrderId, this.dialect.clientOrderIds))
      return refuse('the venue takes no such client order id');
    if (request.timeInForce === 'day') return refuse('the venue has no time in force "day"');
    const notReady = await this.findNotReady();
    if (notReady) return notReady;
    try {
      const known = this.instruments.get(request.symbol) ?? (await this.instrument(request.symbol, options));
      this.instruments.set(request.symbol, known);
      const mismatch = mismatchOf(request, known);
      return mismatch === undefined ? undefined : refuse(mismatch);
    } catch (error) {
      return refuse(error instanceof Error ? error.message : String(error));
    }
  }

  private async findNotReady(): Promise<Refused | undefined> {
    try {
      await this.ready();
      return undefined;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return { outcome: 'refused', reason: 'not-ready', message: `nothing was sent: ${message}` };
    }
  }

  /** Markets and the clock's offset are known, so that a call of ccxt is one request. */
  private ready(): Promise<void> {
    this.loaded ??= this.load().catch((error: unknown) => {
      this.loaded = undefined;
      throw error;
    });
    return this.loaded;
  }

  private async load(): Promise<void> {
    const call = { priority: 'reconcile', cost: this.costOf('markets') } as const;
    const result = await this.ask(call, async ({ exchange }) => void (await exchange.loadMarkets()));
    if (!result.isAnswered) throw await this.unavailable('markets', result.fault);
  }

  /** Measured anew when the venue refuses our time. Whether it succeeds shows in the next call. */
  private async measureClock(): Promise<void> {
    const call = { priority: 'urgent', cost: this.costOf('time') } as const;
    await this.ask(call, async ({ exchange }) => void (await exchange.loadTimeDifference()));
  }

  private clockOffsetMs(exchange: ExactExchange['exchange']): number {
    const offset: unknown = exchange.options['timeDifference'];
    return typeof offset === 'number' ? offset : 0;
  }

  private async ask<T>(call: Call, attempt: (exact: ExactExchange) => Promise<T>): Promise<CallResult<T>> {
    const exact = await this.open();
    const { key, secret, password } = this.settings;
    const about = { dialect: this.dialect, secrets: [key, secret, ...(password ? [password] : [])] };
    let trace: CallTrace | undefined;
    return this.parts.calls.call(
      call,
      (signal) => {
        const started: CallTrace = { signal, wasSent: false };
        trace = started;
        return exact.traced(started, () => attempt(exact));
      },
      (error): Fault =>
        trace
          ? explainCcxt(error, trace, about)
          : { kind: 'not-sent', reason: 'not-ready', message: 'nothing was sent' },
    );
  }

  private costOf(verb: CcxtVerb): { requests: number } {
    return { requests: this.dialect.weights[verb] };
  }

  private open(): Promise<ExactExchange> {
    this.opened ??= openExactExchange(this.settings, this.dialect);
    return this.opened;
  }
}
