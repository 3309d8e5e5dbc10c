import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SignJWT } from 'jose';
import { expect, inject } from 'vitest';
import { createTestDatabase } from './database.js';
import { startApp, temporaryFolder, type Started } from './process.js';

const ADMIN_TOKEN = 'test-token';
const JWT_SECRET = 'the secret of a test, long enough for a key';

/** The id of no profile and no halt. */
export const NOBODY = '00000000-0000-4000-8000-000000000000';

export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly headers: Headers;
}

/** One caller of the API: an admin, or a tenant. */
export type Caller = (method: string, path: string, body?: unknown) => Promise<Answer>;

export interface Api {
  readonly orchestrator: Started;
  readonly address: string;
  readonly databaseUrl: string;
  readonly admin: Caller;
  readonly tenant: (sub: string) => Promise<Caller>;
  readonly withToken: (token: string) => Caller;
}

/** An orchestrator that serves, without workers unless the settings ask for some, and its callers. */
export async function startApi(env: Record<string, string> = {}): Promise<Api> {
  const { url } = await createTestDatabase({ template: 'template0' });
  const DATA_DIR = temporaryFolder();
  const PAIRS_FILE = join(DATA_DIR, 'pairs.yaml');
  writeFileSync(PAIRS_FILE, 'pairs: []\n');
  const orchestrator = startApp('orchestrator', {
    env: {
      DATABASE_URL: url,
      REDIS_URL: inject('redisUrl'),
      KEY_PREFIX: `t${randomBytes(4).toString('hex')}`,
      DATA_DIR,
      PAIRS_FILE,
      ADMIN_TOKEN,
      JWT_SECRET,
      AUTH_FAILURES_PER_MINUTE_MAX: '1000',
      ...env,
    },
  });
  const address = (await orchestrator.says(/Health\s+(http:\/\/[\d.:]+)\/internal\/health/))[1] ?? '';
  const withToken = (token: string): Caller => callerOf(address, token);
  return {
    orchestrator,
    address,
    databaseUrl: url,
    admin: withToken(ADMIN_TOKEN),
    tenant: async (sub) => withToken(await tokenFor(sub)),
    withToken,
  };
}

export function tokenFor(sub: string, secret = JWT_SECRET): Promise<string> {
  return new SignJWT({ sub, aud: 'flotilla' })
    .setProtectedHeader({ alg: 'HS256' })
    .setExpirationTime('1h')
    .sign(Buffer.from(secret));
}

function callerOf(address: string, token: string): Caller {
  return async (method, path, body) => {
    const answer = await fetch(address + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    return {
      status: answer.status,
      body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
      headers: answer.headers,
    };
  };
}

export async function makeProfile(caller: Caller, ownerId: string, allocatedCapital = '1000'): Promise<string> {
  const answer = await caller('POST', '/api/profiles', { name: 'a profile', ownerId, allocatedCapital });
  expect(answer.status).toBe(201);
  return answer.body['id'] as string;
}

export function itemsOf({ body }: Answer): Record<string, unknown>[] {
  return body['items'] as Record<string, unknown>[];
}

export function expectProblem(answer: Answer, expected: Record<string, unknown>): void {
  expect(answer.headers.get('content-type')).toContain('application/problem+json');
  expect(answer.body).toMatchObject({ type: 'about:blank', detail: expect.any(String), ...expected });
}
