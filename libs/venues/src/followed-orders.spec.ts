import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decimal } from '#libs/money';
import { FollowedOrders, furtherOf } from './followed-orders.js';
import type { Fill, Order, OrderStatus } from './order.js';

const QUANTITY = 10n;

function order(filled: bigint, status: OrderStatus, atMs: number): Order {
  return {
    venueOrderId: 'o-1',
    clientOrderId: 'c-1',
    symbol: 'BTC/USD',
    side: 'buy',
    type: 'limit',
    quantity: Decimal.fromInteger(QUANTITY),
    filledQuantity: Decimal.fromInteger(filled),
    status,
    createdAt: new Date(0),
    updatedAt: new Date(atMs),
  };
}

function fill(index: number, quantity: bigint): Fill {
  const price = Decimal.parse('100');
  const happenedAt = new Date(index);
  return {
    fillId: `f-${index}`,
    venueOrderId: 'o-1',
    symbol: 'BTC/USD',
    side: 'buy',
    quantity: Decimal.fromInteger(quantity),
    price,
    happenedAt,
  };
}

/** A life of an order as a venue would tell it: accepted, filled in parts, and ended in one way or another. */
const lives = fc
  .record({ parts: fc.array(fc.bigInt({ min: 1n, max: 3n }), { maxLength: 3 }), isCancelled: fc.boolean() })
  .map(({ parts, isCancelled }) => {
    const history: Order[] = [order(0n, 'pending', 1), order(0n, 'open', 2)];
    const fills: Fill[] = [];
    let filled = 0n;
    for (const [index, quantity] of parts.entries()) {
      filled += quantity;
      fills.push(fill(index, quantity));
      history.push(order(filled, 'partially-filled', 3 + index));
    }
    if (isCancelled) history.push(order(filled, 'cancelled', 10));
    else {
      fills.push(fill(9, QUANTITY - filled));
      history.push(order(QUANTITY, 'filled', 10));
    }
    return { history, fills, final: history.at(-1) };
  });

describe('furtherOf', () => {
  it('does not depend on who comes first', () => {
    fc.assert(
      fc.property(lives, fc.nat(), fc.nat(), ({ history }, i, j) => {
        const [a, b] = [history[i % history.length], history[j % history.length]];
        if (a && b) expect(furtherOf(a, b)).toEqual(furtherOf(b, a));
      }),
    );
  });

  it('never brings an ended order back to life', () => {
    const cancelled = order(3n, 'cancelled', 5);
    expect(furtherOf(cancelled, order(3n, 'partially-filled', 9))).toBe(cancelled);
  });
});

describe('FollowedOrders', () => {
  it('ends in the same state whatever is repeated and reordered', () => {
    const told = lives.chain((life) => {
      const events = [...life.history, ...life.fills];
      return fc.record({
        life: fc.constant(life),
        events: fc
          .tuple(fc.shuffledSubarray(events, { minLength: events.length }), fc.shuffledSubarray(events))
          .map(([all, again]) => [...all, ...again]),
      });
    });
    fc.assert(
      fc.property(told, ({ life, events }) => {
        const known = new FollowedOrders();
        for (const event of events) {
          if ('fillId' in event) known.applyFill(event);
          else known.apply(event);
        }
        expect(known.list()).toHaveLength(1);
        expect(known.find('o-1')?.order).toEqual(life.final);
        expect(known.find('o-1')?.fills).toHaveLength(life.fills.length);
        expect(known.isWhole('o-1')).toBe(true);
      }),
    );
  });

  it('notices every fill that is missing once the order tells its total', () => {
    fc.assert(
      fc.property(lives, fc.nat(), ({ history, fills, final }, which) => {
        fc.pre(fills.length > 0 && final !== undefined);
        const known = new FollowedOrders();
        for (const each of history) known.apply(each);
        for (const each of fills.filter((_, index) => index !== which % fills.length)) known.applyFill(each);
        expect(known.isWhole('o-1')).toBe(false);
        expect(known.mismatched()).toHaveLength(1);
      }),
    );
  });

  it('forgets what ended long ago, and nothing that works', () => {
    const known = new FollowedOrders();
    known.apply(order(0n, 'cancelled', 5));
    known.apply({ ...order(0n, 'open', 1), venueOrderId: 'o-2' });
    known.applyFill({ ...fill(1, 2n), venueOrderId: 'o-3' });
    known.forgetEndedBefore(new Date(5));
    expect(known.list()).toHaveLength(2);
    known.forgetEndedBefore(new Date(6));
    expect(known.list().map(({ order: { venueOrderId } }) => venueOrderId)).toEqual(['o-2']);
    expect(known.orphans()).toEqual([]);
  });

  it('knows an order by its fill alone, and asks for it', () => {
    const known = new FollowedOrders();
    known.applyFill(fill(1, 2n));
    expect(known.orphans()).toMatchObject([{ venueOrderId: 'o-1' }]);
    expect(known.isWhole('o-1')).toBe(false);
  });
});
