import { describe, expect, it } from 'vitest';
import { paperVenueOfFile } from './harness/paper-venue.js';
import { ADAPTERS, finish, setupTrading, type Adapter, type Trading } from './harness/trading.js';

const IS_WHOLE = process.env['FLOTILLA_CRASH'] === 'all';
/** Its orders are filled in two parts. */
const SEED = 4;
const paper = paperVenueOfFile();

/** What may befall the events of a stream, and whether the stream alone can make up for it. */
const FAULTS = [
  { name: 'come twice', fault: 'duplicate-event', isHealed: true },
  { name: 'overtake each other', fault: 'reorder-events', isHealed: true },
  { name: 'come late', fault: 'delay', delayMs: 300, isHealed: true },
  { name: 'cut the connection', fault: 'reset', times: 3, isHealed: true },
  { name: 'never come', fault: 'drop-event', isHealed: false },
];

const CASES = FAULTS.flatMap((fault, index) =>
  ADAPTERS.filter((_, which) => IS_WHOLE || which === index % 2).map((adapter) => ({ ...fault, adapter })),
);

/** One process that trades and listens at once. */
async function following(adapter: Adapter) {
  const trading = await setupTrading(paper(), { adapter, seed: SEED });
  const trader = trading.startTrader();
  trader.send({ do: 'follow', symbol: trading.symbol });
  await trader.process.says(/^stream live\n/m);
  return { trading, trader };
}

async function fillInParts({ openOrders, fill, story }: Trading): Promise<void> {
  for (const { id } of await openOrders()) {
    await fill(id, story.firstFill);
    await fill(id);
  }
}

const whenTrade = ({ until }: Trading, state: string): Promise<void> =>
  until(`exists (select from trade_lifecycle where state = '${state}')`);

describe('a trade whose events', () => {
  it.each(CASES)('$name over $adapter is booked as the venue filled it, each fill once', async (given) => {
    const { adapter, isHealed, name, ...fault } = given;
    const { trading, trader } = await following(adapter);
    const { signal, symbol, profileId, story, strike } = trading;
    await strike({ operation: 'stream', ...fault });
    for (const state of ['open', 'closed']) {
      const tradeId = (await trading.trade())?.tradeId ?? '';
      await trader.tell(
        state === 'open' ? { do: 'enter', signal } : { do: 'exit', profileId, tradeId, limitPrice: story.limitPrice },
      );
      await fillInParts(trading);
      if (!isHealed) await trader.tell({ do: 'report', symbol });
      await whenTrade(trading, state);
    }
    const struck = { 'duplicate-event': /applied stream unchanged/, reset: /stream lost/ }[fault.fault];
    if (struck) await trader.process.says(struck);
    if (!isHealed) expect(trader.process.output, name).not.toContain('applied stream');
    expect(await trading.broken()).toEqual([]);
    expect(await trading.reserved()).toBe('0');
  });
});

describe.each(IS_WHOLE ? ADAPTERS : ADAPTERS.slice(0, 1))('a stream over %s', (adapter) => {
  it('that was cut and may not be opened for a while leaves no fill of that time out', async () => {
    const { trading, trader } = await following(adapter);
    await trader.tell({ do: 'enter', signal: trading.signal });
    for (const fault of ['http-500', 'http-429', 'drop-request']) {
      await trading.strike({ operation: 'stream', fault, times: 2 });
    }
    await trading.paper.control('POST', '/paper/streams/cut');
    await trader.process.says(/stream lost/);
    await fillInParts(trading);
    await whenTrade(trading, 'open');
    expect(await finish(trading, trader)).toBe('closed');
  });

  it('may tell everything to two processes and a poll beside them at once', async () => {
    const { trading, trader } = await following(adapter);
    const other = trading.startTrader();
    other.send({ do: 'follow', symbol: trading.symbol });
    await other.process.says(/^stream live\n/m);
    for (let count = 1; count <= 5; count += 1) {
      const signal = { ...trading.signal, signalId: `s${count}` };
      await trader.tell({ do: 'enter', signal });
      const polls = [trader, other].map((each) => each.tell({ do: 'report', symbol: trading.symbol }));
      await Promise.all([fillInParts(trading), ...polls]);
      expect(await finish({ ...trading, signal }, count % 2 === 0 ? trader : other)).toBe('closed');
    }
    for (const { process } of [trader, other]) expect(process.output).not.toContain('could not');
  });
});
