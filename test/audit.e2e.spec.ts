import { describe, expect, it, vi } from 'vitest';
import { DEMONSTRATION_PROFILE } from '#libs/fleet';
import { expectProblem, itemsOf, makeProfile, NOBODY, startApi, type Answer } from './harness/api.js';
import { asSuperuser } from './harness/database.js';

describe('halts', () => {
  it('are made once, listed, lifted, and each step is on record', async () => {
    const { admin } = await startApi();
    const profileId = await makeProfile(admin, 'alice');
    const wanted = [
      { scope: 'global', reason: 'all of it' },
      { scope: 'venue', venue: 'paper', reason: 'wrong prices' },
      { scope: 'profile', profileId, reason: 'asked for' },
      { scope: 'symbol', venue: 'paper', profileId, symbol: 'BTC/USD', reason: 'delisted' },
    ];
    const made: Answer[] = [];
    for (const halt of wanted) made.push(await admin('POST', '/api/halts', halt));
    expect(made.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    expect(made[3]?.body).toEqual({
      id: expect.any(String),
      scope: 'symbol',
      venue: 'paper',
      profileId,
      symbol: 'btc/usd',
      reason: 'delisted',
      createdBy: 'admin',
      createdAt: expect.any(String),
    });
    const again = await admin('POST', '/api/halts', wanted[3]);
    expect([again.status, again.body]).toEqual([200, made[3]?.body]);
    expect((await admin('GET', '/api/halts')).body).toEqual({ items: made.map(({ body }) => body) });
    const page = await admin('GET', '/api/halts?limit=3');
    expect(page.body['next']).toBe(made[2]?.body['id']);
    expect((await admin('GET', `/api/halts?after=${page.body['next'] as string}`)).body).toEqual({
      items: [made[3]?.body],
    });

    const id = made[0]?.body['id'] as string;
    expect((await admin('DELETE', `/api/halts/${id}`)).status).toBe(204);
    for (const unknown of [id, NOBODY, 'seven']) {
      expectProblem(await admin('DELETE', `/api/halts/${unknown}`), { status: 404 });
    }
    expect(itemsOf(await admin('GET', '/api/halts'))).toHaveLength(3);
    for (const [halt, status] of [
      [{ scope: 'global' }, 400],
      [{ scope: 'global', reason: ' ' }, 400],
      [{ scope: 'all', reason: 'x' }, 400],
      [{ scope: 'global', venue: 'paper', reason: 'x' }, 400],
      [{ scope: 'symbol', reason: 'x' }, 400],
      [{ scope: 'venue', venue: 'paper', reason: 'x', until: 'noon' }, 400],
      [{ scope: 'profile', profileId: NOBODY, reason: 'x' }, 404],
    ] as const) {
      expectProblem(await admin('POST', '/api/halts', halt), { status });
    }
    const acts = itemsOf(await admin('GET', '/api/audit')).map(({ action, subject }) => [action, subject]);
    expect(acts).toEqual([
      ['profile.create', profileId],
      ...made.map(({ body }) => ['halt.create', body['id']]),
      ['halt.lift', id],
    ]);
  });
});

describe('the audit log', () => {
  it('says who did what, once, and nothing of what was refused', async () => {
    const { admin, tenant } = await startApi({ PAIRS_FILE: '' });
    const alice = await tenant('alice');
    const id = await makeProfile(alice, 'alice', '10');
    const path = `/api/profiles/${id}`;
    for (let round = 0; round < 2; round += 1)
      await alice('POST', `${path}/ledger/deposits`, { amount: '5.0', key: 'k' });
    await alice('POST', `${path}/ledger/withdrawals`, { amount: '500', key: 'l' });
    await admin('POST', `${path}/ledger/withdrawals`, { amount: '1', key: 'm' });
    await alice('PUT', `${path}/limits`, { openPositionsMax: 1 });
    const pair = { venue: 'paper', symbol: 'SOL/USD', strategy: { name: 'example' }, enabled: false };
    expect((await admin('PUT', '/api/config/pairs/SOL-USD', pair)).status).toBe(201);
    expect((await admin('PUT', '/api/config/pairs/SOL-USD', pair)).status).toBe(200);
    expect((await admin('DELETE', '/api/config/pairs/SOL-USD')).status).toBe(204);
    expect((await admin('DELETE', '/api/config/pairs/SOL-USD')).status).toBe(404);
    expect((await admin('POST', '/api/orchestrator/reload')).status).toBe(202);
    expect((await admin('POST', '/api/orchestrator/workers/BTC-USD/restart')).status).toBe(202);
    expect((await admin('POST', '/api/orchestrator/workers/XYZ/restart')).status).toBe(404);

    const records = itemsOf(await admin('GET', '/api/audit'));
    expect(records.map(({ actor, action, subject }) => [actor, action, subject])).toEqual([
      ['admin', 'profile.create', DEMONSTRATION_PROFILE],
      ['tenant:alice', 'profile.create', id],
      ['tenant:alice', 'ledger.deposit', id],
      ['admin', 'ledger.withdraw', id],
      ['tenant:alice', 'limits.put', id],
      ['admin', 'pair.put', 'SOL-USD'],
      ['admin', 'pair.put', 'SOL-USD'],
      ['admin', 'pair.delete', 'SOL-USD'],
      ['admin', 'pairs.reload', 'pairs'],
      ['admin', 'worker.restart', 'BTC-USD'],
    ]);
    expect(records[2]).toEqual({
      id: expect.any(Number),
      recordedAt: expect.stringMatching(/Z$/),
      actor: 'tenant:alice',
      action: 'ledger.deposit',
      profileId: id,
      subject: id,
      detail: { amount: '5', key: 'k', sequence: 2 },
    });
    const page = await admin('GET', `/api/audit?profileId=${id}&limit=3`);
    expect([itemsOf(page), page.body['next']]).toEqual([records.slice(1, 4), String(records[3]?.['id'])]);
    expect(itemsOf(await admin('GET', `/api/audit?profileId=${id}&after=${page.body['next'] as string}`))).toEqual([
      records[4],
    ]);
  });
});

describe('the watch over the ledger', () => {
  it('counts a ledger that was tampered with, in its health and its metrics', async () => {
    const { admin, address, databaseUrl, orchestrator } = await startApi({ LEDGER_VERIFY_INTERVAL_MS: '20' });
    const health = async () => (await (await fetch(`${address}/internal/health`)).json()) as Record<string, unknown>;
    const id = await makeProfile(admin, 'alice');
    expect(await health()).toMatchObject({ status: 'ok', capitalInvariantViolations: 0 });
    await asSuperuser(databaseUrl, `update capital_ledger set allocated_capital = 5000 where profile_id = '${id}'`);
    await vi.waitUntil(async () => (await health())['capitalInvariantViolations'] === 1, { timeout: 20_000 });
    expect(await (await fetch(`${address}/metrics`)).text()).toContain('\nflotilla_ledger_violations 1\n');
    const [halt] = itemsOf(await admin('GET', '/api/halts'));
    expect(halt).toMatchObject({ scope: 'profile', profileId: id, createdBy: 'watchdog' });
    expect(await orchestrator.stop()).toEqual({ code: 0, signal: null });
  });
});
