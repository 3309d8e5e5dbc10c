import { describe, expect, it } from 'vitest';
import { setupReconciliation, d, SYMBOL } from './testing/setup.js';

describe('a sweep', () => {
  it('finds nothing where nothing differs, and writes nothing', async () => {
    const { newProfile, enter, fillUnseen, tell, sweep, admin, corrections } = await setupReconciliation();
    const { orderId } = await enter(await newProfile());
    fillUnseen(orderId, 'f1', '3');
    await tell(orderId);
    await sweep();
    const written = async () => {
      await admin.query('select pg_stat_force_next_flush()');
      const { rows } = await admin.query(
        `select relname, n_tup_ins + n_tup_upd + n_tup_del as changes from pg_stat_user_tables order by relname`,
      );
      return rows;
    };
    const before = await written();
    expect(await sweep()).toMatchObject({ outcome: 'clean', figures: { mismatches: 0, orders: 1, fills: 1 } });
    expect(await written()).toEqual(before);
    expect(await corrections()).toEqual([]);
  });

  it('books a fill that we were never told of, once', async () => {
    const { newProfile, enter, fillUnseen, sweep, trade, corrections, balances, contradictions } =
      await setupReconciliation();
    const profileId = await newProfile();
    const { tradeId, orderId } = await enter(profileId);
    fillUnseen(orderId, 'f1', '4');
    expect(await sweep()).toMatchObject({ outcome: 'corrected', figures: { mismatches: 1, corrected: 1 } });
    expect(await trade(profileId, tradeId)).toMatchObject({ positionQuantity: d('4') });
    expect(await corrections()).toMatchObject([
      {
        ...{ kind: 'entry-fill', rule: 1, state: 'applied', profileId, tradeId, orderId, symbol: SYMBOL, times: 1 },
        recorded: { bookedQuantity: '0', filledQuantity: '0' },
        reported: { filledQuantity: '4', status: 'partially-filled' },
      },
    ]);
    expect(await balances(profileId)).toEqual(['603', '400', '0', '8997']);
    expect(await sweep()).toMatchObject({ outcome: 'clean', figures: { mismatches: 0 } });
    expect(await contradictions(profileId)).toEqual([]);
  });
});
