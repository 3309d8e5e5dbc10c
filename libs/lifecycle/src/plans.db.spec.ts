import { describe, expect, it } from 'vitest';
import { d, fillOf, setupLifecycle } from './testing/setup.js';

const TRADES = 150;

describe('a session that began while the tables were empty', () => {
  it('finds each row by itself, however many there are by now', async () => {
    const { admin, database, newProfile, enter, apply, trade } = await setupLifecycle({ poolSize: 1 });
    for (let count = 0; count < TRADES; count += 1) {
      const profileId = await newProfile();
      const { tradeId, clientOrderId } = await enter(profileId);
      await apply({ fills: [fillOf(clientOrderId, 'f1', { quantity: d('10') })] });
      expect(await trade(profileId, tradeId)).toMatchObject({ state: 'open' });
    }
    // What a session read is counted when it ends.
    await database.close();
    const { rows } = await admin.query<{ name: string; read: string }>(`
      select relname || ' by ' || indexrelname as name, idx_tup_read as read from pg_stat_user_indexes
      union all select relname || ' whole', seq_tup_read from pg_stat_user_tables`);
    const readMuch = rows.filter(({ read }) => Number(read) > TRADES * 20);
    expect(readMuch).toEqual([]);
  });
});
