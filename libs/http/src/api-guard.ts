import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '#libs/clock';
import { bearerOf, secretsEqual } from './bearer.js';
import { FailureLimit } from './failure-limit.js';
import type { HttpApp } from './http-app.js';
import { problem, PROBLEM_MEDIA_TYPE } from './problem.js';

/** What may be asked without a token. */
const OPEN_ROUTES = /^\/(internal|metrics|docs|docs-json)(\/|$)/;

/**
 * Asks for the admin token before a request's body is read. It looks at the route that matched and not at the text of
 * the address: an encoded letter (/%61pi) reaches the same route and must not pass by.
 */
export function guardApi(
  app: HttpApp,
  options: { adminToken: string; failuresPerMinuteMax: number; clock: Clock },
): void {
  const limit = new FailureLimit(options.failuresPerMinuteMax, options.clock);
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onRequest', async (request, reply) => {
      if (isOpen(request)) return undefined;
      const token = bearerOf(request.headers.authorization);
      if (token !== undefined && secretsEqual(token, options.adminToken)) return undefined;
      return refuse(request, reply, limit);
    });
}

/** An address that matches nothing is open too, to be answered with 404; under /api even that takes a token. */
function isOpen(request: FastifyRequest): boolean {
  const route = request.routeOptions.url;
  if (route !== undefined) return OPEN_ROUTES.test(route);
  return !request.url.startsWith('/api');
}

function refuse(request: FastifyRequest, reply: FastifyReply, limit: FailureLimit): FastifyReply {
  const wait = limit.countFailure(request.ip);
  if (wait) {
    void reply.header('retry-after', Math.ceil(wait.retryAfterMs / 1000));
    return send(reply, 429, 'Too many wrong tokens from this address; wait, or send the right one.');
  }
  void reply.header('www-authenticate', 'Bearer');
  return send(reply, 401, 'This route needs the header "Authorization: Bearer <token>".');
}

function send(reply: FastifyReply, status: number, detail: string): FastifyReply {
  return reply
    .status(status)
    .type(PROBLEM_MEDIA_TYPE)
    .send(problem({ status, detail, requestId: reply.request.id }));
}
