import { Body, Controller, Get, Post } from '@nestjs/common';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { ManualClock, SystemClock, type Clock } from '#libs/clock';
import { createLogger, loggerModule } from '#libs/telemetry';
import { CallerOf, closeWithin, createHttpApp, guardApi, healthModule, listen, type HealthProbe } from '../index.js';
import type { TenantCheck } from './api-guard.js';

const Boat = z.strictObject({ name: z.string().max(20), oars: z.int().min(0) });

/** Lets a test hold a request open for as long as it wants. */
let finishSlowRequest = Promise.withResolvers<void>();
let slowRequestArrived = Promise.withResolvers<void>();

const checkTenant: TenantCheck = async (token) => {
  if (token === 'of-alice') return { outcome: 'valid', tenantId: 'alice' };
  if (token === 'unknowable')
    return { outcome: 'unavailable', reason: 'The keys are under water.', retryAfterMs: 1_200 };
  return { outcome: 'refused', reason: 'it is no token' };
};

@Controller('api/profiles')
class ProfileController {
  @Get(':id')
  read(@CallerOf() caller: object): object {
    return caller;
  }
}

@Controller('api/profilesque')
class LookalikeController {
  @Get()
  read(): object {
    return {};
  }
}

@Controller('api/boats')
class BoatController {
  @Post()
  create(@Body({ schema: Boat }) boat: z.infer<typeof Boat>): object {
    return { created: boat };
  }

  @Get('broken')
  broken(): never {
    throw new Error('the plank with the secret map broke');
  }

  @Get('slow')
  async slow(): Promise<object> {
    slowRequestArrived.resolve();
    await finishSlowRequest.promise;
    return { finished: true };
  }
}

async function setup(options: { probes?: HealthProbe[]; clock?: Clock; drainMs?: number; bodyBytesMax?: number } = {}) {
  const { probes = [], clock = new SystemClock(), drainMs = 0, bodyBytesMax = 1_000 } = options;
  finishSlowRequest = Promise.withResolvers();
  slowRequestArrived = Promise.withResolvers();
  class TestModule {}
  const logger = createLogger({ LOG_LEVEL: 'silent', LOG_FORMAT: 'json' }, { process: 'test' });
  const app = await createHttpApp(
    {
      module: TestModule,
      imports: [loggerModule(logger), healthModule({ probes, clock, drainMs })],
      controllers: [BoatController, ProfileController, LookalikeController],
    },
    { bodyBytesMax },
  );
  guardApi(app, { adminToken: 'right', failuresPerMinuteMax: 3, clock, checkTenant });
  const address = await listen(app, { host: '127.0.0.1', port: 0 });
  onTestFinished(() => app.close());
  const call = (path: string, init: RequestInit & { token?: string } = {}): Promise<Response> =>
    fetch(address + path, { ...init, headers: { authorization: `Bearer ${init.token ?? 'right'}`, ...init.headers } });
  const post = (body: string): Promise<Response> =>
    call('/api/boats', { method: 'POST', body, headers: { 'content-type': 'application/json' } });
  return { app, address, call, post };
}

describe('validation', () => {
  it('takes a body that fits its schema', async () => {
    const { post } = await setup();
    const response = await post('{"name":"Argo","oars":50}');
    expect([response.status, await response.json()]).toEqual([201, { created: { name: 'Argo', oars: 50 } }]);
  });

  it('names every faulty field, unknown ones included', async () => {
    const { post } = await setup();
    const response = await post('{"name":"Argo","oars":-1,"saisl":2}');
    expect(response.status).toBe(400);
    expect(response.headers.get('content-type')).toContain('application/problem+json');
    expect(await response.json()).toMatchObject({
      title: 'Bad Request',
      status: 400,
      errors: [
        { path: 'oars', message: expect.stringContaining('>=0') },
        { path: '', message: expect.stringContaining('saisl') },
      ],
    });
  });

  it.each([
    ['{"name":', 400],
    [JSON.stringify({ name: 'x'.repeat(2_000), oars: 1 }), 413],
  ])('refuses a body that is broken or too large with problem+json', async (body, status) => {
    const { post } = await setup();
    const response = await post(body);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ status, type: 'about:blank' });
  });
});

describe('errors', () => {
  it('keep what we did not foresee inside, and give the id under which the log has it', async () => {
    const { call } = await setup();
    const response = await call('/api/boats/broken', { headers: { 'x-request-id': 'req-7' } });
    const text = await response.text();
    expect(response.status).toBe(500);
    expect(JSON.parse(text)).toMatchObject({ requestId: 'req-7', title: 'Internal Server Error' });
    expect(text).not.toContain('secret map');
  });

  it('answer an unknown address with 404', async () => {
    const { call } = await setup();
    expect((await call('/nowhere')).status).toBe(404);
  });
});

describe('request ids', () => {
  it('come back in a header: the caller’s own when it is harmless, else a new one', async () => {
    const { call } = await setup();
    const idFor = async (id: string): Promise<string | null> =>
      (await call('/internal/live', { headers: { 'x-request-id': id } })).headers.get('x-request-id');
    expect(await idFor('abc-1')).toBe('abc-1');
    expect(await idFor('{"level":"fatal"}')).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('the guard of /api', () => {
  it.each(['/api/boats/slow', '/%61pi/boats/slow', '/api/nowhere', '/api'])(
    'asks for the token at %s',
    async (path) => {
      const { address } = await setup();
      const response = await fetch(address + path);
      expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    },
  );

  it.each(['wrong', 'righ', 'rightt', ''])('refuses the token "%s"', async (token) => {
    const { call } = await setup();
    expect((await call('/api/boats/broken', { token })).status).toBe(401);
  });

  it('refuses before it reads the body', async () => {
    const { address } = await setup();
    const response = await fetch(`${address}/api/boats`, { method: 'POST', body: 'x'.repeat(5_000) });
    expect(response.status).toBe(401);
  });

  it('leaves probes open', async () => {
    const { address } = await setup();
    expect((await fetch(`${address}/internal/live`)).status).toBe(200);
  });

  it('answers further wrong tokens of an address with 429 for the rest of the minute, and the right one always', async () => {
    const clock = new ManualClock();
    const { call } = await setup({ clock });
    const statusOf = async (token: string): Promise<number> => (await call('/api/boats/broken', { token })).status;
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 4; attempt += 1) statuses.push(await statusOf('wrong'));
    expect(statuses).toEqual([401, 401, 401, 429]);
    await clock.advance(20_000);
    expect((await call('/api/boats/broken', { token: 'wrong' })).headers.get('retry-after')).toBe('40');
    expect(await statusOf('right')).toBe(500);
    await clock.advance(40_000);
    expect(await statusOf('wrong')).toBe(401);
  });
});

describe('a tenant', () => {
  it('enters what lies under /api/profiles, and the route learns who it is', async () => {
    const { call } = await setup();
    const response = await call('/api/profiles/7', { token: 'of-alice' });
    expect([response.status, await response.json()]).toEqual([200, { kind: 'tenant', tenantId: 'alice' }]);
    expect(await (await call('/api/profiles/7')).json()).toEqual({ kind: 'admin' });
  });

  it.each(['/api/boats/broken', '/%61pi/boats/broken', '/api/profilesque', '/api/profiles/../boats/broken'])(
    'is told at %s that the admin token is needed',
    async (path) => {
      const { call } = await setup();
      const response = await call(path, { token: 'of-alice' });
      expect(response.status).toBe(403);
      expect(response.headers.get('content-type')).toContain('application/problem+json');
      expect(await response.json()).toMatchObject({ detail: expect.stringContaining('needs the admin token') });
    },
  );

  it('learns why its token is refused', async () => {
    const { call } = await setup();
    const response = await call('/api/profiles/7', { token: 'forged' });
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect(await response.json()).toMatchObject({ detail: expect.stringContaining('it is no token') });
  });

  it('is asked to come back when its token cannot be judged, as often as it likes', async () => {
    const { call } = await setup();
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const response = await call('/api/profiles/7', { token: 'unknowable' });
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2']);
    }
  });

  it('is never locked out by the wrong tokens of others at its address', async () => {
    const { call } = await setup();
    for (let attempt = 0; attempt < 4; attempt += 1) await call('/api/profiles/7', { token: 'forged' });
    expect((await call('/api/profiles/7', { token: 'forged' })).status).toBe(429);
    expect((await call('/api/profiles/7', { token: 'of-alice' })).status).toBe(200);
  });
});

describe('/internal/health', () => {
  const up: HealthProbe = { name: 'sails', check: async () => ({ area: 12 }) };
  const down: HealthProbe = { name: 'hull', check: () => Promise.reject(new Error('leaks')) };

  it('is 200 with every detail when all is well', async () => {
    const { address } = await setup({ probes: [up] });
    const response = await fetch(`${address}/internal/health`);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      status: 'ok',
      info: { sails: { status: 'up', area: 12 } },
      error: {},
    });
  });

  it('is 503 and names what is down', async () => {
    const { address } = await setup({ probes: [up, down] });
    const response = await fetch(`${address}/internal/health`);
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({
      status: 'error',
      info: { sails: { status: 'up' } },
      error: { hull: { status: 'down', message: 'leaks' } },
    });
  });
});

describe('a stop', () => {
  it('turns readiness red while requests are still served, and only then closes the listener', async () => {
    const clock = new ManualClock();
    const { app, call } = await setup({ clock, drainMs: 1_000 });
    const closed = app.close();
    await clock.whenSleeping();
    expect((await call('/internal/health')).status).toBe(503);
    expect((await call('/internal/live')).status).toBe(200);
    await clock.advance(1_000);
    await closed;
    await expect(call('/internal/live')).rejects.toThrow();
  });

  it('lets a request in flight finish', async () => {
    const { app, call } = await setup();
    const response = call('/api/boats/slow');
    await slowRequestArrived.promise;
    const closed = app.close();
    finishSlowRequest.resolve();
    expect(await (await response).json()).toEqual({ finished: true });
    await closed;
  });

  it('cuts off a request that outlasts the grace', async () => {
    const clock = new ManualClock();
    const { app, call } = await setup({ clock });
    const response = call('/api/boats/slow').catch(() => 'cut off');
    await slowRequestArrived.promise;
    const closed = closeWithin(app, { graceMs: 5_000, clock });
    await clock.whenSleeping();
    await clock.advance(5_000);
    expect(await response).toBe('cut off');
    await closed;
  });
});

describe('listen', () => {
  it('explains a port that is taken', async () => {
    const { address } = await setup();
    const port = Number(new URL(address).port);
    const second = await createHttpApp(
      {
        module: class TestModule {},
        imports: [loggerModule(createLogger({ LOG_LEVEL: 'silent', LOG_FORMAT: 'json' }, { process: 'test' }))],
      },
      { bodyBytesMax: 1_000 },
    );
    await expect(listen(second, { host: '127.0.0.1', port })).rejects.toThrow(`Port ${port} on 127.0.0.1 is taken`);
    await second.close();
  });
});
