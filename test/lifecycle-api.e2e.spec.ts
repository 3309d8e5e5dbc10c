import { describe, expect, it, vi } from 'vitest';
import { expectProblem, itemsOf, makeProfile, NOBODY, type Answer } from './harness/api.js';
import { actsOn, BUY, handsOf, PATIENCE, RESTING, setPrice, startTrading, tradeIdOf } from './harness/trading-api.js';

describe('a signal', () => {
  it('becomes a trade: capital is reserved, the position is opened and left, and what it earned is booked', async () => {
    const { enter, path, alice, admin, ledger, trade, whenTrade, venue, profileId } = await startTrading();
    const entered = await enter();
    expect([entered.status, entered.body]).toEqual([
      201,
      { tradeId: expect.any(String), clientOrderId: expect.any(String), outcome: 'submitted' },
    ]);
    const tradeId = tradeIdOf(entered);
    expect(await whenTrade(tradeId, 'open')).toMatchObject({
      ...{ venue: 'paper', symbol: 'BTC/USD', side: 'long', strategy: 'manual', signalId: 'one' },
      ...{ quantity: '0.1', positionQuantity: '0.1', realizedPnl: '0', endedAt: null },
      intents: [{ generation: null, actor: 'tenant:alice', state: 'confirmed', type: 'market', timeInForce: 'gtc' }],
      orders: [{ purpose: 'entry', status: 'filled', clientOrderId: entered.body['clientOrderId'] }],
      fills: [{ quantity: '0.1', price: '50000' }],
    });
    expect(await ledger()).toMatchObject({
      ...{ reservedForOrders: '0', reservedForPositions: '5000', availableCapital: '95000', realizedPnl: '0' },
      invariant: { holds: true },
    });
    expect(itemsOf(await alice('GET', `${path}/positions`))).toMatchObject([
      { tradeId, quantity: '0.1', entryNotional: '5000', closedAt: null },
    ]);

    await setPrice(venue, '51000');
    const left = await alice('POST', `${path}/trades/${tradeId}/exit`);
    expect([left.status, left.body]).toMatchObject([200, { tradeId, outcome: 'submitted' }]);
    expect(await whenTrade(tradeId, 'closed')).toMatchObject({ positionQuantity: '0', realizedPnl: '100' });
    expect(await ledger()).toMatchObject({
      ...{ reservedForOrders: '0', reservedForPositions: '0', realizedPnl: '100', availableCapital: '100100' },
      invariant: { holds: true },
    });
    expect((await venue.orders()).map(({ side, quantity, status }) => [side, quantity, status])).toEqual([
      ['buy', '0.1', 'filled'],
      ['sell', '0.1', 'filled'],
    ]);
    expect(itemsOf(await alice('GET', `${path}/history`)).map((event) => event['tradeId'])).toContain(tradeId);
    expect((await trade(tradeId))['endedAt']).toEqual(expect.stringMatching(/Z$/));

    expect(await actsOn(admin, 'trade.enter')).toMatchObject([
      { actor: 'tenant:alice', profileId, subject: tradeId, detail: { signalId: 'one', quantity: '0.1' } },
    ]);
    expect(await actsOn(admin, 'trade.exit')).toMatchObject([
      { actor: 'tenant:alice', profileId, subject: tradeId, detail: { type: 'market' } },
    ]);
    const again = await alice('POST', `${path}/trades/${tradeId}/exit`, {});
    expect([again.status, again.body]).toMatchObject([200, { outcome: 'skipped', reason: 'trade_ended' }]);
  });

  it('with a limit rests at the venue, and its capital comes back when it is cancelled', async () => {
    const { enter, path, alice, admin, ledger, venue } = await startTrading();
    const tradeId = tradeIdOf(await enter(RESTING));
    expect(await ledger()).toMatchObject({ reservedForOrders: '4020', availableCapital: '95980' });
    const cancelled = await alice('POST', `${path}/trades/${tradeId}/cancel`);
    expect([cancelled.status, cancelled.body]).toMatchObject([
      200,
      { tradeId, state: 'cancelled', orders: [{ status: 'cancelled', isCancelRequested: true }] },
    ]);
    expect(await ledger()).toMatchObject({ reservedForOrders: '0', availableCapital: '100000' });
    expect(await venue.orders()).toMatchObject([{ status: 'canceled' }]);
    expect(await actsOn(admin, 'trade.cancel')).toMatchObject([{ actor: 'tenant:alice', subject: tradeId }]);
  });

  it('may say how much money to spend and how long to wait, and is then traded in whole steps', async () => {
    const { enter, venue, whenTrade } = await startTrading();
    const entered = await enter({ quantity: undefined, notional: '1000', timeInForce: 'ioc' });
    expect(entered.status).toBe(201);
    expect(await whenTrade(tradeIdOf(entered), 'open')).toMatchObject({
      ...{ quantity: '0.02', intents: [{ timeInForce: 'ioc' }] },
    });
    expect(await venue.orders()).toMatchObject([{ quantity: '0.02', timeInForce: 'ioc' }]);
  });

  it('that comes again, one after the other or at once, is one trade and one order', async () => {
    const { enter, venue, admin } = await startTrading();
    const together = await Promise.all([1, 2, 3, 4].map(() => enter(RESTING)));
    expect(together.map(({ status }) => status).sort()).toEqual([200, 200, 200, 201]);
    const again = await enter({ ...RESTING, quantity: '0.100', timeInForce: 'gtc' });
    expect(again.status).toBe(200);
    for (const { body } of [...together, again]) expect(body).toEqual(again.body);
    expect(again.body).toMatchObject({ outcome: 'submitted' });
    expect((await venue.orders()).map(({ clientOrderId }) => clientOrderId)).toEqual([again.body['clientOrderId']]);
    expect(await actsOn(admin, 'trade.enter')).toHaveLength(1);
  });

  it('whose id was used for something else is refused, whatever of it differs', async () => {
    const { enter, venue, alice } = await startTrading();
    const other = handsOf(alice, await makeProfile(alice, 'alice', '100000'));
    await enter(RESTING);
    for (const change of [
      { symbol: 'ETH/USD' },
      { side: 'sell' },
      { quantity: '0.2' },
      { quantity: undefined, notional: '4000' },
      { limitPrice: '40001' },
      { type: 'market', limitPrice: undefined },
      { timeInForce: 'day' },
    ]) {
      expectProblem(await enter({ ...RESTING, ...change }), { status: 409, code: 'signal_reused' });
    }
    expect(await venue.orders()).toHaveLength(1);
    expect((await other.enter({ ...RESTING, quantity: '0.2' })).status).toBe(201);
  });

  it('that makes no sense is refused with a problem that names the field, and reaches no venue', async () => {
    const { enter, path, alice, admin, venue, ledger } = await startTrading();
    const faulty: [Record<string, unknown>, string][] = [
      [{ venue: undefined }, 'venue'],
      [{ symbol: '' }, 'symbol'],
      [{ symbol: 'BTC\u0000USD' }, 'symbol'],
      [{ side: 'long' }, 'side'],
      [{ quantity: 0.1 }, 'quantity'],
      [{ quantity: '0' }, 'quantity'],
      [{ quantity: '-1' }, 'quantity'],
      [{ quantity: '1e3' }, 'quantity'],
      [{ quantity: `0.${'0'.repeat(18)}1` }, 'quantity'],
      [{ quantity: undefined }, 'quantity'],
      [{ notional: '5000' }, 'quantity'],
      [{ type: 'stop' }, 'type'],
      [{ type: 'limit' }, 'limitPrice'],
      [{ limitPrice: '40000' }, 'limitPrice'],
      [{ type: 'limit', limitPrice: '0' }, 'limitPrice'],
      [{ timeInForce: 'forever' }, 'timeInForce'],
      [{ signalId: '' }, 'signalId'],
      [{ signalId: 'two words' }, 'signalId'],
      [{ signalId: 'x'.repeat(101) }, 'signalId'],
    ];
    for (const [change, field] of faulty) {
      const answer = await enter(change);
      expectProblem(answer, { status: 400 });
      expect([change, answer.body['errors']]).toEqual([
        change,
        expect.arrayContaining([expect.objectContaining({ path: field })]),
      ]);
    }
    expectProblem(await enter({ leverage: 10 }), { status: 400 });
    expectProblem(await alice('POST', `${path}/signals`, '{'), { status: 400 });
    expectProblem(await enter({ venue: 'nowhere' }), { status: 422, code: 'unknown_venue' });

    const tradeId = tradeIdOf(await enter(RESTING));
    for (const body of [{ type: 'limit' }, { limitPrice: '1' }, { type: 'stop' }, { quantity: '0.05' }]) {
      expectProblem(await alice('POST', `${path}/trades/${tradeId}/exit`, body), { status: 400 });
    }
    for (const body of [{}, { reason: ' ' }, { reason: 7 }]) {
      expectProblem(await admin('POST', `${path}/trades/${tradeId}/reject`, body), { status: 400 });
    }
    expect(await venue.orders()).toHaveLength(1);
    expect(await actsOn(admin, 'trade.enter')).toHaveLength(1);
    expect(await ledger()).toMatchObject({ reservedForOrders: '4020' });
  });

  it('for which the capital is not there is skipped with the reason, and may be tried again when it is', async () => {
    const { enter, venue, ledger, alice, path, admin } = await startTrading();
    const skipped = await enter({ quantity: '3' });
    expect([skipped.status, skipped.body]).toMatchObject([
      200,
      { outcome: 'skipped', reason: 'insufficient_capital', detail: expect.any(String) },
    ]);
    expect(await venue.orders()).toEqual([]);
    expect(await ledger()).toMatchObject({ availableCapital: '100000' });
    expect((await alice('GET', `${path}/trades`)).body).toEqual({ items: [] });
    await alice('POST', `${path}/ledger/deposits`, { amount: '100000', key: 'more' });
    expect((await enter({ quantity: '3' })).status).toBe(201);
    expect(await actsOn(admin, 'trade.enter')).toHaveLength(1);
  });

  it('that the venue refuses is rejected, and its capital is given back', async () => {
    const { enter, venue, ledger } = await startTrading();
    await venue.control('POST', '/paper/balances', { asset: 'USD', free: '10' });
    const rejected = await enter(RESTING);
    expect([rejected.status, rejected.body]).toMatchObject([
      201,
      { outcome: 'rejected', reason: 'insufficient-funds' },
    ]);
    expect(await ledger()).toMatchObject({ reservedForOrders: '0', availableCapital: '100000' });
    await venue.control('POST', '/paper/balances', { asset: 'USD', free: '1000000' });
    expect([(await enter(RESTING)).status, (await enter(RESTING)).body['outcome']]).toEqual([200, 'rejected']);
    expect(await venue.orders()).toEqual([]);
  });
});

describe('lists', () => {
  it('come in pages, each of which leads to the next', async () => {
    const { alice, path, enter } = await startTrading();
    for (const symbol of ['BTC/USD', 'ETH/USD', 'SOL/USD']) {
      const entered = await enter({ symbol, signalId: symbol, quantity: '1', type: 'limit', limitPrice: '20' });
      expect(entered.status).toBe(201);
    }
    const filled = await enter({ symbol: 'LTC/USD', signalId: 'filled', quantity: '1' });
    await vi.waitUntil(async () => itemsOf(await alice('GET', `${path}/positions`)).length === 1, PATIENCE);
    for (const list of ['trades', 'orders', 'history']) {
      const whole = itemsOf(await alice('GET', `${path}/${list}`));
      expect(whole.length).toBeGreaterThanOrEqual(4);
      const paged: unknown[] = [];
      for (let after = ''; ;) {
        const { body } = await alice('GET', `${path}/${list}?limit=1${after && `&after=${after}`}`);
        paged.push(...(body['items'] as unknown[]));
        if (body['next'] === undefined) break;
        after = body['next'] as string;
      }
      expect(paged).toEqual(whole);
    }
    expect(itemsOf(await alice('GET', `${path}/trades`)).map(({ symbol }) => symbol)).toEqual([
      ...['LTC/USD', 'SOL/USD', 'ETH/USD', 'BTC/USD'],
    ]);
    const positions = `${path}/positions?after=${tradeIdOf(filled)}`;
    expect((await alice('GET', positions)).body).toEqual({ items: [] });
    for (const bad of ['trades?after=x', 'orders?after=x', 'positions?after=x', 'history?after=x', 'orders?limit=0']) {
      expectProblem(await alice('GET', `${path}/${bad}`), { status: 400 });
    }
  });
});

describe('a tenant', () => {
  it('reaches no trade of another, and cannot tell it from one that does not exist', async () => {
    const { enter, tenant, profileId, venue, admin, ledger } = await startTrading();
    const tradeId = tradeIdOf(await enter(RESTING));
    const bob = await tenant('bob');
    const own = await makeProfile(bob, 'bob');
    const routes: [string, string, unknown?][] = [
      ['POST', '/signals', { ...BUY, signalId: 'two', symbol: 'ETH/USD' }],
      ['POST', '/signals', RESTING],
      ['POST', '/signals', { ...BUY, venue: 'nowhere' }],
      ['GET', '/trades'],
      ['GET', '/orders'],
      ['GET', '/positions'],
      ['GET', '/history'],
      ['GET', `/trades/${tradeId}`],
      ['POST', `/trades/${tradeId}/exit`, {}],
      ['POST', `/trades/${tradeId}/cancel`],
      ['POST', `/trades/${tradeId}/reject`, { reason: 'mine now' }],
    ];
    const anonymous = ({ status, body }: Answer, id: string): string =>
      JSON.stringify({ status, body: { ...body, requestId: '' } }).replaceAll(id, 'ID');
    for (const [method, route, body] of routes) {
      const foreign = await bob(method, `/api/profiles/${profileId}${route}`, body);
      expectProblem(foreign, { status: 404, code: 'unknown_profile' });
      const nobodys = await bob(method, `/api/profiles/${NOBODY}${route}`, body);
      expect(anonymous(foreign, profileId)).toBe(anonymous(nobodys, NOBODY));
    }
    for (const [method, verb, body] of [
      ['GET', ''],
      ['POST', '/exit', {}],
      ['POST', '/cancel'],
      ['POST', '/reject', { reason: 'r' }],
    ] as const) {
      for (const id of [tradeId, NOBODY, 'seven']) {
        const answer = await bob(method, `/api/profiles/${own}/trades/${id}${verb}`, body);
        expectProblem(answer, { status: 404, code: 'unknown_trade' });
      }
    }
    expect((await bob('GET', '/api/intents')).status).toBe(403);
    expect(await venue.orders()).toMatchObject([{ status: 'new' }]);
    expect(await ledger()).toMatchObject({ reservedForOrders: '4020' });
    const acts = itemsOf(await admin('GET', '/api/audit')).map(({ actor, action }) => [actor, action]);
    expect(acts.filter(([actor]) => actor === 'tenant:bob')).toEqual([['tenant:bob', 'profile.create']]);
  });
});
