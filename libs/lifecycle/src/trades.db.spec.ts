import { describe, expect, it } from 'vitest';
import { noteEvidence, persistLifecycle } from './intents.js';
import { d, fillOf, orderOf, setupLifecycle } from './testing/setup.js';

const evidence = { asked: 'submit', answer: 'refused' } as const;

describe('an entry', () => {
  it('reserves and writes its intent, both or neither, and nothing beyond its capital (invariant 3)', async () => {
    const { newProfile, begin, balances, admin } = await setupLifecycle({ capital: '2000' });
    const profileId = await newProfile();
    expect(await begin(profileId)).toMatchObject({ verdict: 'begun' });
    expect(await balances(profileId)).toEqual(['2000', '1005', '0', '0', '995']);
    const refused = await begin(profileId, { symbol: 'ETH/USD' });
    expect(refused).toMatchObject({ verdict: 'insufficient_capital', detail: '995' });
    const { rows } = await admin.query('select trade_id from entry_intents');
    expect(rows).toHaveLength(1);
  });

  it('of a trade that was begun before finds it, and one of another trade in the symbol is refused (invariant 4)', async () => {
    const { newProfile, begin } = await setupLifecycle();
    const profileId = await newProfile();
    const { tradeId } = await begin(profileId);
    expect(await begin(profileId, { tradeId })).toMatchObject({ verdict: 'exists', detail: 'pending' });
    expect(await begin(profileId, { symbol: 'btc/usd' })).toMatchObject({ verdict: 'active_entry', detail: tradeId });
    expect(await begin(profileId, { symbol: 'ETH/USD' })).toMatchObject({ verdict: 'begun' });
  });

  it('under a token that another has overtaken is refused, and leaves nothing (invariant 7)', async () => {
    const { newProfile, begin, lockToken, balances } = await setupLifecycle();
    const profileId = await newProfile();
    const stale = await lockToken(profileId);
    await lockToken(profileId);
    expect(await begin(profileId, { lockToken: stale })).toMatchObject({ verdict: 'stale_lock' });
    expect(await balances(profileId)).toEqual(['10000', '0', '0', '0', '10000']);
  });

  it('has no lifecycle before the venue confirmed, and all of it afterwards (invariant 2)', async () => {
    const { database, newProfile, begin, trade, admin } = await setupLifecycle();
    const profileId = await newProfile();
    const intent = await begin(profileId);
    const count = async () => {
      const { rows } = await admin.query<{ counts: number[] }>(`select array[(select count(*) from trade_lifecycle),
        (select count(*) from orders), (select count(*) from positions), (select count(*) from trade_history)] counts`);
      return rows[0]?.counts.map(Number);
    };
    expect(await count()).toEqual([0, 0, 0, 0]);
    expect(await trade(profileId, intent.tradeId)).toMatchObject({ state: 'pending' });
    const proof = { report: { order: orderOf(intent.clientOrderId) }, source: 'submit' as const };
    for (let time = 1; time <= 2; time += 1) {
      const persisted = await persistLifecycle(database, intent, { lockToken: intent.lockToken, ...proof });
      expect(persisted.verdict).toBe('persisted');
      expect(await count()).toEqual([1, 1, 1, 1]);
    }
    expect(await trade(profileId, intent.tradeId)).toMatchObject({ state: 'entering' });
  });

  it('is not persisted under a stale token, nor with the order of another intent', async () => {
    const { database, newProfile, begin, lockToken, trade } = await setupLifecycle();
    const profileId = await newProfile();
    const intent = await begin(profileId);
    const persist = (lockToken: bigint, clientOrderId: string) =>
      persistLifecycle(database, intent, { lockToken, report: { order: orderOf(clientOrderId) }, source: 'submit' });
    expect(await persist(intent.lockToken, 'c-other')).toMatchObject({ verdict: 'another_order' });
    await lockToken(profileId);
    expect(await persist(intent.lockToken, intent.clientOrderId)).toMatchObject({ verdict: 'stale_lock' });
    expect(await trade(profileId, intent.tradeId)).toMatchObject({ state: 'pending' });
  });

  it('is neither rejected nor noted upon under a stale token (invariant 7)', async () => {
    const { database, reject, newProfile, begin, lockToken, balances, trade } = await setupLifecycle();
    const profileId = await newProfile();
    const intent = await begin(profileId);
    await lockToken(profileId);
    const stale = { lockToken: intent.lockToken, evidence };
    expect(await reject(intent, { ...stale, reason: 'other', actor: 'test' })).toMatchObject({ verdict: 'stale_lock' });
    expect(await noteEvidence(database, intent, stale)).toMatchObject({ verdict: 'stale_lock' });
    expect(await trade(profileId, intent.tradeId)).toMatchObject({ state: 'pending' });
    expect(await balances(profileId)).toEqual(['10000', '1005', '0', '0', '8995']);
  });

  it('beside an active one of its symbol is refused by Postgres itself, whoever writes it (invariant 4)', async () => {
    const { admin, reject, newProfile, begin } = await setupLifecycle();
    const profileId = await newProfile();
    const first = await begin(profileId);
    await reject(first, { lockToken: first.lockToken, reason: 'other', evidence, actor: 'test' });
    await begin(profileId, { symbol: 'btc/USD' });
    const revive = admin.query('update entry_intents set is_active = true where trade_id = $1', [first.tradeId]);
    await expect(revive).rejects.toThrow('one_active_entry');
  });

  it('that the venue refused gives its capital back and makes room for the next', async () => {
    const { reject, newProfile, begin, balances, trade } = await setupLifecycle();
    const profileId = await newProfile();
    const intent = await begin(profileId);
    const proof = { lockToken: intent.lockToken, reason: 'insufficient-funds', evidence, actor: 'test' };
    expect(await reject(intent, proof)).toMatchObject({ verdict: 'rejected' });
    expect(await reject(intent, proof)).toMatchObject({ verdict: 'decided' });
    expect(await balances(profileId)).toEqual(['10000', '0', '0', '0', '10000']);
    expect(await trade(profileId, intent.tradeId)).toMatchObject({ state: 'rejected', reason: 'insufficient-funds' });
    expect(await begin(profileId)).toMatchObject({ verdict: 'begun' });
  });
});

describe('fills', () => {
  it('move their share, return what was saved, and settle with the end of the order', async () => {
    const { newProfile, enter, apply, balances, trade, contradictions } = await setupLifecycle();
    const profileId = await newProfile();
    const { tradeId, clientOrderId: id } = await enter(profileId);
    // 4 of 10 at 99: a share of 402 is freed, 396 of it paid.
    await apply({ fills: [fillOf(id, 'f1', { quantity: d('4'), price: d('99') })] });
    expect(await balances(profileId)).toEqual(['10000', '603', '396', '0', '9001']);
    await apply({ order: orderOf(id, { status: 'cancelled', filledQuantity: d('4') }) });
    expect(await balances(profileId)).toEqual(['10000', '0', '396', '0', '9604']);
    expect(await trade(profileId, tradeId)).toMatchObject({ state: 'open' });
    expect(await contradictions(profileId)).toEqual([]);
  });

  it('wait: an order that ended keeps its reservation until its fills are whole', async () => {
    const { newProfile, enter, apply, balances, trade } = await setupLifecycle();
    const profileId = await newProfile();
    const { tradeId, clientOrderId: id } = await enter(profileId);
    await apply({ order: orderOf(id, { status: 'filled', filledQuantity: d('10') }) });
    expect(await balances(profileId)).toEqual(['10000', '1005', '0', '0', '8995']);
    expect(await trade(profileId, tradeId)).toMatchObject({ state: 'entering' });
    await apply({ fills: [fillOf(id, 'f1', { quantity: d('10') })] });
    expect(await balances(profileId)).toEqual(['10000', '0', '1000', '0', '9000']);
    expect(await trade(profileId, tradeId)).toMatchObject({ state: 'open' });
  });

  it('charge their fee; one that was taken out of what was bought makes the position smaller', async () => {
    const { newProfile, enter, apply, balances, trade, contradictions } = await setupLifecycle();
    const profileId = await newProfile();
    const { tradeId, clientOrderId: id } = await enter(profileId);
    const fee = (amount: string, asset: string) => ({ quantity: d('5'), fee: { amount: d(amount), asset } });
    await apply({ fills: [fillOf(id, 'f1', fee('0.5', 'USD'))] });
    expect(await balances(profileId)).toEqual(['10000', '502.5', '500', '-0.5', '8997']);
    await apply({ fills: [fillOf(id, 'f2', fee('0.01', 'BTC'))] });
    expect(await balances(profileId)).toEqual(['10000', '0', '999', '-1.5', '8999.5']);
    expect((await trade(profileId, tradeId))?.positionQuantity.toString()).toBe('9.99');
    expect(await contradictions(profileId)).toEqual([]);
  });

  it('beyond the order are recorded, and halt the symbol', async () => {
    const { newProfile, enter, apply, balances, trade, begin, halts, contradictions } = await setupLifecycle();
    const profileId = await newProfile();
    const { tradeId, clientOrderId: id } = await enter(profileId);
    await apply({ fills: [fillOf(id, 'f1', { quantity: d('11') })] });
    expect(await balances(profileId)).toEqual(['10000', '0', '1100', '0', '8900']);
    expect(await trade(profileId, tradeId)).toMatchObject({ state: 'disputed' });
    expect(await halts()).toEqual([expect.stringContaining('was filled with 11')]);
    expect(await contradictions(profileId)).toEqual([]);
    expect(await begin(profileId)).toMatchObject({ verdict: 'active_entry' });
  });

  it('after the end of an order are recorded, and the trade is disputed', async () => {
    const { newProfile, enter, apply, balances, trade, begin, contradictions } = await setupLifecycle();
    const profileId = await newProfile();
    const { tradeId, clientOrderId: id } = await enter(profileId);
    await apply({ order: orderOf(id, { status: 'cancelled' }) });
    expect(await trade(profileId, tradeId)).toMatchObject({ state: 'cancelled' });
    expect(await balances(profileId)).toEqual(['10000', '0', '0', '0', '10000']);
    await apply({ fills: [fillOf(id, 'f1', { quantity: d('2') })] });
    expect(await trade(profileId, tradeId)).toMatchObject({ state: 'disputed' });
    expect(await balances(profileId)).toEqual(['10000', '0', '200', '0', '9800']);
    expect(await begin(profileId)).toMatchObject({ verdict: 'halted' });
    expect(await contradictions(profileId)).toEqual([]);
  });

  it('of an order whose intent had been given up bring it back, disputed', async () => {
    const { reject, newProfile, begin, apply, balances, trade, contradictions } = await setupLifecycle();
    const profileId = await newProfile();
    const intent = await begin(profileId);
    await reject(intent, { lockToken: intent.lockToken, reason: 'disproved', evidence, actor: 'test' });
    const order = orderOf(intent.clientOrderId, { status: 'partially-filled', filledQuantity: d('3') });
    await apply({ order, fills: [fillOf(intent.clientOrderId, 'f1', { quantity: d('3') })] });
    expect(await trade(profileId, intent.tradeId)).toMatchObject({ state: 'disputed' });
    expect(await balances(profileId)).toEqual(['10000', '703.5', '300', '0', '8996.5']);
    expect(await contradictions(profileId)).toEqual([]);
  });

  it('of a second order under one client order id are not ours to book; the trade is disputed once', async () => {
    const { newProfile, enter, apply, trade, halts, admin } = await setupLifecycle();
    const profileId = await newProfile();
    const { tradeId, clientOrderId: id } = await enter(profileId);
    for (let time = 1; time <= 2; time += 1) {
      expect(await apply({ order: orderOf(id, { venueOrderId: 'another' }) })).toBe('unknown-order');
    }
    expect(await trade(profileId, tradeId)).toMatchObject({ state: 'disputed' });
    expect(await halts()).toHaveLength(1);
    const { rows } = await admin.query(`select from trade_history where event = 'disputed'`);
    expect(rows).toHaveLength(1);
  });

  it('of orders that are not ours are left alone', async () => {
    const { apply } = await setupLifecycle();
    expect(await apply({ order: orderOf('somebody'), fills: [fillOf('somebody', 'f')] })).toBe('unknown-order');
  });
});

describe('an exit', () => {
  async function bought(side: 'buy' | 'sell' = 'buy') {
    const all = await setupLifecycle();
    const profileId = await all.newProfile();
    const { tradeId, clientOrderId } = await all.enter(profileId, { side });
    const fills = [fillOf(clientOrderId, 'f1', { quantity: d('10'), side })];
    await all.apply({ order: orderOf(clientOrderId, { status: 'filled', filledQuantity: d('10') }), fills });
    return { ...all, profileId, tradeId };
  }
  const sold = (id: string, quantity: string, price: string) => ({
    order: orderOf(id, { status: 'filled', side: 'sell', quantity: d(quantity), filledQuantity: d(quantity) }),
    fills: [fillOf(id, 'x1', { quantity: d(quantity), price: d(price), fee: { amount: d('1'), asset: 'USD' } })],
  });

  it.each([
    ['buy', 'long', '189'],
    ['sell', 'short', '-191'],
  ] as const)('of a %s books the profit or loss of a %s position and closes the trade', async (side, _, pnl) => {
    const { profileId, tradeId, leave, apply, balances, trade, contradictions, begin } = await bought(side);
    const { verdict, clientOrderId } = await leave(profileId, tradeId, { quantity: '10' });
    expect(verdict).toBe('begun');
    expect(await trade(profileId, tradeId)).toMatchObject({ state: 'exiting' });
    await apply(sold(clientOrderId, '10', '119'));
    expect(await balances(profileId)).toEqual(['10000', '0', '0', pnl, String(10000 + Number(pnl))]);
    expect(await trade(profileId, tradeId)).toMatchObject({ state: 'closed' });
    expect(await contradictions(profileId)).toEqual([]);
    expect(await begin(profileId)).toMatchObject({ verdict: 'begun' });
  });

  it('is begun once; one that was cancelled is tried again under the next generation', async () => {
    const { profileId, tradeId, leave, apply, trade, balances } = await bought();
    const first = await leave(profileId, tradeId, { quantity: '10' });
    expect(await leave(profileId, tradeId, { quantity: '10' })).toMatchObject({ verdict: 'exists' });
    const partial = fillOf(first.clientOrderId, 'x1', { quantity: d('4'), price: d('110') });
    const order = orderOf(first.clientOrderId, { status: 'cancelled', filledQuantity: d('4') });
    await apply({ order, fills: [partial] });
    expect(await trade(profileId, tradeId)).toMatchObject({ state: 'open', exitGeneration: 1 });
    expect(await balances(profileId)).toEqual(['10000', '0', '600', '40', '9440']);
    expect(await leave(profileId, tradeId, { quantity: '6' })).toMatchObject({ verdict: 'begun', generation: 1 });
  });

  it('that the venue refused leaves the trade open for the next generation', async () => {
    const { reject, profileId, tradeId, leave, trade, balances } = await bought();
    const { generation, lockToken } = await leave(profileId, tradeId, { quantity: '10' });
    const proof = { lockToken, reason: 'other', evidence, actor: 'test' };
    expect(await reject({ profileId, tradeId, generation }, proof)).toMatchObject({ verdict: 'rejected' });
    expect(await trade(profileId, tradeId)).toMatchObject({ state: 'open', exitGeneration: 1 });
    expect(await balances(profileId)).toEqual(['10000', '0', '1000', '0', '9000']);
  });

  it('writes off what the venue could not take', async () => {
    const { profileId, tradeId, leave, apply, trade, balances, contradictions } = await bought();
    const { clientOrderId } = await leave(profileId, tradeId, { quantity: '9.97', leftBehind: '0.03' });
    await apply(sold(clientOrderId, '9.97', '100'));
    expect(await trade(profileId, tradeId)).toMatchObject({ state: 'closed' });
    expect(await balances(profileId)).toEqual(['10000', '0', '0', '-4', '9996']);
    expect(await contradictions(profileId)).toEqual([]);
  });

  it('is refused while the entry works, after the end, for another quantity and under a stale token', async () => {
    const { profileId, tradeId, leave, apply, enter, newProfile } = await bought();
    expect(await leave(profileId, tradeId, { quantity: '9' })).toMatchObject({ verdict: 'changed_since' });
    const other = await newProfile();
    const entering = await enter(other);
    expect(await leave(other, entering.tradeId, { quantity: '1' })).toMatchObject({ verdict: 'entry_working' });
    const { clientOrderId } = await leave(profileId, tradeId, { quantity: '10' });
    await apply(sold(clientOrderId, '10', '100'));
    expect(await leave(profileId, tradeId, { quantity: '10' })).toMatchObject({ verdict: 'trade_ended' });
  });
});

describe('a rebuild', () => {
  it('changes nothing where nothing differs, and mends a reservation that somebody altered (invariant 6)', async () => {
    const { admin, newProfile, enter, apply, balances, contradictions } = await setupLifecycle();
    const profileId = await newProfile();
    const { clientOrderId: id, tradeId } = await enter(profileId);
    await apply({ fills: [fillOf(id, 'f1', { quantity: d('3'), price: d('99.7') })] });
    const before = await balances(profileId);
    const rebuild = async (): Promise<unknown[]> =>
      (await admin.query<object>('select * from fn_lifecycle_rebuild($1, $2)', [profileId, 't'])).rows;
    expect(await rebuild()).toEqual([]);
    expect(await balances(profileId)).toEqual(before);
    await admin.query(`select * from fn_ledger_release($1, 'lost', $2, 'somebody', 100)`, [profileId, tradeId]);
    expect(await contradictions(profileId)).toHaveLength(1);
    expect(await rebuild()).toMatchObject([{ trade_id: tradeId }]);
    expect(await balances(profileId)).toEqual(before);
    expect(await rebuild()).toEqual([]);
  });
});
