import { Decimal } from '#libs/money';
import { INSTRUMENTS, type Instrument } from '../../market/instruments.js';
import { Liquidity } from '../../market/liquidity.js';
import { USUAL_FEES } from '../fees.js';
import { MatchingEngine } from '../matching-engine.js';
import type { OrderRequest } from '../order.js';

export const d = (text: string | number): Decimal => Decimal.parse(String(text));

/** Bitcoin, as Alpaca's clients trade it. */
export function bitcoin(): Instrument {
  const [instrument] = INSTRUMENTS;
  if (!instrument) throw new Error('Expected the venue to trade something.');
  return instrument;
}

/** An account with money and coins, and nobody else in the market yet. */
export function newEngine(funds = { USD: '100000', BTC: '1000' }): MatchingEngine {
  const balances = Object.entries(funds).map(
    ([asset, free]) => [asset, { free: d(free), locked: Decimal.zero, cost: Decimal.zero }] as const,
  );
  return new MatchingEngine(
    { balances: new Map(balances), openOrders: [], next: { order: 1, fill: 1, event: 1 } },
    { isMatching: true, fees: USUAL_FEES },
  );
}

/** What others offer: prices and quantities, best first. */
export function offers(levels: { bids: [number, number][]; asks: [number, number][] }): Liquidity {
  const toLevels = (rows: [number, number][]) =>
    rows.map(([price, quantity]) => ({ price: d(price), quantity: d(quantity) }));
  return new Liquidity({ bids: toLevels(levels.bids), asks: toLevels(levels.asks) });
}

export function request(changes: Partial<OrderRequest>): OrderRequest {
  return {
    protocol: 'alpaca',
    clientOrderId: 'test',
    instrument: bitcoin(),
    side: 'buy',
    type: 'limit',
    timeInForce: 'gtc',
    quantity: d(1),
    limitPrice: d(100),
    ...changes,
  };
}
