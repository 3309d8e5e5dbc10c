import { Decimal } from '#libs/money';
import {
  isTerminal,
  VenueUnavailable,
  type Balance,
  type Fill,
  type Lookup,
  type Order,
  type Position,
  type SubmitRequest,
  type Venue,
} from '#libs/venues';

/** What an account at a venue really is, and what of it the venue does not show when it is asked. */
export class AccountAtVenue {
  readonly orders = new Map<string, Order>();
  readonly fills: Fill[] = [];
  /** What it holds of each asset. */
  readonly held = new Map([['USD', Decimal.parse('1000000')]]);
  hasPositions = false;
  positions: Position[] = [];
  /** Orders left out of the list of open orders, and of every answer. */
  readonly unlisted = new Set<string>();
  readonly purged = new Set<string>();
  /** Fills that are in no list. */
  readonly hiddenFills = new Set<string>();
  /** What the list of open orders says instead of the truth. */
  openList: readonly Order[] | undefined;
  /** Verbs that fail, and what the venue is asked. */
  readonly failing = new Set<string>();
  readonly asked: string[] = [];
  /** Called before a verb is answered: something may happen meanwhile. */
  beforeAnswer: (verb: string) => void | Promise<void> = () => undefined;
  /** What becomes of a submission: lost and refused ones are taken all the same. */
  submission: 'accepted' | 'lost' | 'refused' = 'accepted';
  /** Of orders that are taken. */
  status: Order['status'] = 'open';

  set(order: Order): void {
    this.orders.set(order.venueOrderId, order);
  }

  fill(fill: Fill, change: Partial<Order> = {}): void {
    this.fills.push(fill);
    const [base = '', quote = ''] = fill.symbol.split('/');
    const [quantity, cost] = [fill.quantity, fill.quantity.times(fill.price)];
    this.move(base, fill.side === 'buy' ? quantity : quantity.negated());
    this.move(quote, fill.side === 'buy' ? cost.negated() : cost);
    if (fill.fee) this.move(fill.fee.asset, fill.fee.amount.negated());
    const order = this.get(fill.venueOrderId);
    const filledQuantity = order.filledQuantity.plus(fill.quantity);
    const status = filledQuantity.compare(order.quantity) >= 0 ? 'filled' : 'partially-filled';
    this.set({ ...order, filledQuantity, status, ...change });
  }

  move(asset: string, amount: Decimal): void {
    this.held.set(asset, (this.held.get(asset) ?? Decimal.zero).plus(amount));
  }

  change(orderId: string, change: Partial<Order>): void {
    this.set({ ...this.get(orderId), ...change });
  }

  get(orderId: string): Order {
    const order = this.orders.get(orderId);
    if (!order) throw new Error(`Expected an order ${orderId} in the account.`);
    return order;
  }

  /** An order as the venue takes it from a submission. */
  accept({ clientOrderId, symbol, side, type, quantity, limitPrice }: SubmitRequest, at: Date): Order {
    const order: Order = {
      ...{ venueOrderId: `v${this.orders.size + 1}`, clientOrderId, symbol, side, type, quantity, status: this.status },
      ...(limitPrice && { limitPrice }),
      ...{ filledQuantity: Decimal.zero, createdAt: at, updatedAt: at },
    };
    this.set(order);
    return order;
  }

  /** The port as trading and sweeping use it. */
  asVenue(id: string, options: { readonly now: () => Date }): Venue {
    const isListingPositions = (): boolean => this.hasPositions;
    const answer = async <T>(verb: string, give: () => T): Promise<T> => {
      this.asked.push(verb);
      await this.beforeAnswer(verb);
      if (this.failing.has(verb)) throw new VenueUnavailable(id, verb, 'connection', 'told to fail');
      return give();
    };
    const shown = (): Order[] => [...this.orders.values()].filter(({ venueOrderId }) => !this.purged.has(venueOrderId));
    const lookup = async (verb: string, fits: (order: Order) => boolean): Promise<Lookup> => {
      this.asked.push(verb);
      await this.beforeAnswer(verb);
      if (this.failing.has(verb)) return { outcome: 'unknown', reason: 'connection', message: 'silent' };
      const order = shown().find(fits);
      return order ? { outcome: 'found', order } : { outcome: 'not-found' };
    };
    return {
      id,
      capabilities: {
        clientOrderIds: { lengthMax: 128, alphabet: /[a-z0-9-]/, unique: 'always' },
        get hasPositions() {
          return isListingPositions();
        },
        ...{ orderTypes: [], timesInForce: [], limits: [] },
      },
      submit: async (request) => {
        await this.beforeAnswer('submit');
        const order = this.accept(request, options.now());
        const message = 'as it was told';
        if (this.submission === 'lost') return { outcome: 'unknown', reason: 'connection', message };
        if (this.submission === 'refused') return { outcome: 'refused', reason: 'invalid-order', message };
        return { outcome: 'accepted', order };
      },
      instrument: (symbol) => Promise.resolve({ symbol, quantityStep: STEP, priceTick: STEP }),
      openOrders: () =>
        answer(
          'openOrders',
          () =>
            this.openList ?? shown().filter((order) => !isTerminal(order) && !this.unlisted.has(order.venueOrderId)),
        ),
      closedOrders: ({ since, symbols }) =>
        answer('closedOrders', () =>
          shown().filter((order) => isTerminal(order) && order.createdAt >= since && symbols.includes(order.symbol)),
        ),
      fills: ({ symbols, start }) =>
        answer('fills', () => ({
          fills: this.fills.filter(
            ({ fillId, symbol, happenedAt }) =>
              !this.hiddenFills.has(fillId) &&
              symbols.includes(symbol) &&
              'since' in start &&
              happenedAt >= start.since,
          ),
          cursor: '',
        })),
      balances: () =>
        answer('balances', () => [...this.held].map(([asset, total]): Balance => ({ asset, total, available: total }))),
      positions: () => answer('positions', () => this.positions),
      findByVenueOrderId: ({ venueOrderId }) =>
        lookup('findByVenueOrderId', (order) => order.venueOrderId === venueOrderId),
      findByClientOrderId: ({ clientOrderId }) =>
        lookup('findByClientOrderId', (order) => order.clientOrderId === clientOrderId),
    } as Partial<Venue> as Venue;
  }
}

const STEP = Decimal.parse('0.001');
