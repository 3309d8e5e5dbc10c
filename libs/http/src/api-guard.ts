import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '#libs/clock';
import { bearerOf, secretsEqual } from './bearer.js';
import { FailureLimit } from './failure-limit.js';
import type { HttpApp } from './http-app.js';
import { problem, PROBLEM_MEDIA_TYPE } from './problem.js';
import { setCaller } from './caller.js';

/** What may be asked without a token. */
const OPEN_ROUTES = /^\/(internal|metrics|docs|docs-json)(\/|$)/;
/** What a tenant's token opens; everything else under /api takes the admin's. */
const TENANT_ROUTES = /^\/api\/profiles(\/|$)/;

/** Tells which tenant a token speaks for, or why it is refused, or that nobody can tell at the moment. */
export type TenantCheck = (
  token: string,
) => Promise<
  | { readonly outcome: 'valid'; readonly tenantId: string }
  | { readonly outcome: 'refused'; readonly reason: string }
  | { readonly outcome: 'unavailable'; readonly reason: string; readonly retryAfterMs: number }
>;

interface GuardOptions {
  readonly adminToken: string;
  readonly checkTenant: TenantCheck;
  readonly failuresPerMinuteMax: number;
  readonly clock: Clock;
}

/**
 * Asks for a token before a request's body is read, and notes who the caller is. It looks at the route that matched
 * and not at the text of the address: an encoded letter (/%61pi) reaches the same route and must not pass by.
 */
export function guardApi(app: HttpApp, options: GuardOptions): void {
  const limit = new FailureLimit(options.failuresPerMinuteMax, options.clock);
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onRequest', async (request, reply) => {
      if (isOpen(request)) return undefined;
      const token = bearerOf(request.headers.authorization);
      if (token === undefined) {
        return refuse(reply, limit, 'This route needs the header "Authorization: Bearer <token>".');
      }
      if (secretsEqual(token, options.adminToken)) {
        setCaller(request, { kind: 'admin' });
        return undefined;
      }
      return admitTenant(reply, limit, await options.checkTenant(token));
    });
}

/** An address that matches nothing is open too, to be answered with 404; under /api even that takes a token. */
function isOpen(request: FastifyRequest): boolean {
  const route = request.routeOptions.url;
  if (route !== undefined) return OPEN_ROUTES.test(route);
  return !request.url.startsWith('/api');
}

function admitTenant(
  reply: FastifyReply,
  limit: FailureLimit,
  check: Awaited<ReturnType<TenantCheck>>,
): FastifyReply | undefined {
  switch (check.outcome) {
    case 'refused':
      return refuse(reply, limit, `The token is neither the admin's nor that of a tenant: ${check.reason}.`);
    case 'unavailable':
      void reply.header('retry-after', Math.max(1, Math.ceil(check.retryAfterMs / 1000)));
      return send(reply, 503, `Whether the token is right cannot be told. ${check.reason} Try again in a moment.`);
    case 'valid': {
      const route = reply.request.routeOptions.url;
      if (route !== undefined && !TENANT_ROUTES.test(route)) {
        return send(
          reply,
          403,
          "This route needs the admin token; a tenant's token opens those under /api/profiles only.",
        );
      }
      setCaller(reply.request, { kind: 'tenant', tenantId: check.tenantId });
      return undefined;
    }
  }
}

function refuse(reply: FastifyReply, limit: FailureLimit, detail: string): FastifyReply {
  const wait = limit.countFailure(reply.request.ip);
  if (wait) {
    void reply.header('retry-after', Math.ceil(wait.retryAfterMs / 1000));
    return send(reply, 429, 'Too many wrong tokens from this address; wait, or send the right one.');
  }
  void reply.header('www-authenticate', 'Bearer');
  return send(reply, 401, detail);
}

function send(reply: FastifyReply, status: number, detail: string): FastifyReply {
  return reply
    .status(status)
    .type(PROBLEM_MEDIA_TYPE)
    .send(problem({ status, detail, requestId: reply.request.id }));
}
