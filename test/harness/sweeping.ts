import { randomBytes } from 'node:crypto';
import { expect, inject } from 'vitest';
import type { Sweep } from '#libs/reconciliation';
import type { PaperVenue } from './paper-venue.js';
import { setupTrading, type Trader } from './trading.js';

type Options = Parameters<typeof setupTrading>[1];

/** A trading setup whose traders sweep, and tell their orders from those of other tests by their mark. */
export async function setupSweeping(paper: PaperVenue, options: Options) {
  const settings = { clientOrderIdPrefix: `t${randomBytes(4).toString('hex')}`, ...options.settings };
  const trader = { redisUrl: inject('redisUrl'), ...options.trader };
  const trading = await setupTrading(paper, { ...options, settings, trader });
  const { admin } = trading;
  const corrections = async (): Promise<string[]> => {
    const { rows } = await admin.query<{ what: string }>(
      `select concat_ws(' ', kind, state, times) as what from reconciliation_corrections order by kind, correction_id`,
    );
    return rows.map(({ what }) => what);
  };
  const sweep = (by: Trader): Promise<Sweep> => by.tell<Sweep>({ do: 'sweep' });
  /** Everything but what a sweep may note of itself. */
  const state = async (): Promise<unknown[]> => {
    const tables = ['orders', 'fills', 'positions', 'capital_ledger', 'halts', 'reconciliation_corrections'];
    const rows: unknown[] = [];
    for (const table of tables) {
      rows.push(...(await admin.query<object>(`select xmin, * from ${table} order by 2, 3`)).rows);
    }
    return rows;
  };
  /** Two more sweeps find nothing to do: the first may note what the account holds by now. */
  const expectQuiet = async (by: Trader): Promise<void> => {
    const before = await state();
    for (let count = 0; count < 2; count += 1) expect(await sweep(by)).toMatchObject({ figures: { corrected: 0 } });
    expect(await state()).toEqual(before);
  };
  const endSweepLocks = (): Promise<unknown> =>
    admin.query('update reconciliation_locks set expires_at = clock_timestamp()');
  /** Enters, and resolves with the venue's id of the order. */
  const enter = async (by: Trader): Promise<string> => {
    await by.tell({ do: 'enter', signal: trading.signal });
    return (await trading.openOrders())[0]?.id ?? '';
  };
  return { ...trading, corrections, sweep, expectQuiet, endSweepLocks, enter };
}
