import { describe, expect, it } from 'vitest';
import type { Outcome } from '#libs/lifecycle';
import { paperVenueOfFile } from './harness/paper-venue.js';
import {
  ADAPTERS,
  buy,
  finish,
  rebuild,
  setupTrading,
  type Adapter,
  type Trader,
  type Trading,
} from './harness/trading.js';

const IS_WHOLE = process.env['FLOTILLA_CRASH'] === 'all';
const paper = paperVenueOfFile();

/** Shorter than a late answer is late. */
const SUBMIT_TIMEOUT_MS = 1_500;

/** How a venue may fail to answer, and whether it did its work all the same. */
const FAULTS = [
  { name: 'a lost request', fault: 'drop-request', isDone: false },
  { name: 'a lost answer', fault: 'drop-response', isDone: true },
  { name: 'a late answer', fault: 'delay', delayMs: 3_000, isDone: true },
  { name: 'a reset before the work', fault: 'reset', isDone: false },
  { name: 'a reset after the work', fault: 'reset', phase: 'response', isDone: true },
  { name: 'status 500 instead of the work', fault: 'http-500', isDone: false },
  { name: 'status 500 after the work', fault: 'http-500', phase: 'response', isDone: true },
  { name: 'status 429 instead of the work', fault: 'http-429', isDone: false },
];
type Fault = (typeof FAULTS)[number];
/** Its first fill is more than a fee and a step take. */
const SEED_OF_TWO_FILLS = 4;

const PURPOSES = ['entry', 'exit'] as const;

/** Every fault in every run; of entries and exits, over every venue, when asked for. */
const CASES = FAULTS.flatMap((fault, index) =>
  ADAPTERS.flatMap((adapter, which) => {
    const purposes = PURPOSES.filter((_, turn) => IS_WHOLE || (which === index % 2 && turn === (index >> 1) % 2));
    return purposes.map((purpose) => ({ ...fault, adapter, purpose }));
  }),
);
const SOME_ADAPTERS = (turn: number): readonly Adapter[] => (IS_WHOLE ? ADAPTERS : ADAPTERS.slice(turn, turn + 1));

function strikeAt(trading: Trading, operation: string, { fault, phase, delayMs }: Fault, times?: number) {
  return trading.strike({
    operation,
    fault,
    ...(phase && { phase }),
    ...(delayMs && { delayMs }),
    ...(times && { times }),
  });
}

/** Whoever was told 429 is quiet for a while, as it should be; another process is not. */
function heirOf(trader: Trader, trading: Trading, { fault }: Fault): Trader {
  return fault === 'http-429' ? trading.startTrader() : trader;
}

describe('a submission that meets', () => {
  it.each(CASES)('$name, of an $purpose over $adapter, is sent once and found out (invariant 1)', async (fault) => {
    const { adapter, isDone, purpose } = fault;
    const trading = await setupTrading(paper(), { adapter, settings: { submitTimeoutMs: SUBMIT_TIMEOUT_MS } });
    const trader = trading.startTrader();
    const command =
      purpose === 'exit' ? await buy(trading, trader) : ({ do: 'enter', signal: trading.signal } as const);
    await strikeAt(trading, 'submit', fault, 1);
    const { outcome } = await trader.tell<Outcome>(command);
    // Neither a refusal nor a release follows from silence.
    expect(['submitted', 'unknown']).toContain(outcome);
    expect(await trading.reserved()).not.toBe('0');

    const state = await finish(trading, heirOf(trader, trading, fault));
    expect(state).toBe(isDone || purpose === 'exit' ? 'closed' : 'rejected');
    expect(await trading.reserved()).toBe('0');
    const sides = (await trading.record()).orders.map(({ side }) => side);
    expect(sides).toEqual(state === 'rejected' ? [] : ['buy', 'sell']);
  });
});

describe.each(SOME_ADAPTERS(0))('over %s', (adapter) => {
  it.each(['drop-request', 'drop-response'])('no failing look-up decides about a submission after %s', async (lost) => {
    const trading = await setupTrading(paper(), { adapter, trader: { queryTimeoutMs: SUBMIT_TIMEOUT_MS } });
    const { strike, symbol, signal } = trading;
    let trader = trading.startTrader();
    await strike({ operation: 'submit', fault: lost });
    await strike({ operation: 'lookup', fault: 'http-500' });
    expect(await trader.tell({ do: 'enter', signal })).toMatchObject({ outcome: 'unknown' });
    for (const fault of FAULTS) {
      await trading.paper.control('DELETE', '/paper/faults');
      await strikeAt(trading, 'lookup', fault);
      expect(await trader.tell({ do: 'resolve', symbol }), fault.name).toEqual({ left: 1 });
      trader = heirOf(trader, trading, fault);
    }
    expect(await trading.trade()).toMatchObject({ intentState: 'unknown' });
    expect(await trading.reserved()).not.toBe('0');
    await trading.paper.control('DELETE', '/paper/faults');
    expect(await finish(trading, trader)).toBe(lost === 'drop-response' ? 'closed' : 'rejected');
  });
});

describe.each(SOME_ADAPTERS(1))('over %s', (adapter) => {
  it('a list that cannot be read stops the rebuild, and an order that is not on it is not taken for gone', async () => {
    const trading = await setupTrading(paper(), { adapter, trader: { queryTimeoutMs: SUBMIT_TIMEOUT_MS } });
    const { signal, symbol, profileId, admin } = trading;
    let trader = trading.startTrader();
    await trader.tell({ do: 'enter', signal });
    for (const fault of FAULTS) {
      await strikeAt(trading, 'open-orders', fault, 1);
      const refused = trader.tell({ do: 'rebuild', symbol, profiles: [profileId] });
      await expect(refused, fault.name).rejects.toThrow('VenueUnavailable');
      trader = heirOf(trader, trading, fault);
    }
    const { rows } = await admin.query('select status from orders');
    expect(rows).toEqual([{ status: 'open' }]);
    await rebuild(trading, trader);
    expect(await finish(trading, trader)).toBe('closed');
  });

  it('a cancellation of an entry that nobody knows of yet is carried out as soon as it is found', async () => {
    const trading = await setupTrading(paper(), { adapter });
    const { signal, symbol, profileId, strike } = trading;
    const trader = trading.startTrader();
    await strike({ operation: 'submit', fault: 'drop-response', times: 1 });
    await strike({ operation: 'lookup', fault: 'http-500' });
    const { tradeId } = await trader.tell<Outcome>({ do: 'enter', signal });
    await trader.tell({ do: 'cancel', profileId, tradeId });
    expect(await trading.openOrders()).toHaveLength(1);
    await trading.paper.control('DELETE', '/paper/faults');
    expect(await trader.tell({ do: 'resolve', symbol })).toEqual({ left: 0 });
    await trader.tell({ do: 'report', symbol });
    expect(await trading.openOrders()).toEqual([]);
    expect(await finish(trading, trader)).toBe('cancelled');
    expect(await trading.reserved()).toBe('0');
  });

  it('a cancellation is carried on whatever becomes of the request', async () => {
    const settings = { submitTimeoutMs: SUBMIT_TIMEOUT_MS };
    const trading = await setupTrading(paper(), { adapter, seed: SEED_OF_TWO_FILLS, settings });
    const { symbol, profileId, fill, story } = trading;
    let trader = trading.startTrader();
    for (const [index, fault] of FAULTS.entries()) {
      const signal = { ...trading.signal, signalId: `cancelled-${index}` };
      await trader.tell({ do: 'enter', signal });
      const [order] = await trading.openOrders();
      const isPartlyFilled = index % 2 === 1;
      if (isPartlyFilled) await fill(order?.id ?? '', story.firstFill);
      await strikeAt(trading, 'cancel', fault, 1);
      await trader.tell({ do: 'cancel', profileId, tradeId: (await trading.trade(signal.signalId))?.tradeId ?? '' });
      trader = heirOf(trader, trading, fault);
      await trader.tell({ do: 'report', symbol });
      expect(await trading.openOrders(), fault.name).toEqual([]);
      expect(await finish({ ...trading, signal }, trader)).toBe(isPartlyFilled ? 'closed' : 'cancelled');
      expect(await trading.reserved()).toBe('0');
    }
  });
});
