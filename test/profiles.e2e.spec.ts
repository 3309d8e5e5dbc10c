import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { expectProblem, itemsOf, makeProfile, startApi } from './harness/api.js';
import { asSuperuser } from './harness/database.js';

describe('a profile', () => {
  it('is made with ledger, opening deposit and limits, and its capital comes and goes', async () => {
    const { admin } = await startApi();
    const made = await admin('POST', '/api/profiles', {
      name: 'Alice, main account',
      ownerId: 'alice',
      allocatedCapital: '1000.50',
      limits: { orderNotionalMax: '250.0', openPositionsMax: 3 },
    });
    expect([made.status, made.body]).toEqual([
      201,
      { id: expect.any(String), name: 'Alice, main account', ownerId: 'alice', createdAt: expect.any(String) },
    ]);
    const path = `/api/profiles/${made.body['id'] as string}`;
    expect((await admin('GET', path)).body).toEqual(made.body);
    expect((await admin('GET', '/api/profiles')).body).toEqual({ items: [made.body] });
    expect((await admin('GET', `${path}/limits`)).body).toEqual({
      orderNotionalMax: '250',
      openPositionsMax: 3,
      dailyLossMax: null,
    });
    const ledger = {
      profileId: made.body['id'],
      allocatedCapital: '1000.5',
      reservedForOrders: '0',
      reservedForPositions: '0',
      realizedPnl: '0',
      availableCapital: '1000.5',
      invariant: {
        formula: 'availableCapital = allocatedCapital - reservedForOrders - reservedForPositions + realizedPnl',
        computed: '1000.5',
        holds: true,
        breachedAt: null,
      },
    };
    expect((await admin('GET', `${path}/ledger`)).body).toEqual(ledger);

    const deposit = { amount: '0.000000000000000001', key: 'bank-1' };
    const first = await admin('POST', `${path}/ledger/deposits`, deposit);
    expect([first.status, first.body]).toEqual([
      201,
      {
        outcome: 'applied',
        sequence: 2,
        ledger: {
          ...ledger,
          allocatedCapital: '1000.500000000000000001',
          availableCapital: '1000.500000000000000001',
          invariant: { ...ledger.invariant, computed: '1000.500000000000000001' },
        },
      },
    ]);
    const again = await admin('POST', `${path}/ledger/deposits`, deposit);
    expect([again.status, again.body]).toEqual([200, { ...first.body, outcome: 'duplicate' }]);

    const withdrawal = await admin('POST', `${path}/ledger/withdrawals`, { amount: '1000', key: 'bank-2' });
    expect([withdrawal.status, withdrawal.body]).toMatchObject([201, { sequence: 3, outcome: 'applied' }]);
    expect((await admin('POST', `${path}/ledger/withdrawals`, { amount: '1000', key: 'bank-2' })).status).toBe(200);

    const entries = itemsOf(await admin('GET', `${path}/ledger/entries`));
    expect(
      entries.map(({ sequence, command, source, target, amount, key }) => [
        sequence,
        command,
        source,
        target,
        amount,
        key,
      ]),
    ).toEqual([
      [1, 'deposit', 'outside', 'available', '1000.5', 'opening'],
      [2, 'deposit', 'outside', 'available', '0.000000000000000001', 'bank-1'],
      [3, 'withdraw', 'available', 'outside', '1000', 'bank-2'],
    ]);
    expect(entries[0]).toMatchObject({
      actor: 'admin',
      part: 0,
      tradeId: null,
      happenedAt: expect.stringMatching(/Z$/),
    });
    const page = await admin('GET', `${path}/ledger/entries?limit=2`);
    expect([itemsOf(page), page.body['next']]).toEqual([entries.slice(0, 2), '2']);
    expect((await admin('GET', `${path}/ledger/entries?limit=2&after=2`)).body).toEqual({ items: entries.slice(2) });

    const put = await admin('PUT', `${path}/limits`, { dailyLossMax: '10', openPositionsMax: null });
    expect(put.body).toEqual({ orderNotionalMax: null, openPositionsMax: null, dailyLossMax: '10' });
    expect((await admin('PUT', `${path}/limits`, put.body)).body).toEqual(put.body);
  });

  it('with an id of the caller’s choice is made once, however often and however it is asked for', async () => {
    const { admin, databaseUrl } = await startApi();
    const id = randomUUID();
    const body = { id, name: 'n', ownerId: 'alice', allocatedCapital: '10', limits: { openPositionsMax: 1 } };
    const answers = await Promise.all([1, 2, 3].map(() => admin('POST', '/api/profiles', body)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 201]);
    await admin('PUT', `/api/profiles/${id}/limits`, {});
    await admin('POST', `/api/profiles/${id}/ledger/deposits`, { amount: '5', key: 'k' });
    const repeat = await admin('POST', '/api/profiles', { ...body, id: id.toUpperCase(), allocatedCapital: '10.0' });
    expect([repeat.status, repeat.body]).toEqual([200, answers[0]?.body]);
    for (const other of [
      { name: 'm' },
      { ownerId: 'bob' },
      { allocatedCapital: '11' },
      { allocatedCapital: '0' },
      { limits: {} },
    ]) {
      expectProblem(await admin('POST', '/api/profiles', { ...body, ...other }), {
        status: 409,
        code: 'profile_id_taken',
      });
    }
    const { rows } = await asSuperuser(databaseUrl, 'select allocated_capital::text from capital_ledger');
    expect(rows).toEqual([{ allocated_capital: '15' }]);
  });

  it('made with nothing has no entry, and one that was made with nothing is not filled by asking again', async () => {
    const { admin } = await startApi();
    const body = { id: randomUUID(), name: 'n', ownerId: 'alice', allocatedCapital: '0.00' };
    expect((await admin('POST', '/api/profiles', body)).status).toBe(201);
    expect((await admin('POST', '/api/profiles', { ...body, allocatedCapital: '7' })).status).toBe(409);
    expect((await admin('GET', `/api/profiles/${body.id}/ledger`)).body).toMatchObject({ availableCapital: '0' });
    expect((await admin('GET', `/api/profiles/${body.id}/ledger/entries`)).body).toEqual({ items: [] });
  });

  it('whose opening deposit is refused leaves nothing behind', async () => {
    const { admin } = await startApi();
    const body = { name: 'n', ownerId: 'alice', allocatedCapital: '1'.repeat(40) };
    expectProblem(await admin('POST', '/api/profiles', body), { status: 422, code: 'amount_too_large' });
    expect((await admin('GET', '/api/profiles')).body).toEqual({ items: [] });
    expect((await admin('GET', '/api/audit')).body).toEqual({ items: [] });
  });
});

describe('what makes no sense', () => {
  it('is refused with a problem that names it, and changes nothing', async () => {
    const { admin } = await startApi();
    const id = await makeProfile(admin, 'alice', '100');
    const path = `/api/profiles/${id}`;
    const before = (await admin('GET', `${path}/ledger`)).body;

    const amounts: [unknown, number, string?][] = [
      ['-1', 400],
      ['+1', 400],
      ['NaN', 400],
      ['Infinity', 400],
      ['1e3', 400],
      ['1E+3', 400],
      ['0x10', 400],
      ['1,5', 400],
      ['1.', 400],
      ['.5', 400],
      [' 1', 400],
      ['１', 400],
      ['', 400],
      ['1'.repeat(90), 400],
      [5, 400],
      [null, 400],
      [{}, 400],
      ['0', 422, 'amount_not_positive'],
      ['0.000', 422, 'amount_not_positive'],
      ['1'.repeat(40), 422, 'amount_too_large'],
      ['100000000000000000000', 422, 'amount_too_large'],
      ['0.0000000000000000001', 422, 'amount_too_precise'],
    ];
    for (const way of ['deposits', 'withdrawals']) {
      for (const [amount, status, code] of amounts) {
        const answer = await admin('POST', `${path}/ledger/${way}`, { amount, key: 'k' });
        expect([amount, answer.status]).toEqual([amount, status]);
        expectProblem(answer, { status, ...(code ? { code } : { errors: [{ path: 'amount' }] }) });
      }
      expectProblem(await admin('POST', `${path}/ledger/${way}`, { amount: '1', key: 'k', note: 'x' }), {
        status: 400,
        errors: [{ message: expect.stringContaining('note') }],
      });
      for (const key of ['', 'with blank', 'ü', 'x'.repeat(101), 7]) {
        expectProblem(await admin('POST', `${path}/ledger/${way}`, { amount: '1', key }), {
          status: 400,
          errors: [{ path: 'key' }],
        });
      }
      expectProblem(await admin('POST', `${path}/ledger/${way}`, '{"amount":'), { status: 400 });
    }
    expectProblem(await admin('POST', `${path}/ledger/withdrawals`, { amount: '100.01', key: 'k' }), {
      status: 409,
      code: 'insufficient_capital',
      detail: expect.stringContaining('100 left'),
    });
    for (const body of [
      { amount: '101', key: 'opening' },
      { amount: '100', key: 'opening' },
    ]) {
      const way = body.amount === '101' ? 'deposits' : 'withdrawals';
      expectProblem(await admin('POST', `${path}/ledger/${way}`, body), { status: 409, code: 'key_reused' });
    }

    const profile = { name: 'n', ownerId: 'alice', allocatedCapital: '1' };
    for (const change of [
      { name: '' },
      { name: '  ' },
      { name: 'a\0b' },
      { name: 'x'.repeat(101) },
      { ownerId: '' },
      { ownerId: 'a\0b' },
      { ownerId: 'x'.repeat(201) },
      { allocatedCapital: 1 },
      { allocatedCapital: '-1' },
      { allocatedCapital: undefined },
      { id: 'seven' },
      { admin: true },
      { limits: { orderNotionalMax: '0' } },
      { limits: { orderNotionalMax: 5 } },
      { limits: { orderNotionalMax: '1e5' } },
      { limits: { dailyLossMax: '1'.repeat(40) } },
      { limits: { dailyLossMax: '0.0000000000000000001' } },
      { limits: { openPositionsMax: -1 } },
      { limits: { openPositionsMax: 1.5 } },
      { limits: { openPositionsMax: 2 ** 31 } },
      { limits: { openPositionMax: 1 } },
    ]) {
      const answer = await admin('POST', '/api/profiles', { ...profile, ...change });
      expect([change, answer.status]).toEqual([change, 400]);
      expectProblem(answer, { status: 400, errors: [expect.anything()] });
    }
    for (const query of ['limit=0', 'limit=501', 'limit=x', 'after=x', 'offset=3', 'limit=1&limit=2']) {
      for (const list of ['/api/profiles', `${path}/ledger/entries`, '/api/audit', '/api/halts']) {
        expect([list, query, (await admin('GET', `${list}?${query}`)).status]).toEqual([list, query, 400]);
      }
    }

    expect((await admin('GET', `${path}/ledger`)).body).toEqual(before);
    expect(itemsOf(await admin('GET', '/api/profiles'))).toHaveLength(1);
    expect(itemsOf(await admin('GET', '/api/audit'))).toHaveLength(1);
  });
});

describe('the description of the API', () => {
  it('names every route, and the codes of every refusal', async () => {
    const { address } = await startApi();
    const text = await (await fetch(`${address}/docs-json`)).text();
    const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, unknown>> };
    const routes = Object.entries(paths).flatMap(([path, verbs]) =>
      Object.keys(verbs).map((verb) => `${verb} ${path}`),
    );
    expect(routes).toEqual(
      expect.arrayContaining([
        'post /api/profiles',
        'get /api/profiles',
        'get /api/profiles/{id}',
        'get /api/profiles/{id}/limits',
        'put /api/profiles/{id}/limits',
        'get /api/profiles/{id}/ledger',
        'get /api/profiles/{id}/ledger/entries',
        'post /api/profiles/{id}/ledger/deposits',
        'post /api/profiles/{id}/ledger/withdrawals',
        'get /api/halts',
        'post /api/halts',
        'delete /api/halts/{id}',
        'get /api/audit',
      ]),
    );
    const deposits = JSON.stringify(paths['/api/profiles/{id}/ledger/withdrawals']);
    for (const code of [
      'unknown_profile',
      'key_reused',
      'insufficient_capital',
      'amount_not_positive',
      'amount_too_large',
      'amount_too_precise',
    ]) {
      expect(deposits).toContain(code);
    }
    expect(JSON.stringify(paths['/api/profiles'])).toContain('allocatedCapital');
    expect(JSON.stringify(paths['/api/profiles/{id}/ledger/entries'])).toContain('"after"');
  });
});
