import { Decimal } from '#libs/money';
import type { Instrument, Protocol } from '../market/instruments.js';
import { Liquidity } from '../market/liquidity.js';
import { Balances, type Balance } from './balances.js';
import type { FeeSchedule } from './fees.js';
import { findRuleBreach, worstPriceOf, type Refusal } from './order-rules.js';
import { isDormant, isOpen, remainingOf, type EngineEvent, type Order, type OrderRequest, type Side } from './order.js';
import { OwnBook } from './own-book.js';
import { lockOf, settle, type Trade } from './settlement.js';
import { planServing, planTaking, quantityFor, totalOf, type PlannedTrade, type Resting } from './trade-plan.js';

/** The numbers that the next order, fill and event get. */
export interface Counters {
  readonly order: number;
  readonly fill: number;
  readonly event: number;
}

export type Placed = { readonly order: Order; readonly events: EngineEvent[] } | { readonly refusal: Refusal };

/** Why a single fill cannot be made. */
export type FillRefusal = 'too-much' | 'insufficient-funds';

/**
 * Orders of one account against the offers of others and each other, by price, then time. It knows no clock, no disk
 * and no network: the same calls give the same events. It keeps open orders only.
 */
export class MatchingEngine {
  readonly balances: Balances;
  private readonly orders = new Map<number, Order>();
  private readonly openIds = new Set<string>();
  private readonly books = new Map<string, { readonly instrument: Instrument; readonly book: OwnBook }>();
  private readonly liquidity = new Map<string, Liquidity>();
  private next: { order: number; fill: number; event: number };
  private events: EngineEvent[] = [];

  constructor(
    state: { balances: ReadonlyMap<string, Balance>; openOrders: Iterable<Order>; next: Counters },
    public options: { isMatching: boolean; fees: FeeSchedule },
  ) {
    this.balances = new Balances(state.balances);
    this.next = { ...state.next };
    for (const order of state.openOrders) this.keep(order);
  }

  get counters(): Counters {
    return this.next;
  }

  openOrders(): IterableIterator<Order> {
    return this.orders.values();
  }

  find(seq: number): Order | undefined {
    return this.orders.get(seq);
  }

  isClientOrderIdOpen(protocol: Protocol, clientOrderId: string): boolean {
    return this.openIds.has(`${protocol} ${clientOrderId}`);
  }

  /** Instruments in which an order is open. */
  instruments(): Instrument[] {
    return [...this.books.values()].filter(({ book }) => !book.isEmpty()).map(({ instrument }) => instrument);
  }

  /** Renews what others offer. */
  offer(instrument: Instrument, liquidity: Liquidity): void {
    this.liquidity.set(instrument.id, liquidity);
  }

  place(request: OrderRequest, at: number): Placed {
    const market = this.marketOf(request.instrument);
    const reference = market.best(request.side) ?? request.limitPrice ?? request.stopPrice;
    if (!reference) return { refusal: { reason: 'no-market' } };
    const quantity =
      request.quantity ??
      (request.notional && quantityFor(request.notional, market.against(request.side), stepOf(request)));
    if (!quantity) return { refusal: { reason: 'quantity-missing' } };
    const breach = findRuleBreach({ ...request, quantity }, reference);
    if (breach) return { refusal: breach };
    const lockPrice = worstPriceOf(request, reference);
    const { asset, amount } = lockOf({ ...request, quantity, lockPrice });
    if (!this.balances.tryLock(asset, amount)) {
      const { free } = this.balances.of(asset);
      return { refusal: { reason: 'insufficient-funds', asset, needed: amount, free } };
    }
    const order: Order = {
      ...request,
      quantity,
      lockPrice,
      seq: this.next.order++,
      filledQuantity: Decimal.zero,
      filledNotional: Decimal.zero,
      status: 'new',
      isTriggered: false,
      createdAt: at,
      updatedAt: at,
    };
    this.keep(order);
    this.record({ kind: 'new', at, order });
    if (this.options.isMatching) this.admit(order, at);
    const events = this.drain();
    return { order: events.findLast((event) => event.order.seq === order.seq)?.order ?? order, events };
  }

  /** Undefined when it is not open any more. */
  cancel(seq: number, at: number): EngineEvent[] | undefined {
    const order = this.orders.get(seq);
    if (!order) return undefined;
    this.close(order, 'canceled', at);
    return this.drain();
  }

  /** Ends the orders that were good for an earlier day. */
  expireDayOrders(startOfDay: number, at: number): EngineEvent[] {
    for (const order of [...this.orders.values()]) {
      if (order.timeInForce === 'day' && order.createdAt < startOfDay) this.close(order, 'expired', at);
    }
    return this.drain();
  }

  /** Serves whoever the offers of others, as they are now, can serve. */
  match(instrument: Instrument, at: number): EngineEvent[] {
    if (!this.options.isMatching) return [];
    const book = this.bookOf(instrument);
    const market = this.marketOf(instrument);
    for (const seq of book.reachedBy({ bid: market.best('sell'), ask: market.best('buy') })) this.trigger(seq, at);
    for (const seq of book.takersInOrder()) this.take(this.get(seq), at);
    for (const side of ['buy', 'sell'] as const) this.serve(book, side, { market, at });
    this.uncross(book, at);
    return this.drain();
  }

  /** A fill that the operator commands: at any price, whatever the market is. */
  fill(
    seq: number,
    { quantity, price }: { quantity: Decimal; price: Decimal },
    at: number,
  ): EngineEvent[] | FillRefusal {
    const order = this.get(seq);
    if (quantity.compare(remainingOf(order)) > 0) return 'too-much';
    const { free } = this.balances.of(order.instrument.quote);
    const spare = free.plus(quantity.times(order.lockPrice));
    if (order.side === 'buy' && spare.compare(quantity.times(price)) < 0) return 'insufficient-funds';
    this.fillOrder(order, { price, quantity, isMaker: true }, at);
    return this.drain();
  }

  /** A new order meets the market; a stop that the price has reached already does so at once. */
  private admit(order: Order, at: number): void {
    const market = this.marketOf(order.instrument);
    if (isDormant(order)) {
      const book = this.bookOf(order.instrument);
      const isReached = book.reachedBy({ bid: market.best('sell'), ask: market.best('buy') }).includes(order.seq);
      if (isReached) this.trigger(order.seq, at);
    } else {
      this.take(order, at);
    }
  }

  private trigger(seq: number, at: number): void {
    const order = this.get(seq);
    const triggered: Order = { ...order, isTriggered: true, updatedAt: at };
    this.bookOf(order.instrument).remove(order);
    this.keep(triggered);
    this.record({ kind: 'triggered', at, order: triggered });
    this.take(triggered, at);
  }

  private take(order: Order, at: number): void {
    const market = this.marketOf(order.instrument);
    const taker = { side: order.side, quantity: remainingOf(order), worstPrice: order.lockPrice };
    const own = this.restingAgainst(order);
    const trades = planTaking(taker, { own, market: market.against(order.side) });
    const isWhole = totalOf(trades).equals(taker.quantity);
    if (order.timeInForce === 'fok' && !isWhole) return this.close(order, 'expired', at);
    const left = trades.reduce((current, trade) => this.trade(current, trade, at), order);
    if (order.timeInForce === 'ioc' && isOpen(left)) this.close(left, 'expired', at);
  }

  /** One step of a plan; returns the taker as it is after it. */
  private trade(taker: Order, { price, quantity, maker }: PlannedTrade, at: number): Order {
    if (maker === undefined) this.marketOf(taker.instrument).consume(taker.side, quantity);
    else this.fillOrder(this.get(maker), { price, quantity, isMaker: true }, at);
    return this.fillOrder(taker, { price, quantity, isMaker: false }, at);
  }

  /** The market comes to those who wait. */
  private serve(book: OwnBook, side: Side, { market, at }: { market: Liquidity; at: number }): void {
    for (;;) {
      const best = book.restingOn(side)[0];
      if (!best) return;
      const order = this.get(best.seq);
      const trades = planServing({ side, price: best.price, remaining: remainingOf(order) }, market.against(side));
      if (trades.length === 0) return;
      for (const { price, quantity } of trades) {
        market.consume(side, quantity);
        this.fillOrder(order, { price, quantity, isMaker: true }, at);
      }
      if (this.orders.has(order.seq)) return;
    }
  }

  /** Orders that were left alone for a while may stand against each other; the older one's price counts. */
  private uncross(book: OwnBook, at: number): void {
    for (;;) {
      const [bid, ask] = [book.restingOn('buy')[0], book.restingOn('sell')[0]];
      if (!bid || !ask || bid.price.compare(ask.price) < 0) return;
      const [maker, taker] = bid.seq < ask.seq ? [bid, ask] : [ask, bid];
      const [makerOrder, takerOrder] = [this.get(maker.seq), this.get(taker.seq)];
      const [a, b] = [remainingOf(makerOrder), remainingOf(takerOrder)];
      const quantity = a.compare(b) <= 0 ? a : b;
      this.trade(takerOrder, { price: maker.price, quantity, maker: maker.seq }, at);
    }
  }

  private fillOrder(order: Order, trade: Trade, at: number): Order {
    const { instrument, side } = order;
    const { price, quantity, isMaker } = trade;
    const { fee, feeAsset } = settle(this.balances, order, { ...trade, fees: this.options.fees });
    const filledQuantity = order.filledQuantity.plus(quantity);
    const filled: Order = {
      ...order,
      filledQuantity,
      filledNotional: order.filledNotional.plus(price.times(quantity)),
      status: filledQuantity.equals(order.quantity) ? 'filled' : 'partially_filled',
      updatedAt: at,
    };
    if (isOpen(filled)) this.orders.set(filled.seq, filled);
    else this.forget(order);
    const seq = this.next.fill++;
    const fill = { seq, orderSeq: order.seq, instrument, side, price, quantity, fee, feeAsset, isMaker, at };
    this.record({ kind: 'fill', at, order: filled, fill });
    return filled;
  }

  private close(order: Order, status: 'canceled' | 'expired', at: number): void {
    const { asset, amount } = lockOf({ ...order, quantity: remainingOf(order) });
    this.balances.unlock(asset, amount);
    this.forget(order);
    this.record({ kind: status, at, order: { ...order, status, updatedAt: at } });
  }

  private *restingAgainst({ side, instrument }: Order): Generator<Resting> {
    const opposite = side === 'buy' ? 'sell' : 'buy';
    for (const { seq, price } of this.bookOf(instrument).restingOn(opposite)) {
      yield { seq, price, remaining: remainingOf(this.get(seq)) };
    }
  }

  private keep(order: Order): void {
    this.orders.set(order.seq, order);
    this.openIds.add(`${order.protocol} ${order.clientOrderId}`);
    this.bookOf(order.instrument).add(order);
  }

  private forget(order: Order): void {
    this.orders.delete(order.seq);
    this.openIds.delete(`${order.protocol} ${order.clientOrderId}`);
    this.bookOf(order.instrument).remove(order);
  }

  private get(seq: number): Order {
    const order = this.orders.get(seq);
    if (!order) throw new Error(`Invariant: order ${seq} is open`);
    return order;
  }

  private bookOf(instrument: Instrument): OwnBook {
    const known = this.books.get(instrument.id) ?? { instrument, book: new OwnBook() };
    this.books.set(instrument.id, known);
    return known.book;
  }

  private marketOf({ id }: Instrument): Liquidity {
    return this.liquidity.get(id) ?? Liquidity.none;
  }

  private record(
    event: Omit<Extract<EngineEvent, { kind: 'fill' }>, 'seq'> | Omit<Exclude<EngineEvent, { kind: 'fill' }>, 'seq'>,
  ): void {
    this.events.push({ ...event, seq: this.next.event++ });
  }

  private drain(): EngineEvent[] {
    const events = this.events;
    this.events = [];
    return events;
  }
}

function stepOf({ instrument, protocol }: OrderRequest): Decimal {
  return instrument.rules[protocol].quantityStep;
}
