import { createHmac } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, exportSPKI, generateKeyPair, SignJWT, type CryptoKey, type JWK, type JWTPayload } from 'jose';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ManualClock } from '#libs/clock';
import { TenantTokens, type TokenCheck } from '../index.js';

const SECRET = 'a secret of more than thirty-two bytes';
const ISSUER = 'https://login.example.com';
const valid: TokenCheck = { outcome: 'valid', tenantId: 'alice' };
const refused = (reason: string): object => ({ outcome: 'refused', reason: expect.stringContaining(reason) });

function settings(changes: Partial<ConstructorParameters<typeof TenantTokens>[0]> = {}) {
  const none = { JWT_SECRET: undefined, JWKS_URL: undefined, JWT_ISSUER: undefined };
  return { ...none, JWT_AUDIENCE: 'flotilla', ...changes };
}

function withSecret(changes: Parameters<typeof settings>[0] = {}) {
  const clock = new ManualClock();
  const tokens = new TenantTokens(settings({ JWT_SECRET: SECRET, ...changes }), clock, { failed: () => undefined });
  const nowSec = clock.now() / 1000;
  const claims = { sub: 'alice', aud: 'flotilla', exp: nowSec + 60 };
  const check = async (payload: JWTPayload, secret = SECRET, alg = 'HS256'): Promise<TokenCheck> =>
    tokens.check(await new SignJWT(payload).setProtectedHeader({ alg }).sign(Buffer.from(secret)));
  return { clock, tokens, nowSec, claims, check };
}

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('a token signed with JWT_SECRET', () => {
  it('names its tenant', async () => {
    const { check, claims } = withSecret();
    expect(await check(claims)).toEqual(valid);
    expect(await check({ ...claims, aud: ['others', 'flotilla'] })).toEqual(valid);
  });

  it('ends with its exp, give or take a few seconds of the clocks', async () => {
    const { check, claims, clock } = withSecret();
    await clock.advance(64_000);
    expect(await check(claims)).toEqual(valid);
    await clock.advance(2_000);
    expect(await check(claims)).toEqual(refused('expired'));
  });

  it('begins with its nbf', async () => {
    const { check, claims, nowSec, clock } = withSecret();
    expect(await check({ ...claims, nbf: nowSec + 30 })).toEqual(refused('not valid yet'));
    await clock.advance(26_000);
    expect(await check({ ...claims, nbf: nowSec + 30 })).toEqual(valid);
  });

  it.each([
    ['no exp', { exp: undefined }, 'lacks the claim "exp"'],
    ['an exp that is text', { exp: '99999999999' }, 'claim "exp"'],
    ['no aud', { aud: undefined }, 'lacks the claim "aud"'],
    ['another aud', { aud: 'flotill' }, 'claim "aud"'],
    ['no sub', { sub: undefined }, 'lacks the claim "sub"'],
    ['an empty sub', { sub: '' }, 'names no tenant'],
    ['a sub that is a number', { sub: 7 }, 'claim "sub"'],
    ['a sub of 201 characters', { sub: 'x'.repeat(201) }, 'names no tenant'],
    ['a sub with a NUL', { sub: 'alice\0' }, 'names no tenant'],
    ['a sub with half a character', { sub: 'alice\ud800' }, 'names no tenant'],
  ])('is refused with %s', async (_case, change, reason) => {
    const { check, claims } = withSecret();
    expect(await check({ ...claims, ...change } as JWTPayload)).toEqual(refused(reason));
  });

  it('is refused when it was signed with another secret', async () => {
    const { check, claims } = withSecret();
    expect(await check(claims, `${SECRET}.`)).toEqual(refused('signature'));
  });

  it.each(['HS384', 'HS512'])('is refused when it is signed with %s', async (alg) => {
    const { check, claims } = withSecret();
    expect(await check(claims, SECRET.repeat(2), alg)).toEqual(refused('not signed with HS256'));
  });

  it.each(['none', 'None', 'NONE', ''])('is refused with the algorithm %j', async (alg) => {
    const { tokens, claims } = withSecret();
    const token = `${encoded({ alg })}.${encoded(claims)}.`;
    expect(await tokens.check(token)).toMatchObject({ outcome: 'refused' });
  });

  it('is refused when anything in it was changed', async () => {
    const { tokens, claims } = withSecret();
    const token = await new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(SECRET));
    const [header, payload, signature] = token.split('.') as [string, string, string];
    const forged = [
      [header, encoded({ ...claims, sub: 'bob' }), signature],
      [encoded({ alg: 'HS256', typ: 'JWT' }), payload, signature],
      [header, payload, `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`],
      [header, payload, ''],
      [header, payload],
      [header, payload, signature, signature],
    ];
    for (const parts of forged) expect(await tokens.check(parts.join('.'))).toMatchObject({ outcome: 'refused' });
    expect(await tokens.check(token)).toEqual(valid);
  });

  it.each(['', '.', '..', 'x.y.z', '💥', 'a'.repeat(100)])('is refused when it is no token but %j', async (text) => {
    expect(await withSecret().tokens.check(text)).toMatchObject({ outcome: 'refused' });
  });

  it('is refused when it is longer than any that makes sense', async () => {
    const { check, claims } = withSecret();
    expect(await check({ ...claims, more: 'x'.repeat(8_192) })).toEqual(refused('longer than 8192'));
  });

  it('must name the issuer where one is set', async () => {
    const { check, claims } = withSecret({ JWT_ISSUER: ISSUER });
    expect(await check(claims)).toEqual(refused('lacks the claim "iss"'));
    expect(await check({ ...claims, iss: `${ISSUER}.evil.com` })).toEqual(refused('claim "iss"'));
    expect(await check({ ...claims, iss: ISSUER })).toEqual(valid);
  });
});

describe('the settings', () => {
  const open = (changes: Parameters<typeof settings>[0]) =>
    new TenantTokens(settings(changes), new ManualClock(), { failed: () => undefined });

  it('refuse two ways to sign', () => {
    expect(() => open({ JWT_SECRET: SECRET, JWKS_URL: 'https://h/keys', JWT_ISSUER: ISSUER })).toThrow(
      'Both JWT_SECRET and JWKS_URL are set',
    );
  });

  it('want an issuer beside a key set', () => {
    expect(() => open({ JWKS_URL: 'https://h/keys' })).toThrow('without JWT_ISSUER');
  });

  it('let nobody in when they say nothing, and tell how to change that', async () => {
    expect(await open({}).check('x.y.z')).toEqual(refused('until JWT_SECRET or JWKS_URL is set'));
  });
});

interface SigningKey {
  readonly alg: string;
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
  readonly jwk: JWK;
}

async function newKey(alg: string, kid = `${alg}-1`): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { alg, kid, privateKey, publicKey, jwk: { ...(await exportJWK(publicKey)), kid, use: 'sig' } };
}

/** A real server of keys. What it answers, and whether, the test decides. */
async function withKeyServer(...published: SigningKey[]) {
  const keyServer = {
    keys: published.map(({ jwk }) => jwk),
    requests: 0,
    answer: (response: ServerResponse): void => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: keyServer.keys }));
    },
    arrived: Promise.withResolvers<void>(),
  };
  const honest = keyServer.answer;
  const server = createServer((_request, response) => {
    keyServer.requests += 1;
    keyServer.answer(response);
    keyServer.arrived.resolve();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const clock = new ManualClock();
  const failures: Error[] = [];
  const { port } = server.address() as AddressInfo;
  const JWKS_URL = `http://127.0.0.1:${port}/keys`;
  const tokens = new TenantTokens(settings({ JWKS_URL, JWT_ISSUER: ISSUER }), clock, {
    failed: (error) => failures.push(error),
  });
  const tokenOf = (key: SigningKey, header: { kid?: string } = { kid: key.kid }): Promise<string> =>
    new SignJWT({ sub: 'alice', aud: 'flotilla', iss: ISSUER, exp: clock.now() / 1000 + 36_000 })
      .setProtectedHeader({ alg: key.alg, ...header })
      .sign(key.privateKey);
  const check = async (key: SigningKey): Promise<TokenCheck> => tokens.check(await tokenOf(key));
  const goSilent = (): void => {
    keyServer.answer = (response) => response.destroy();
  };
  const recover = (): void => {
    keyServer.answer = honest;
  };
  return { keyServer, clock, tokens, tokenOf, check, goSilent, recover, failures };
}

const unavailable: unknown = expect.objectContaining({ outcome: 'unavailable', retryAfterMs: expect.any(Number) });

describe('a token signed with a key of JWKS_URL', () => {
  it.each(['RS256', 'PS256', 'ES256', 'EdDSA'])('is taken with %s, and the keys are read once', async (alg) => {
    const key = await newKey(alg);
    const { check, keyServer } = await withKeyServer(key);
    for (let round = 0; round < 3; round += 1) expect(await check(key)).toEqual(valid);
    expect(keyServer.requests).toBe(1);
  });

  it('is taken by many at once with one reading of the keys', async () => {
    const key = await newKey('ES256');
    const { check, keyServer } = await withKeyServer(key);
    const answers = await Promise.all(Array.from({ length: 10 }, () => check(key)));
    expect(answers).toEqual(answers.map(() => valid));
    expect(keyServer.requests).toBe(1);
  });

  it.each(['RS512', 'ES384'])('is refused with %s', async (alg) => {
    const key = await newKey(alg);
    const { check } = await withKeyServer(key);
    expect(await check(key)).toEqual(refused('not signed with RS256, PS256, ES256, EdDSA'));
  });

  it('is refused when the public key was used as a shared secret', async () => {
    const key = await newKey('RS256');
    const { tokens, clock } = await withKeyServer(key);
    const claims = { sub: 'alice', aud: 'flotilla', iss: ISSUER, exp: clock.now() / 1000 + 60 };
    const body = `${encoded({ alg: 'HS256', kid: key.kid })}.${encoded(claims)}`;
    for (const secret of [await exportSPKI(key.publicKey), JSON.stringify(key.jwk)]) {
      const signature = createHmac('sha256', secret).update(body).digest('base64url');
      expect(await tokens.check(`${body}.${signature}`)).toEqual(refused('not signed with'));
    }
  });

  it('is refused when the published set holds a shared secret', async () => {
    const { keyServer, tokens, clock } = await withKeyServer();
    keyServer.keys = [{ kty: 'oct', kid: 'k', k: Buffer.from(SECRET).toString('base64url') }];
    const token = await new SignJWT({ sub: 'alice', aud: 'flotilla', iss: ISSUER, exp: clock.now() / 1000 + 60 })
      .setProtectedHeader({ alg: 'HS256', kid: 'k' })
      .sign(Buffer.from(SECRET));
    expect(await tokens.check(token)).toEqual(refused('not signed with'));
  });

  it('is refused when its key has the same name as a published one and is another', async () => {
    const key = await newKey('ES256', 'k');
    const { check } = await withKeyServer(key);
    expect(await check(await newKey('ES256', 'k'))).toEqual(refused('signature'));
  });

  it('is refused when it names none of several keys', async () => {
    const [one, two] = [await newKey('ES256', 'one'), await newKey('ES256', 'two')];
    const { tokens, tokenOf } = await withKeyServer(one, two);
    expect(await tokens.check(await tokenOf(one, {}))).toEqual(refused('the keys at JWKS_URL'));
  });

  it('is taken with a key that was added since, which is looked for not too often', async () => {
    const [old, added] = [await newKey('ES256', 'old'), await newKey('ES256', 'new')];
    const { check, keyServer, clock } = await withKeyServer(old);
    expect(await check(old)).toEqual(valid);
    keyServer.keys = [old.jwk, added.jwk];
    for (let attempt = 0; attempt < 5; attempt += 1) expect(await check(added)).toEqual(refused('JWKS_URL'));
    expect(keyServer.requests).toBe(1);
    await clock.advance(10_000);
    expect(await check(added)).toEqual(valid);
    expect(await check(old)).toEqual(valid);
    expect(keyServer.requests).toBe(2);
  });

  it('is refused within minutes when its key was withdrawn', async () => {
    const [old, added] = [await newKey('ES256', 'old'), await newKey('ES256', 'new')];
    const { check, keyServer, clock } = await withKeyServer(old);
    expect(await check(old)).toEqual(valid);
    keyServer.keys = [added.jwk];
    await clock.advance(300_000);
    expect(await check(old)).toEqual(refused('JWKS_URL'));
  });
});

describe('while the keys cannot be read', () => {
  it('no token is called wrong, and the server is not asked without a pause', async () => {
    const key = await newKey('ES256');
    const { check, goSilent, recover, keyServer, clock, failures } = await withKeyServer(key);
    goSilent();
    expect(await check(key)).toEqual(unavailable);
    expect(await check(key)).toEqual(unavailable);
    expect([keyServer.requests, failures.length]).toEqual([1, 1]);
    recover();
    await clock.advance(1_000);
    expect(await check(key)).toEqual(valid);
  });

  it('known keys serve on for an hour, and unknown ones are not called wrong', async () => {
    const [known, other] = [await newKey('ES256', 'known'), await newKey('ES256', 'other')];
    const { check, goSilent, clock } = await withKeyServer(known);
    expect(await check(known)).toEqual(valid);
    goSilent();
    await clock.advance(300_000);
    expect(await check(known)).toEqual(valid);
    expect(await check(other)).toEqual(unavailable);
    await clock.advance(3_299_000);
    expect(await check(known)).toEqual(valid);
    await clock.advance(1_000);
    expect(await check(known)).toEqual(unavailable);
  });

  it.each([
    ['an error', (response: ServerResponse) => void response.writeHead(500).end()],
    ['no JSON', (response: ServerResponse) => void response.end('<html>')],
    ['no key set', (response: ServerResponse) => void response.end('{"keys": 7}')],
    ['a way to another place', (response: ServerResponse) => void response.writeHead(302, { location: '/x' }).end()],
    ['far too much', (response: ServerResponse) => void response.end(' '.repeat(1_100_000))],
  ])('because the answer is %s, the same holds', async (_case, answer) => {
    const key = await newKey('ES256');
    const { check, keyServer } = await withKeyServer(key);
    keyServer.answer = answer;
    expect(await check(key)).toEqual(unavailable);
  });

  it('because no answer comes, the wait has an end', async () => {
    const key = await newKey('ES256');
    const { check, keyServer, clock } = await withKeyServer(key);
    keyServer.answer = () => undefined;
    const answer = check(key);
    await keyServer.arrived.promise;
    await clock.advance(3_000);
    expect(await answer).toMatchObject({ outcome: 'unavailable', reason: expect.stringContaining('within 3000 ms') });
  });
});
