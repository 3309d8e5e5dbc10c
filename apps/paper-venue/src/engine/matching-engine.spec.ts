import { describe, expect, it } from 'vitest';
import type { EngineEvent, Order, OrderRequest } from './order.js';
import type { MatchingEngine, Placed } from './matching-engine.js';
import { bitcoin, d, newEngine, offers, request } from './testing/exchange.js';

const market = { type: 'market', limitPrice: undefined } as const;

function placed(result: Placed): { order: Order; events: EngineEvent[] } {
  if ('refusal' in result) throw new Error(`Expected an order, got ${result.refusal.reason}.`);
  return result;
}

function place(engine: MatchingEngine, changes: Partial<OrderRequest>) {
  return placed(engine.place(request(changes), 0));
}

function fills(events: readonly EngineEvent[]): string[] {
  return events.flatMap((event) =>
    event.kind === 'fill'
      ? [`${event.order.seq}: ${event.fill.quantity.toString()} at ${event.fill.price.toString()}`]
      : [],
  );
}

describe('a market order', () => {
  it('takes the best offers first, and waits for more when there are none left', () => {
    const engine = newEngine();
    engine.offer(
      bitcoin(),
      offers({
        bids: [],
        asks: [
          [100, 2],
          [101, 1],
        ],
      }),
    );
    const { order, events } = place(engine, { ...market, quantity: d(5) });
    expect(fills(events)).toEqual(['1: 2 at 100', '1: 1 at 101']);
    expect(order).toMatchObject({ status: 'partially_filled' });
    engine.offer(bitcoin(), offers({ bids: [], asks: [[100.5, 10]] }));
    expect(fills(engine.match(bitcoin(), 1))).toEqual(['1: 2 at 100.5']);
  });

  it('is not filled at a price that is more than a twentieth worse', () => {
    const engine = newEngine();
    engine.offer(
      bitcoin(),
      offers({
        bids: [
          [100, 1],
          [94, 5],
        ],
        asks: [
          [100, 1],
          [106, 5],
        ],
      }),
    );
    expect(fills(place(engine, { ...market, quantity: d(3) }).events)).toEqual(['1: 1 at 100']);
    expect(fills(place(engine, { ...market, side: 'sell', quantity: d(3) }).events)).toEqual(['2: 1 at 100']);
  });

  it('for an amount of money buys what the offers give for it', () => {
    const engine = newEngine();
    engine.offer(
      bitcoin(),
      offers({
        bids: [],
        asks: [
          [100, 1],
          [200, 10],
        ],
      }),
    );
    const { order } = place(engine, { ...market, quantity: undefined, notional: d(300) });
    expect(order.quantity.toString()).toBe('2');
  });

  it('is refused where nobody offers anything', () => {
    expect(newEngine().place(request(market), 0)).toEqual({ refusal: { reason: 'no-market' } });
  });
});

describe('time in force', () => {
  const thin = offers.bind(undefined, {
    bids: [],
    asks: [
      [100, 2],
      [101, 5],
    ],
  });

  it('fok fills all at once or nothing at all', () => {
    const engine = newEngine();
    engine.offer(bitcoin(), thin());
    const none = place(engine, { timeInForce: 'fok', quantity: d(3) });
    expect(fills(none.events)).toEqual([]);
    expect(none.order.status).toBe('expired');
    expect(engine.balances.of('USD').locked.isZero()).toBe(true);
    expect(place(engine, { timeInForce: 'fok', quantity: d(3), limitPrice: d(101) }).order.status).toBe('filled');
  });

  it('ioc takes what there is and ends', () => {
    const engine = newEngine();
    engine.offer(bitcoin(), thin());
    const { order, events } = place(engine, { timeInForce: 'ioc', quantity: d(3) });
    expect(fills(events)).toEqual(['1: 2 at 100']);
    expect(order.status).toBe('expired');
    expect([...engine.openOrders()]).toEqual([]);
  });

  it('day ends with the day', () => {
    const engine = newEngine();
    engine.offer(bitcoin(), offers({ bids: [], asks: [[100, 1]] }));
    place(engine, { timeInForce: 'day', limitPrice: d(50) });
    place(engine, { timeInForce: 'gtc', limitPrice: d(50) });
    expect(engine.expireDayOrders(1, 2).map(({ kind, order }) => [kind, order.seq])).toEqual([['expired', 1]]);
  });
});

describe('an order that rests', () => {
  it('is filled at its own price when the market comes to it, the better price first, then the older', () => {
    const engine = newEngine();
    engine.offer(bitcoin(), offers({ bids: [[80, 1]], asks: [[100, 1]] }));
    for (const price of [90, 91, 91]) place(engine, { limitPrice: d(price) });
    engine.offer(bitcoin(), offers({ bids: [], asks: [[85, 2.5]] }));
    expect(fills(engine.match(bitcoin(), 1))).toEqual(['2: 1 at 91', '3: 1 at 91', '1: 0.5 at 90']);
  });

  it('meets our own on the other side at its price, behind the market at the same price', () => {
    const engine = newEngine();
    engine.offer(
      bitcoin(),
      offers({
        bids: [[80, 1]],
        asks: [
          [100, 1],
          [120, 1],
        ],
      }),
    );
    place(engine, { side: 'sell', limitPrice: d(100), quantity: d(2) });
    place(engine, { side: 'sell', limitPrice: d(99), quantity: d(1) });
    const { events } = place(engine, { limitPrice: d(100), quantity: d(3) });
    expect(fills(events)).toEqual(['2: 1 at 99', '3: 1 at 99', '3: 1 at 100', '1: 1 at 100', '3: 1 at 100']);
  });
});

describe('a stop', () => {
  it('sleeps until the price reaches it, then takes', () => {
    const engine = newEngine();
    engine.offer(bitcoin(), offers({ bids: [[99, 9]], asks: [[100, 9]] }));
    place(engine, { ...market, type: 'stop', stopPrice: d(105) });
    place(engine, { side: 'sell', type: 'stop-limit', stopPrice: d(95), limitPrice: d(94) });
    expect(engine.match(bitcoin(), 1)).toEqual([]);
    engine.offer(bitcoin(), offers({ bids: [[104, 9]], asks: [[105, 9]] }));
    expect(engine.match(bitcoin(), 2).map(({ kind }) => kind)).toEqual(['triggered', 'fill']);
    engine.offer(bitcoin(), offers({ bids: [[93, 9]], asks: [[94, 9]] }));
    expect(engine.match(bitcoin(), 3).map(({ kind }) => kind)).toEqual(['triggered']);
    engine.offer(bitcoin(), offers({ bids: [[94, 9]], asks: [[95, 9]] }));
    expect(fills(engine.match(bitcoin(), 4))).toEqual(['2: 1 at 94']);
  });
});

describe('funds', () => {
  it('are locked at the limit and the difference to a better price returns', () => {
    const engine = newEngine({ USD: '1000', BTC: '0' });
    engine.offer(bitcoin(), offers({ bids: [], asks: [[90, 4]] }));
    place(engine, { limitPrice: d(100), quantity: d(10) });
    const { free, locked } = engine.balances.of('USD');
    expect([free.toString(), locked.toString()]).toEqual(['40', '600']);
    expect(engine.balances.of('BTC').free.toString()).toBe('3.99');
  });

  it('that are missing refuse the order and change nothing', () => {
    const engine = newEngine({ USD: '99', BTC: '0' });
    engine.offer(bitcoin(), offers({ bids: [[90, 1]], asks: [[90, 1]] }));
    expect(engine.place(request({}), 0)).toMatchObject({ refusal: { reason: 'insufficient-funds', asset: 'USD' } });
    expect(engine.place(request({ side: 'sell' }), 0)).toMatchObject({ refusal: { asset: 'BTC' } });
    expect(engine.balances.of('USD').free.toString()).toBe('99');
  });
});

describe('the rules of the protocol', () => {
  it.each([
    [{ quantity: d('0.000001') }, 'quantity-step'],
    [{ limitPrice: d('100.001') }, 'price-tick'],
    [{ quantity: d('0.01') }, 'notional-min'],
    [{ quantity: d('0') }, 'quantity-range'],
  ])('refuse %j for its %s', (changes, reason) => {
    const engine = newEngine();
    engine.offer(bitcoin(), offers({ bids: [], asks: [[100, 1]] }));
    expect(engine.place(request({ protocol: 'binance', ...changes }), 0)).toMatchObject({ refusal: { reason } });
  });
});

describe('an engine that does not match', () => {
  it('fills on command only, at any price, and at most what is open', () => {
    const engine = newEngine();
    engine.options = { ...engine.options, isMatching: false };
    engine.offer(bitcoin(), offers({ bids: [], asks: [[100, 9]] }));
    const { order } = place(engine, { ...market, quantity: d(2) });
    expect([order.status, engine.match(bitcoin(), 1)]).toEqual(['new', []]);
    expect(engine.fill(1, { quantity: d(3), price: d(1) }, 1)).toBe('too-much');
    expect(fills(engine.fill(1, { quantity: d(1), price: d(150) }, 1) as EngineEvent[])).toEqual(['1: 1 at 150']);
    engine.options = { ...engine.options, isMatching: true };
    expect(fills(engine.match(bitcoin(), 2))).toEqual(['1: 1 at 100']);
  });

  it('lets orders that came to stand against each other trade at the price of the older', () => {
    const engine = newEngine();
    engine.options = { ...engine.options, isMatching: false };
    engine.offer(bitcoin(), offers({ bids: [[1, 1]], asks: [[1000, 1]] }));
    place(engine, { limitPrice: d(100) });
    place(engine, { side: 'sell', limitPrice: d(90) });
    engine.options = { ...engine.options, isMatching: true };
    expect(fills(engine.match(bitcoin(), 1))).toEqual(['1: 1 at 100', '2: 1 at 100']);
  });
});
