import type { Decimal } from '#libs/money';
import type { FeeSchedule } from './engine/fees.js';
import type { FillRefusal, MatchingEngine } from './engine/matching-engine.js';
import type { Refusal } from './engine/order-rules.js';
import type { EngineEvent, Order, OrderRequest } from './engine/order.js';
import type { Identifiers } from './identifiers.js';
import { nameIn, type Instrument, type Protocol } from './market/instruments.js';
import type { Market, Pin, Quote } from './market/market.js';
import type { Archive, FiledOrder } from './store/archive.js';
import type { GroupCommit } from './store/group-commit.js';
import type { VenueStore } from './store/venue-store.js';
import type { VenueClock } from './venue-clock.js';

export type Submitted =
  { readonly order: Order; readonly events: readonly EngineEvent[] } | { readonly refusal: Refusal };

export interface VenueParts {
  readonly engine: MatchingEngine;
  readonly market: Market;
  readonly store: VenueStore;
  readonly archive: Archive;
  readonly commit: GroupCommit;
  readonly clock: VenueClock;
  readonly identifiers: Identifiers;
}

const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;

/**
 * The one writer: every change goes through here, first through the engine, then into the store, and is told to the
 * caller and to the streams once it is on the disk.
 */
export class Venue {
  private readonly listeners = new Set<(events: readonly EngineEvent[]) => void>();
  /** The second whose offers the engine knows, by instrument. */
  private readonly offeredAt = new Map<string, number>();
  private dayOfExpiry = 0;

  constructor(readonly parts: VenueParts) {}

  /** Tells of every event after its commit, in order. Returns how to end that. */
  listen(listener: (events: readonly EngineEvent[]) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  submit(request: OrderRequest): Promise<Submitted> {
    return this.write((at) => {
      this.renewOffers(request.instrument, at);
      const placed = this.isDuplicate(request)
        ? { refusal: { reason: 'duplicate-client-order-id' } as const }
        : this.parts.engine.place(request, at);
      const symbol = nameIn(request.protocol, request.instrument);
      const refusal = 'refusal' in placed ? placed.refusal.reason : undefined;
      const orderSeq = 'order' in placed ? placed.order.seq : undefined;
      this.parts.store.recordSubmission(request, { symbol, at, refusal, orderSeq });
      if ('events' in placed) this.save(placed.events);
      return placed;
    });
  }

  /** Undefined when the order is not open any more, or never was. */
  cancel(seq: number): Promise<Order | undefined> {
    return this.write((at) => {
      const events = this.parts.engine.cancel(seq, at);
      if (events) this.save(events);
      return events?.at(-1)?.order;
    });
  }

  /** A fill on command; undefined when the order is not open. */
  fill(seq: number, trade: { quantity: Decimal; price: Decimal }): Promise<Order | FillRefusal | undefined> {
    return this.write((at) => {
      if (!this.parts.engine.find(seq)) return undefined;
      const events = this.parts.engine.fill(seq, trade, at);
      if (typeof events === 'string') return events;
      this.save(events);
      return events.at(-1)?.order;
    });
  }

  /** One step of the market: renews what others offer and serves whoever waits for it. */
  async tick(): Promise<void> {
    if (this.parts.engine.instruments().length === 0) return;
    await this.write((at) => {
      const startOfDay = Math.floor(at / DAY_MS) * DAY_MS;
      if (startOfDay !== this.dayOfExpiry) this.save(this.parts.engine.expireDayOrders(startOfDay, at));
      this.dayOfExpiry = startOfDay;
      for (const instrument of this.parts.engine.instruments()) {
        this.renewOffers(instrument, at);
        this.save(this.parts.engine.match(instrument, at));
      }
    });
  }

  /** Sets the price and keeps it there, or lets it go again. */
  pin(instrument: Instrument, pin: Pin | undefined): Promise<void> {
    return this.write((at) => {
      if (pin) this.parts.market.pin(instrument, pin);
      else this.parts.market.release(instrument);
      this.parts.store.savePin(instrument, pin);
      this.offer(instrument, at);
      this.save(this.parts.engine.match(instrument, at));
    });
  }

  setMode(isMatching: boolean): Promise<void> {
    return this.write((at) => {
      this.parts.engine.options = { ...this.parts.engine.options, isMatching };
      this.parts.store.saveMode(isMatching);
      for (const instrument of this.parts.engine.instruments()) {
        this.renewOffers(instrument, at);
        this.save(this.parts.engine.match(instrument, at));
      }
    });
  }

  setFees(fees: FeeSchedule): Promise<void> {
    return this.write(() => {
      this.parts.engine.options = { ...this.parts.engine.options, fees };
      this.parts.store.saveFees(fees);
    });
  }

  setFree(asset: string, free: Decimal): Promise<void> {
    return this.write(() => {
      this.parts.engine.balances.setFree(asset, free);
      this.save([]);
    });
  }

  purge(olderThanMs: number): Promise<number> {
    return this.write((at) => this.parts.store.purge(at - olderThanMs, at));
  }

  /** What is known of an order, after all that was written is on the disk. */
  async findOrder(seq: number): Promise<FiledOrder | undefined> {
    await this.parts.commit.settled();
    return this.parts.archive.findOrder(seq);
  }

  async findByClientOrderId(clientOrderId: string, instrument?: Instrument): Promise<FiledOrder | undefined> {
    await this.parts.commit.settled();
    return this.parts.archive.findByClientOrderId(clientOrderId, instrument);
  }

  /** Answers a question about the past, after all that was written is on the disk. */
  async read<T>(question: (archive: Archive) => T): Promise<T> {
    await this.parts.commit.settled();
    return question(this.parts.archive);
  }

  quote(instrument: Instrument): Quote {
    return this.parts.market.quote(instrument, this.parts.clock.now());
  }

  private write<T>(work: (at: number) => T): Promise<T> {
    return this.parts.commit.run(() => work(this.parts.clock.now()));
  }

  private save(events: readonly EngineEvent[]): void {
    const { engine, store, commit } = this.parts;
    if (events.length > 0) store.saveEvents(events, engine.counters);
    store.saveBalances(engine.balances.drainChanged());
    if (events.length === 0) return;
    commit.afterCommit(() => {
      for (const listener of this.listeners) listener(events);
    });
  }

  /** Alpaca never forgets an id; Binance knows only those of open orders. */
  private isDuplicate({ protocol, clientOrderId }: OrderRequest): boolean {
    const isUsed: Record<Protocol, () => boolean> = {
      alpaca: () => this.parts.archive.isClientOrderIdUsed('alpaca', clientOrderId),
      binance: () => this.parts.engine.isClientOrderIdOpen('binance', clientOrderId),
    };
    return isUsed[protocol]();
  }

  /** Others renew their offers each second, but for sizes that an operator set. */
  private renewOffers(instrument: Instrument, at: number): void {
    const second = Math.floor(at / SECOND_MS);
    const pin = this.parts.market.pinOf(instrument);
    const isFixed = pin?.bidSize !== undefined || pin?.askSize !== undefined;
    if (this.offeredAt.get(instrument.id) === second || (isFixed && this.offeredAt.has(instrument.id))) return;
    this.offer(instrument, at);
  }

  private offer(instrument: Instrument, at: number): void {
    this.parts.engine.offer(instrument, this.parts.market.liquidity(instrument, at));
    this.offeredAt.set(instrument.id, Math.floor(at / SECOND_MS));
  }
}
