import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { alpacaClient } from './harness/paper-clients.js';
import { paperVenueOfFile } from './harness/paper-venue.js';
import { setupSweeping } from './harness/sweeping.js';
import { ADAPTERS, finish, type Adapter } from './harness/trading.js';

const paper = paperVenueOfFile();

async function setup(adapter: Adapter, seed = 0, options: Partial<Parameters<typeof setupSweeping>[1]> = {}) {
  const world = await setupSweeping(paper(), { adapter, seed, ...options });
  const trader = world.startTrader();
  await trader.process.says(/ready/);
  return { ...world, trader };
}

describe.each(ADAPTERS)('over %s, a sweep', (adapter) => {
  it('books fills that nobody told of, and ends a trade with what the venue filled', async () => {
    const world = await setup(adapter);
    const { trader, enter, fill, story, sweep, corrections, broken, expectQuiet } = world;
    const id = await enter(trader);
    expect(await sweep(trader)).toMatchObject({ outcome: 'clean' });
    await fill(id, story.firstFill);
    expect(await sweep(trader)).toMatchObject({ outcome: 'corrected', figures: { corrected: 1 } });
    expect([await corrections(), await broken()]).toEqual([['entry-fill applied 1'], []]);
    await expectQuiet(trader);
    expect(await finish(world, trader)).toBe('closed');
    await expectQuiet(trader);
    expect(await broken()).toEqual([]);
  });

  it('ends what the venue has cancelled, and what it has forgotten, with all that it filled', async () => {
    const {
      trader,
      enter,
      fill,
      paper: venue,
      sweep,
      corrections,
      broken,
      expectQuiet,
      story,
      trade,
    } = await setup(adapter, 1);
    const id = await enter(trader);
    await fill(id, story.firstFill);
    await venue.control('POST', `/paper/orders/${id}/cancel`);
    await venue.control('POST', '/paper/purge', { olderThanMs: 0 });
    expect(await sweep(trader)).toMatchObject({
      outcome: 'corrected',
      figures: { corrected: 1, missingFromExchange: 1 },
    });
    expect([await corrections(), await broken()]).toEqual([['entry-fill applied 1'], []]);
    expect(await trade()).toMatchObject({ state: 'open' });
    await expectQuiet(trader);
  });

  it.each(['cancelled', 'forgotten'])('gives capital back when an entry was %s', async (how) => {
    const { trader, enter, paper: venue, sweep, corrections, broken, expectQuiet, trade, admin } = await setup(adapter);
    const id = await enter(trader);
    await venue.control('POST', `/paper/orders/${id}/cancel`);
    if (how === 'forgotten') await venue.control('POST', '/paper/purge', { olderThanMs: 0 });
    expect(await sweep(trader)).toMatchObject({ outcome: 'corrected' });
    const kind = how === 'forgotten' ? 'vanished-entry' : 'cancel';
    expect([await corrections(), await broken()]).toEqual([[`${kind} applied 1`], []]);
    expect(await trade()).toMatchObject({ state: 'cancelled' });
    const { rows } = await admin.query('select trim_scale(reserved_for_orders) as reserved from capital_ledger');
    expect(rows).toEqual([{ reserved: '0' }]);
    await expectQuiet(trader);
  });

  it('records an order whose intent had been given up when it arrived', async () => {
    const {
      trader,
      signal,
      symbol,
      paper: venue,
      record,
      sweep,
      corrections,
      broken,
      expectQuiet,
      trade,
    } = await setup(adapter, 0, { settings: { submitTimeoutMs: 300 } });
    await venue.control('POST', '/paper/faults', {
      ...{ operation: 'submit', fault: 'delay', phase: 'request', delayMs: 6_000, times: 1 },
    });
    expect(await trader.tell({ do: 'enter', signal })).toMatchObject({ outcome: 'unknown' });
    for (let count = 0; count < 2; count += 1) await trader.tell({ do: 'resolve', symbol });
    expect(await trade()).toMatchObject({ intentState: 'rejected' });
    expect(await sweep(trader)).toMatchObject({ outcome: 'clean' });
    await expect.poll(async () => (await record()).orders.length, { timeout: 30_000 }).toBe(1);
    expect(await sweep(trader)).toMatchObject({ outcome: 'corrected', figures: { missingInDb: 1, corrected: 1 } });
    expect([await corrections(), await broken()]).toEqual([['log-order applied 1'], []]);
    expect(await trade()).toMatchObject({ state: 'disputed' });
    await expectQuiet(trader);
  });

  it('records an order whose answer was lost, and reports one of somebody else', async () => {
    const { trader, signal, paper: venue, sweep, corrections, expectQuiet, trade, admin } = await setup(adapter);
    const { foreignOrders } = (await sweep(trader)).figures;
    await venue.control('POST', '/paper/faults', { operation: 'submit', fault: 'drop-response', times: 1 });
    await venue.control('POST', '/paper/faults', { operation: 'lookup', fault: 'http-500' });
    expect(await trader.tell({ do: 'enter', signal })).toMatchObject({ outcome: 'unknown' });
    await venue.control('DELETE', '/paper/faults');
    const foreign = {
      symbol: 'BTC/USD',
      side: 'buy',
      type: 'limit',
      timeInForce: 'gtc',
      qty: '1',
      limitPrice: '50',
    } as const;
    await alpacaClient(venue).submit({ ...foreign, clientOrderId: `by-hand-${randomUUID().slice(0, 8)}` });
    expect(await sweep(trader)).toMatchObject({
      figures: { missingInDb: 1, corrected: 1, foreignOrders: foreignOrders + 1, openQuestions: 0 },
    });
    expect(await corrections()).toEqual(['log-order applied 1']);
    expect(await trade()).toMatchObject({ state: 'entering' });
    expect((await admin.query('select from orders')).rowCount).toBe(1);
    await expectQuiet(trader);
  });

  it('fails on a list that is not whole, and is not deceived by one that is stale', async () => {
    const { trader, enter, paper: venue, symbol, fill, sweep, corrections, broken, expectQuiet } = await setup(adapter);
    const id = await enter(trader);
    await venue.control('POST', '/paper/faults', { operation: 'open-orders', fault: 'truncated-list', times: 1 });
    expect(await sweep(trader)).toMatchObject({ outcome: 'failed', reason: expect.stringMatching(/is not whole/) });
    expect(await corrections()).toEqual([]);
    await venue.control('POST', '/paper/faults', { operation: 'open-orders', fault: 'stale-list' });
    await fill(id);
    await venue.control('POST', '/paper/faults', { operation: 'lookup', fault: 'http-500' });
    expect(await sweep(trader), 'nothing without a second look').toMatchObject({
      figures: { corrected: 0, leftAlone: 1 },
    });
    await venue.control('DELETE', '/paper/faults');
    await trader.tell({ do: 'report', symbol });
    await venue.control('POST', '/paper/faults', { operation: 'open-orders', fault: 'stale-list' });
    expect(await sweep(trader)).toMatchObject({ figures: { corrected: 0, mismatches: 0 } });
    await venue.control('DELETE', '/paper/faults');
    expect([await corrections(), await broken()]).toEqual([[], []]);
    await expectQuiet(trader);
  });

  it('notes a balance that somebody else moved, and asks when it does not cover what is held', async () => {
    const { trader, enter, fill, paper: venue, symbol, sweep, corrections, expectQuiet, admin } = await setup(adapter);
    await fill(await enter(trader));
    await trader.tell({ do: 'report', symbol });
    await sweep(trader);
    await expectQuiet(trader);
    await venue.control('POST', '/paper/balances', { asset: 'USD', free: '777777' });
    expect(await sweep(trader)).toMatchObject({ outcome: 'clean' });
    expect(await corrections()).toEqual(['holding-moved noted 1']);
    await venue.control('POST', '/paper/balances', { asset: 'BTC', free: '0' });
    expect(await sweep(trader)).toMatchObject({ figures: { openQuestions: 1 } });
    expect(await corrections()).toEqual(['holding-moved noted 1', 'holding-moved noted 1', 'holding-short asked 1']);
    expect((await admin.query('select symbol from halts')).rows).toEqual([{ symbol: symbol.toLowerCase() }]);
    await expectQuiet(trader);
  });
});
