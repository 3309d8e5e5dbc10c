import { describe, expect, it } from 'vitest';
import { ORDER_TRANSITIONS } from '../index.js';
import { isWorking } from './order-status.js';
import { d, orderOf, setupLifecycle } from './testing/setup.js';

const STATES = Object.keys(ORDER_TRANSITIONS) as (keyof typeof ORDER_TRANSITIONS)[];
const FINAL = ['cancelled', 'expired', 'filled', 'rejected', 'replaced'];

describe('the states of an order', () => {
  it('are the same in code and in Postgres', async () => {
    const { admin } = await setupLifecycle();
    const { rows } = await admin.query<{ from_status: string; to_status: string }>('select * from order_transitions');
    const inPostgres = rows.map(({ from_status: from, to_status: to }) => `${from} → ${to}`).sort();
    const inCode = Object.entries(ORDER_TRANSITIONS).flatMap(([from, all]) => all.map((to) => `${from} → ${to}`));
    expect(inPostgres).toEqual(inCode.sort());
  });

  it('are all reached from the first, and there is no way out of the last ones', () => {
    const reached = new Set<string>(['pending']);
    for (const state of reached) for (const next of ORDER_TRANSITIONS[state as 'pending']) reached.add(next);
    expect([...reached].sort()).toEqual(STATES.toSorted());
    expect(STATES.filter((state) => !isWorking(state)).sort()).toEqual(FINAL);
  });

  it('go the ways of the table and no others, whatever is reported', async () => {
    const { newProfile, enter, apply, admin } = await setupLifecycle();
    const profileId = await newProfile('1000000');
    const made = new Set<string>();
    for (const [index, from] of STATES.entries()) {
      for (const to of STATES) {
        const { clientOrderId: id } = await enter(profileId, { symbol: `${to}-${index}/USD` }, { status: 'pending' });
        await apply({ order: orderOf(id, { status: from, symbol: `${to}-${index}/USD` }) });
        await apply({ order: orderOf(id, { status: to, symbol: `${to}-${index}/USD` }) });
        const { rows } = await admin.query<{ status: string }>('select status from orders where client_order_id = $1', [
          id,
        ]);
        const isAllowed = (ORDER_TRANSITIONS[from] as readonly string[]).includes(to);
        expect([from, to, rows[0]?.status]).toEqual([from, to, isAllowed ? to : from]);
        made.add(rows[0]?.status ?? '');
      }
    }
    expect([...made].sort()).toEqual(STATES.toSorted());
  });
});

describe('what was written of a trade', () => {
  it('can be removed by nobody, not even by its owner', async () => {
    const { newProfile, enter, apply, admin } = await setupLifecycle();
    const { clientOrderId: id } = await enter(await newProfile());
    await apply({ order: orderOf(id, { status: 'cancelled', filledQuantity: d('0') }) });
    for (const table of [
      'entry_intents',
      'exit_intents',
      'trade_lifecycle',
      'orders',
      'fills',
      'positions',
      'trade_history',
    ]) {
      for (const how of [`delete from ${table}`, `truncate ${table} cascade`]) {
        await expect(admin.query(how), how).rejects.toThrow('never changed or removed');
      }
    }
    for (const table of ['fills', 'trade_history']) {
      await expect(admin.query(`update ${table} set recorded_at = now()`)).rejects.toThrow('append-only');
    }
  });
});
