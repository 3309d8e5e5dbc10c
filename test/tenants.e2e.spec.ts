import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectProblem, itemsOf, makeProfile, NOBODY, startApi, tokenFor, type Answer } from './harness/api.js';
import { startApp, temporaryFolder } from './harness/process.js';

/** Two tenants with a profile each. */
async function withTwoTenants() {
  const api = await startApi();
  const [alice, bob] = [await api.tenant('alice'), await api.tenant('bob')];
  const profiles = { alice: await makeProfile(alice, 'alice'), bob: await makeProfile(bob, 'bob', '50') };
  return { ...api, alice, bob, profiles };
}

describe('a tenant', () => {
  it('does to its own profiles what an admin can', async () => {
    const { alice, bob, admin, profiles } = await withTwoTenants();
    const path = `/api/profiles/${profiles.alice}`;
    expect(itemsOf(await alice('GET', '/api/profiles')).map(({ id }) => id)).toEqual([profiles.alice]);
    expect(itemsOf(await bob('GET', '/api/profiles')).map(({ id }) => id)).toEqual([profiles.bob]);
    expect(itemsOf(await admin('GET', '/api/profiles')).map(({ id }) => id)).toEqual([profiles.alice, profiles.bob]);
    const first = await admin('GET', '/api/profiles?limit=1');
    expect(first.body['next']).toBe(profiles.alice);
    expect((await admin('GET', `/api/profiles?limit=1&after=${profiles.alice}`)).body).toMatchObject({
      items: [{ id: profiles.bob }],
    });
    expect((await alice('GET', path)).status).toBe(200);
    expect((await alice('PUT', `${path}/limits`, { openPositionsMax: 2 })).status).toBe(200);
    expect((await alice('GET', `${path}/limits`)).body).toMatchObject({ openPositionsMax: 2 });
    expect((await alice('POST', `${path}/ledger/deposits`, { amount: '5', key: 'k' })).status).toBe(201);
    expect((await alice('POST', `${path}/ledger/withdrawals`, { amount: '5', key: 'l' })).status).toBe(201);
    expect((await alice('GET', `${path}/ledger`)).body).toMatchObject({ availableCapital: '1000' });
    const actors = itemsOf(await alice('GET', `${path}/ledger/entries`)).map(({ actor }) => actor);
    expect(actors).toEqual(['tenant:alice', 'tenant:alice', 'tenant:alice']);
  });

  it('cannot tell a profile of another from one that does not exist', async () => {
    const { alice, admin, profiles } = await withTwoTenants();
    const routes: [string, string, unknown?][] = [
      ['GET', ''],
      ['GET', '/limits'],
      ['PUT', '/limits', { openPositionsMax: 1 }],
      ['GET', '/ledger'],
      ['GET', '/ledger/entries'],
      ['POST', '/ledger/deposits', { amount: '5', key: 'k' }],
      ['POST', '/ledger/deposits', { amount: '0', key: 'k' }],
      ['POST', '/ledger/deposits', { amount: '50', key: 'opening' }],
      ['POST', '/ledger/withdrawals', { amount: '5', key: 'k' }],
      ['POST', '/ledger/withdrawals', { amount: '5000', key: 'k' }],
    ];
    const anonymous = ({ status, body }: Answer, id: string): string =>
      JSON.stringify({ status, body: { ...body, requestId: '' } }).replaceAll(id, 'ID');
    for (const [method, path, body] of routes) {
      const foreign = await alice(method, `/api/profiles/${profiles.bob}${path}`, body);
      expectProblem(foreign, { status: 404, code: 'unknown_profile' });
      expect(anonymous(foreign, profiles.bob)).toBe(
        anonymous(await alice(method, `/api/profiles/${NOBODY}${path}`, body), NOBODY),
      );
      for (const caller of [alice, admin]) {
        expect((await caller(method, `/api/profiles/seven${path}`, body)).status).toBe(404);
      }
      expect((await admin(method, `/api/profiles/${NOBODY}${path}`, body)).status).toBe(404);
    }
    expect((await admin('GET', `/api/profiles/${profiles.bob}/ledger`)).body).toMatchObject({ availableCapital: '50' });
    expect((await admin('GET', `/api/profiles/${profiles.bob}/limits`)).body).toMatchObject({ openPositionsMax: null });

    const forBob = { name: 'n', ownerId: 'bob', allocatedCapital: '0' };
    expectProblem(await alice('POST', '/api/profiles', forBob), { status: 403, code: 'foreign_owner' });
    const withBobsId = { id: profiles.bob, name: 'n', ownerId: 'alice', allocatedCapital: '0' };
    expectProblem(await alice('POST', '/api/profiles', withBobsId), { status: 409, code: 'profile_id_taken' });
    expect(itemsOf(await admin('GET', '/api/profiles'))).toHaveLength(2);
  });

  it('is kept from everything that is the admin’s', async () => {
    const { admin, tenant, withToken, address } = await startApi();
    const alice = await tenant('alice');
    const { paths } = (await (await fetch(`${address}/docs-json`)).json()) as { paths: Record<string, object> };
    const routes = Object.entries(paths).flatMap(([path, verbs]) => Object.keys(verbs).map((verb) => [verb, path]));
    const closed = routes.filter(([, path]) => /^\/api(\/|$)/.test(path ?? '') && !path?.startsWith('/api/profiles'));
    expect(closed.length).toBeGreaterThan(15);
    for (const [verb = '', path = ''] of closed) {
      const answer = await alice(verb.toUpperCase(), path.replaceAll(/\{\w+\}/g, 'BTC-USD'));
      expect([verb, path, answer.status]).toEqual([verb, path, 403]);
      expectProblem(answer, { detail: expect.stringContaining('needs the admin token') });
    }
    const forged = withToken(await tokenFor('alice', 'another secret of more than 32 bytes'));
    expectProblem(await forged('GET', '/api/profiles'), { status: 401, detail: expect.stringContaining('signature') });
    expect((await admin('GET', '/api/health')).status).toBe(200);
  });

  it('may have any name that its issuer gave it', async () => {
    const { admin, tenant } = await startApi();
    for (const sub of ['auth0|5f7c', "O'Brien; drop table profiles", 'Zoë 💥', 'x'.repeat(200)]) {
      const id = await makeProfile(await tenant(sub), sub, '1');
      expect(itemsOf(await (await tenant(sub))('GET', '/api/profiles')).map((profile) => profile['id'])).toEqual([id]);
      const [record] = itemsOf(await admin('GET', `/api/audit?profileId=${id}`));
      expect(record?.['actor']).toMatch(/^tenant:[A-Za-z0-9._:/+=@-]{1,93}$/);
    }
  });
});

describe('the door for tenants', () => {
  it.each([
    [{ JWT_SECRET: 'short' }, 'JWT_SECRET is a value that is not shown; allowed is at least 32 bytes.'],
    [{ JWKS_URL: 'http://login.example.com/keys' }, 'http only to this machine'],
    [{ JWKS_URL: 'https://login.example.com/keys' }, 'JWKS_URL is set without JWT_ISSUER'],
    [{ JWKS_URL: 'https://h/keys', JWT_ISSUER: 'x', JWT_SECRET: 'x'.repeat(32) }, 'Both JWT_SECRET and JWKS_URL'],
  ])('is not opened at all with %j', async (env, sentence) => {
    const DATA_DIR = join(temporaryFolder(), 'data');
    const orchestrator = startApp('orchestrator', { env: { DATA_DIR, ...env } });
    expect((await orchestrator.exited).code).toBe(1);
    expect(orchestrator.output).toContain(sentence);
    expect(orchestrator.output).not.toMatch(/short|x{32}|\n {4}at /);
  });

  it('tells a tenant how to open the door when it is shut, and that keys cannot be read when they cannot', async () => {
    const shut = await startApi({ JWT_SECRET: '' });
    expectProblem(await (await shut.tenant('alice'))('GET', '/api/profiles'), {
      status: 401,
      detail: expect.stringContaining('until JWT_SECRET or JWKS_URL is set'),
    });
    const blind = await startApi({ JWT_SECRET: '', JWKS_URL: 'http://127.0.0.1:1/keys', JWT_ISSUER: 'x' });
    const token = 'eyJhbGciOiJFUzI1NiIsImtpZCI6ImsifQ.e30.AAAA';
    const answer = await blind.withToken(token)('GET', '/api/profiles');
    expectProblem(answer, { status: 503 });
    expect(answer.headers.get('retry-after')).toBe('1');
    expect((await blind.admin('GET', '/api/profiles')).status).toBe(200);
  });
});
