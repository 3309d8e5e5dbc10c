import { describe, expect, it, vi } from 'vitest';
import { expectProblem, itemsOf, type Caller } from './harness/api.js';
import { actsOn, goSilent, PATIENCE, RESTING, startTrading, tradeIdOf } from './harness/trading-api.js';

describe('a lost answer', () => {
  it('leaves an intent that is unknown and holds its capital, until the venue is asked again and proves it', async () => {
    const { enter, venue, admin, alice, path, ledger, whenTrade, trade, profileId } = await startTrading();
    await goSilent(venue, 'drop-response');
    const entered = await enter();
    expect([entered.status, entered.body]).toMatchObject([201, { outcome: 'unknown', reason: 'connection' }]);
    const tradeId = tradeIdOf(entered);
    expect(await ledger()).toMatchObject({ reservedForOrders: '5125', availableCapital: '94875' });
    const listed = await vi.waitUntil(async () => {
      const [intent] = itemsOf(await admin('GET', '/api/intents'));
      return intent !== undefined && (intent['evidence'] as unknown[]).length > 1 ? intent : false;
    }, PATIENCE);
    expect(listed).toMatchObject({
      ...{ profileId, tradeId, generation: null, venue: 'paper', symbol: 'BTC/USD', side: 'buy', quantity: '0.1' },
      ...{ clientOrderId: entered.body['clientOrderId'], state: 'unknown', ageMs: expect.any(Number) },
    });
    expect((listed['evidence'] as unknown[]).slice(0, 2)).toMatchObject([
      { asked: 'submit', answer: 'connection', at: expect.any(String) },
      { asked: 'lookup', answer: 'server-error' },
    ]);
    expect(await trade(tradeId)).toMatchObject({ state: 'unknown', intents: [{ state: 'unknown' }], orders: [] });
    expect((await enter()).body).toMatchObject({ outcome: 'unknown' });
    expect((await alice('POST', `${path}/trades/${tradeId}/exit`, {})).body).toMatchObject({
      ...{ outcome: 'skipped', reason: 'entry_unknown' },
    });

    await venue.control('DELETE', '/paper/faults');
    expect(await whenTrade(tradeId, 'open')).toMatchObject({ positionQuantity: '0.1' });
    expect((await admin('GET', '/api/intents')).body).toEqual({ items: [] });
    expect(await ledger()).toMatchObject({ reservedForOrders: '0', reservedForPositions: '5000' });
    expect(await venue.orders()).toHaveLength(1);
    expect((await enter()).body).toMatchObject({ outcome: 'submitted' });
  });

  it('is decided by an admin where the venue cannot tell: the capital comes back, and who decided is on record', async () => {
    const { enter, venue, admin, alice, path, ledger, trade, profileId } = await startTrading();
    await goSilent(venue, 'drop-request');
    const tradeId = tradeIdOf(await enter());
    const reject = (caller: Caller) => caller('POST', `${path}/trades/${tradeId}/reject`, { reason: 'asked the desk' });
    expectProblem(await reject(alice), { status: 403, code: 'admin_only' });
    expect(await trade(tradeId)).toMatchObject({ state: 'unknown' });
    const rejected = await vi.waitUntil(async () => {
      const answer = await reject(admin);
      return answer.body['code'] === 'changed_since' ? false : answer;
    }, PATIENCE);
    expect([rejected.status, rejected.body]).toMatchObject([200, { tradeId, resolution: 'rejected' }]);
    expect(await trade(tradeId)).toMatchObject({ state: 'rejected', reason: 'operator' });
    expect(await ledger()).toMatchObject({ reservedForOrders: '0', availableCapital: '100000' });
    expect((await admin('GET', '/api/intents')).body).toEqual({ items: [] });
    expect(await actsOn(admin, 'trade.reject')).toMatchObject([
      { actor: 'admin', profileId, subject: tradeId, detail: { reason: 'asked the desk', lookup: 'unknown' } },
    ]);
    expectProblem(await reject(admin), { status: 409, code: 'trade_decided' });
    expect(await actsOn(admin, 'trade.reject')).toHaveLength(1);
  });

  it('is not decided by anybody where the venue has the order after all', async () => {
    const { enter, venue, admin, path, trade, ledger } = await startTrading({ ORDER_SYNC_INTERVAL_MS: '3600000' });
    await goSilent(venue, 'drop-response');
    const tradeId = tradeIdOf(await enter(RESTING));
    await venue.control('DELETE', '/paper/faults');
    const refused = await admin('POST', `${path}/trades/${tradeId}/reject`, { reason: 'I am sure' });
    expectProblem(refused, { status: 409, code: 'order_found' });
    expect(await trade(tradeId)).toMatchObject({ state: 'entering', orders: [{ status: 'open' }] });
    expect(await ledger()).toMatchObject({ reservedForOrders: '4020' });
    expect(await actsOn(admin, 'trade.reject')).toEqual([]);
  });

  it('whose order turns up after it was given up is disputed, until an admin settles it', async () => {
    const { enter, venue, admin, alice, path, whenTrade, trade } = await startTrading({
      ...{ SUBMIT_WINDOW_MS: '10', RECONCILIATION_SETTLE_MS: '0' },
    });
    await goSilent(venue, 'drop-response');
    const tradeId = tradeIdOf(await enter(RESTING));
    await vi.waitUntil(async () => {
      const answer = await admin('POST', `${path}/trades/${tradeId}/reject`, { reason: 'asked the desk' });
      return answer.status === 200;
    }, PATIENCE);
    await venue.control('DELETE', '/paper/faults');
    expect((await admin('POST', '/api/reconciliation/runs', {})).body).toMatchObject({ state: 'corrected' });
    expect(await trade(tradeId)).toMatchObject({ state: 'disputed' });

    const settle = (caller: Caller, reason = 'it may stay') =>
      caller('POST', `${path}/trades/${tradeId}/settle`, { reason });
    expectProblem(await settle(alice), { status: 403, code: 'admin_only' });
    expect((await settle(admin, ' ')).status).toBe(400);
    expect(await trade(tradeId)).toMatchObject({ state: 'disputed' });
    const settled = await settle(admin);
    expect([settled.status, settled.body]).toMatchObject([200, { tradeId, state: 'entering' }]);
    expectProblem(await settle(admin), { status: 409, code: 'not_disputed' });
    expect(await actsOn(admin, 'trade.settle')).toMatchObject([{ actor: 'admin', subject: tradeId }]);
    await alice('POST', `${path}/trades/${tradeId}/cancel`);
    await whenTrade(tradeId, 'cancelled');
  });

  it('of an exit is decided like that of an entry, and the trade is open again', async () => {
    const { enter, venue, admin, alice, path, whenTrade } = await startTrading();
    const tradeId = tradeIdOf(await enter());
    await whenTrade(tradeId, 'open');
    await goSilent(venue, 'drop-request');
    const exit = () => alice('POST', `${path}/trades/${tradeId}/exit`, { type: 'limit', limitPrice: '60000' });
    expect((await exit()).body).toMatchObject({ outcome: 'unknown' });
    expect(itemsOf(await admin('GET', '/api/intents'))).toMatchObject([{ tradeId, generation: 0, side: 'sell' }]);
    await vi.waitUntil(async () => {
      const answer = await admin('POST', `${path}/trades/${tradeId}/reject`, { reason: 'asked the desk' });
      return answer.status === 200;
    }, PATIENCE);
    await venue.control('DELETE', '/paper/faults');
    expect(await whenTrade(tradeId, 'open')).toMatchObject({ positionQuantity: '0.1' });
    expect((await exit()).body).toMatchObject({ outcome: 'submitted' });
    expect((await venue.orders()).map(({ side }) => side)).toEqual(['buy', 'sell']);
  });
});
