import { expect, it } from 'vitest';
import type { Outcome } from '#libs/lifecycle';
import { paperVenueOfFile } from './harness/paper-venue.js';
import { ADAPTERS, buy, finish, setupTrading, type Trader, type Trading } from './harness/trading.js';

const IS_WHOLE = process.env['FLOTILLA_CRASH'] === 'all';
const paper = paperVenueOfFile();

/** The request lies somewhere on the way until its sender has given up, and then reaches the venue all the same. */
async function sendLate({ strike, signal }: Trading, trader: Trader): Promise<void> {
  await strike({ operation: 'submit', fault: 'delay', phase: 'request', delayMs: 3_500, times: 1 });
  expect(await trader.tell<Outcome>({ do: 'enter', signal })).toMatchObject({ outcome: 'unknown', reason: 'timeout' });
}

async function arrives({ record }: Trading): Promise<void> {
  while ((await record()).orders.length === 0);
}

it('an order that arrives after its sender gave up is found, as long as the submit window is open', async () => {
  const settings = { submitTimeoutMs: 500, submitWindowMs: 600_000 };
  const trading = await setupTrading(paper(), { adapter: 'alpaca', settings });
  const trader = trading.startTrader();
  await sendLate(trading, trader);
  for (let time = 1; time <= 3; time += 1) {
    expect(await trader.tell({ do: 'resolve', symbol: trading.symbol })).toEqual({ left: 1 });
  }
  expect(await trading.reserved()).not.toBe('0');
  await arrives(trading);
  expect(await finish(trading, trader)).toBe('closed');
});

it('an order that arrives after it was given up is recorded with its fills; its trade is disputed and its symbol halted', async () => {
  const trading = await setupTrading(paper(), { adapter: 'ccxt', settings: { submitTimeoutMs: 500 } });
  const { symbol, profileId, signal, fill, broken } = trading;
  const trader = trading.startTrader();
  await sendLate(trading, trader);
  // Looked for in vain once is not enough.
  expect(await trader.tell({ do: 'resolve', symbol })).toEqual({ left: 1 });
  expect(await trader.tell({ do: 'resolve', symbol })).toEqual({ left: 0 });
  expect(await trading.trade()).toMatchObject({ state: 'rejected' });
  expect(await trading.reserved()).toBe('0');
  await arrives(trading);
  const [order] = (await trading.record()).orders;
  await trader.tell({ do: 'rebuild', symbol, profiles: [profileId] });
  await fill(order?.id ?? '');
  await trader.tell({ do: 'report', symbol });
  expect(await trading.trade()).toMatchObject({ state: 'disputed' });
  expect(await broken()).toEqual([]);
  const next = { do: 'enter', signal: { ...signal, signalId: 's2' } } as const;
  expect(await trader.tell(next)).toMatchObject({ outcome: 'skipped', reason: 'halted' });
});

const ATTEMPTS = 10;

it.each(IS_WHOLE ? ADAPTERS : ADAPTERS.slice(1))(
  'a venue over %s that fails every third request of every kind costs time and nothing else',
  async (adapter) => {
    const settings = { submitTimeoutMs: 1_500 };
    const trading = await setupTrading(paper(), { adapter, seed: 4, settings, trader: { queryTimeoutMs: 1_500 } });
    const { symbol, profileId, fill, openOrders, strike } = trading;
    const trader = trading.startTrader();
    // Whatever the process needs to know of the venue at all.
    await buy({ ...trading, signal: { ...trading.signal, signalId: 'first' } }, trader);
    for (const fault of ['http-500', 'reset', 'drop-request', 'drop-response']) {
      await strike({ operation: 'any', fault, probability: 0.09 });
    }
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const stumble = (command: Parameters<Trader['tell']>[0]) => trader.tell(command).catch(() => undefined);
      const known = (await trading.trade())?.tradeId ?? (await trading.trade('first'))?.tradeId ?? '';
      await stumble({ do: 'exit', profileId, tradeId: known, limitPrice: trading.story.limitPrice });
      for (const { id } of await openOrders()) if (attempt % 2 === 0) await fill(id);
      await stumble({ do: 'report', symbol });
      if (attempt % 3 === 0) await stumble({ do: 'cancel', profileId, tradeId: known });
      await stumble({ do: 'enter', signal: trading.signal });
    }
    await trading.paper.control('DELETE', '/paper/faults');
    for (const signalId of ['first', 's1'])
      await finish({ ...trading, signal: { ...trading.signal, signalId } }, trader);
    expect(await trading.reserved()).toBe('0');
  },
);
