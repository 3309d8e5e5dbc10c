import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decimal } from '#libs/money';
import { isDormant, isOpen, remainingOf, type EngineEvent, type Fill, type Order } from './order.js';
import { isTaker } from './own-book.js';
import { bitcoin, d, newEngine, offers, request } from './testing/exchange.js';

const price = fc.integer({ min: 80, max: 120 });
const quantity = fc.integer({ min: 1, max: 20 });
const levels = fc.array(fc.tuple(fc.integer({ min: 0, max: 5 }), quantity), { maxLength: 4 });

const command = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('place' as const),
      protocol: fc.constantFrom('alpaca' as const, 'binance' as const),
      side: fc.constantFrom('buy' as const, 'sell' as const),
      type: fc.constantFrom('market' as const, 'limit' as const, 'stop' as const, 'stop-limit' as const),
      timeInForce: fc.constantFrom('gtc' as const, 'day' as const, 'ioc' as const, 'fok' as const),
      quantity,
      limit: price,
      stop: price,
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('move' as const), middle: price, bids: levels, asks: levels }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), pick: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fill' as const), pick: fc.nat(), quantity, price }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('mode' as const), isMatching: fc.boolean() }) },
);
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never;

const FUNDS = { USD: '20000', BTC: '200' };

/** Plays the commands and keeps, from the events alone, what the engine should know. */
function play(
  commands: readonly Command[],
  look: (seen: Seen, events: readonly EngineEvent[], command: Command) => void,
) {
  const engine = newEngine(FUNDS);
  const seen: Seen = { engine, open: new Map(), all: new Map(), fills: [] };
  engine.offer(bitcoin(), offers({ bids: [[99, 10]], asks: [[101, 10]] }));
  for (const [index, step] of commands.entries()) {
    const events = apply(engine, step, index);
    look(seen, events, step);
    for (const event of events) keep(seen, event);
  }
  return seen;
}

interface Seen {
  readonly engine: ReturnType<typeof newEngine>;
  readonly open: Map<number, Order>;
  readonly all: Map<number, Order>;
  readonly fills: Fill[];
}

function keep(seen: Seen, event: EngineEvent): void {
  seen.all.set(event.order.seq, event.order);
  if (isOpen(event.order)) seen.open.set(event.order.seq, event.order);
  else seen.open.delete(event.order.seq);
  if (event.kind === 'fill') seen.fills.push(event.fill);
}

function apply(engine: Seen['engine'], step: Command, at: number): readonly EngineEvent[] {
  const open = [...engine.openOrders()];
  switch (step.do) {
    case 'place': {
      const hasLimit = step.type === 'limit' || step.type === 'stop-limit';
      const hasStop = step.type === 'stop' || step.type === 'stop-limit';
      const result = engine.place(
        request({
          ...step,
          clientOrderId: String(at),
          quantity: d(step.quantity),
          limitPrice: hasLimit ? d(step.limit) : undefined,
          stopPrice: hasStop ? d(step.stop) : undefined,
        }),
        at,
      );
      return 'events' in result ? result.events : [];
    }
    case 'move': {
      const side = (rows: [number, number][], sign: number): [number, number][] =>
        rows
          .map(([distance, size]): [number, number] => [step.middle + sign * (distance + 1), size])
          .sort((a, b) => sign * (a[0] - b[0]));
      engine.offer(bitcoin(), offers({ bids: side(step.bids, -1), asks: side(step.asks, 1) }));
      return engine.match(bitcoin(), at);
    }
    case 'cancel':
      return (open.length > 0 && engine.cancel(open[step.pick % open.length]?.seq ?? 0, at)) || [];
    case 'fill': {
      const order = open[step.pick % Math.max(1, open.length)];
      const events = order ? engine.fill(order.seq, { quantity: d(step.quantity), price: d(step.price) }, at) : [];
      return typeof events === 'string' ? [] : events;
    }
    case 'mode':
      engine.options = { ...engine.options, isMatching: step.isMatching };
      return [];
  }
}

const total = (amounts: readonly Decimal[]): Decimal => amounts.reduce((sum, amount) => sum.plus(amount), Decimal.zero);
const runs = { numRuns: 300 };
const commands = fc.array(command, { maxLength: 60 });

describe('whatever is traded', () => {
  it('money and coins are neither made nor lost', () => {
    fc.assert(
      fc.property(commands, (script) => {
        const { engine, fills } = play(script, () => undefined);
        const signed = ({ side }: Fill, amount: Decimal): Decimal => (side === 'buy' ? amount : amount.negated());
        const fees = (asset: string): Decimal =>
          total(fills.flatMap(({ feeAsset, fee }) => (feeAsset === asset ? [fee] : [])));
        const coins = d(FUNDS.BTC)
          .plus(total(fills.map((fill) => signed(fill, fill.quantity))))
          .minus(fees('BTC'));
        const money = d(FUNDS.USD)
          .minus(total(fills.map((fill) => signed(fill, fill.quantity.times(fill.price)))))
          .minus(fees('USD'));
        const held = (asset: string): string => {
          const { free, locked } = engine.balances.of(asset);
          return free.plus(locked).toString();
        };
        expect([held('BTC'), held('USD')]).toEqual([coins.toString(), money.toString()]);
      }),
      runs,
    );
  });

  it('what is locked is what the open orders need, no more and no less', () => {
    fc.assert(
      fc.property(commands, (script) => {
        const { engine, open } = play(script, () => undefined);
        expect([...engine.openOrders()].map(({ seq }) => seq).sort()).toEqual([...open.keys()].sort());
        const buys = [...open.values()].filter(({ side }) => side === 'buy');
        const sells = [...open.values()].filter(({ side }) => side === 'sell');
        expect(engine.balances.of('USD').locked.toString()).toBe(
          total(buys.map((order) => remainingOf(order).times(order.lockPrice))).toString(),
        );
        expect(engine.balances.of('BTC').locked.toString()).toBe(total(sells.map(remainingOf)).toString());
      }),
      runs,
    );
  });

  it('no order is filled beyond its limit or its quantity, and its fills add up', () => {
    fc.assert(
      fc.property(commands, (script) => {
        const { all, fills } = play(script, (seen, events, step) => {
          if (step.do === 'fill') return;
          for (const event of events) {
            if (event.kind !== 'fill' || !event.order.limitPrice) continue;
            const worse = event.fill.price.compare(event.order.limitPrice);
            expect(event.order.side === 'buy' ? worse <= 0 : worse >= 0).toBe(true);
          }
        });
        for (const order of all.values()) {
          const own = fills.filter(({ orderSeq }) => orderSeq === order.seq);
          expect(total(own.map((fill) => fill.quantity)).toString()).toBe(order.filledQuantity.toString());
          expect(order.filledQuantity.compare(order.quantity)).toBeLessThanOrEqual(0);
          expect(order.status === 'filled').toBe(order.filledQuantity.equals(order.quantity));
        }
      }),
      runs,
    );
  });

  it('nobody who waits is passed over by one with a worse price, or the same price and a later time', () => {
    fc.assert(
      fc.property(commands, (script) => {
        play(script, (seen, events, step) => {
          if (step.do === 'fill') return;
          const waiting = new Map(seen.open);
          for (const event of events) {
            if (event.kind === 'fill' && event.fill.isMaker) expectFirst(event.order, [...waiting.values()]);
            if (isOpen(event.order)) waiting.set(event.order.seq, event.order);
            else waiting.delete(event.order.seq);
          }
        });
      }),
      runs,
    );
  });

  it('fok is filled whole or not at all, and neither fok nor ioc stays open', () => {
    fc.assert(
      fc.property(commands, (script) => {
        play(script, ({ engine }, events, step) => {
          if (step.do !== 'place' || !engine.options.isMatching) return;
          const placed = events.find(({ kind }) => kind === 'new')?.order;
          const last = events.findLast(({ order }) => order.seq === placed?.seq)?.order;
          if (!last || isDormant(last)) return;
          if (last.timeInForce === 'fok') expect(['filled', 'expired']).toContain(last.status);
          if (last.timeInForce === 'fok' && last.status === 'expired') expect(last.filledQuantity.isZero()).toBe(true);
          if (last.timeInForce === 'ioc') expect(isOpen(last)).toBe(false);
        });
      }),
      runs,
    );
  });

  it('the same commands give the same events', () => {
    fc.assert(
      fc.property(commands, (script) => {
        const record = (): string => {
          const lines: unknown[] = [];
          play(script, (_seen, events) => lines.push(events));
          return JSON.stringify(lines);
        };
        expect(record()).toBe(record());
      }),
      { numRuns: 50 },
    );
  });
});

function expectFirst(served: Order, waiting: readonly Order[]): void {
  const rivals = waiting.filter(
    (order) => order.side === served.side && order.seq !== served.seq && !isTaker(order) && !isDormant(order),
  );
  for (const rival of rivals) {
    if (!rival.limitPrice || !served.limitPrice) continue;
    const better = rival.limitPrice.compare(served.limitPrice) * (served.side === 'buy' ? 1 : -1);
    expect(better < 0 || (better === 0 && rival.seq > served.seq)).toBe(true);
  }
}
