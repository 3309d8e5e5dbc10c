import { expect, it } from 'vitest';
import { paperVenueOfFile } from './harness/paper-venue.js';
import { setupSweeping } from './harness/sweeping.js';
import { ADAPTERS } from './harness/trading.js';

const TRADES = process.env['FLOTILLA_CRASH'] === 'all' ? 40 : 6;
/** Far more than a stream takes to tell, and less than the story lasts. */
const PATIENCE_MS = 3_000;
const paper = paperVenueOfFile();

it.each(ADAPTERS)('sweeps without a pause over %s raise nothing while trades come and go', async (adapter) => {
  const world = await setupSweeping(paper(), {
    ...{ adapter, settings: { submitWindowMs: PATIENCE_MS }, trader: { sweeps: { settleMs: PATIENCE_MS } } },
  });
  const { signal, symbol, profileId, story, admin, until, openOrders, fill, sweep, corrections, broken } = world;
  const [trader, sweeper] = [world.startTrader(), world.startTrader()];
  // What happens before it is connected, it reads from the lists.
  trader.send({ do: 'follow', symbol });

  let isOver = false;
  const outcomes: string[] = [];
  const keepSweeping = async (): Promise<void> => {
    while (!isOver) {
      const { outcome, figures } = await sweep(sweeper);
      outcomes.push(`${outcome} ${figures.mismatches}`);
    }
  };
  const sweeping = keepSweeping();
  const fillAll = async (isInParts: boolean): Promise<void> => {
    const [order] = await openOrders();
    if (isInParts) await fill(order?.id ?? '', story.firstFill);
    for (const { id } of await openOrders()) await fill(id);
  };
  for (let index = 0; index < TRADES; index += 1) {
    await trader.tell({ do: 'enter', signal: { ...signal, signalId: `s${index}` } });
    await fillAll(index % 2 === 0);
    const state = (wanted: string): string =>
      `exists (select from trade_lifecycle where signal_id = 's${index}' and state = '${wanted}')`;
    await until(state('open'));
    const { rows } = await admin.query<{ trade_id: string }>(
      `select trade_id from trade_lifecycle where signal_id = 's${index}'`,
    );
    await trader.tell({ do: 'exit', profileId, tradeId: rows[0]?.trade_id ?? '', limitPrice: story.limitPrice });
    await fillAll(index % 3 === 0);
    await until(state('closed'));
  }
  // Until all of it is old enough to be looked at.
  await until(`not exists (select from orders where updated_at > clock_timestamp() - interval '${PATIENCE_MS} ms')`);
  const before = outcomes.length;
  await expect.poll(() => outcomes.length, { timeout: 60_000 }).toBeGreaterThan(before + 2);
  isOver = true;
  await sweeping;
  expect([...new Set(outcomes)]).toEqual(['clean 0']);
  expect([await corrections(), await broken()]).toEqual([[], []]);
});
