import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '#libs/clock';
import type { HttpApp } from '#libs/http';
import { protocolOf, serverErrorOf, tooManyRequestsOf, type WireProtocol } from '../wire-protocol.js';
import type { WireError } from '../wire-error.js';
import { phaseOf, type Fault } from './fault.js';
import type { FaultBox } from './fault-box.js';
import { operationOf } from './operation.js';

/** Lets faults befall the requests of the imitated venues: before the work, or when the answer is ready to leave. */
export function applyRequestFaults(app: HttpApp, box: FaultBox, clock: Clock): void {
  const drawn = new WeakMap<FastifyRequest, Fault>();
  const fastify = app.getHttpAdapter().getInstance();

  fastify.addHook('onRequest', async (request, reply) => {
    const path = pathOf(request);
    const protocol = protocolOf(path);
    if (!protocol) return undefined;
    const fault = box.drawForRequest(operationOf(request.method, path));
    if (!fault) return undefined;
    if (phaseOf(fault) === 'request' && fault.fault !== 'delay') return strike(fault, { request, reply, protocol });
    drawn.set(request, fault);
    return undefined;
  });

  // The request is read and waits inside the venue: it reaches the engine late, even if its sender has given up.
  fastify.addHook('preHandler', async (request) => {
    const fault = drawn.get(request);
    if (fault?.fault !== 'delay' || phaseOf(fault) !== 'request') return;
    drawn.delete(request);
    await clock.sleep(fault.delayMs);
  });

  fastify.addHook('onSend', async (request, reply, payload) => {
    const fault = drawn.get(request);
    const protocol = protocolOf(pathOf(request));
    if (!fault || !protocol) return payload;
    if (fault.fault === 'delay') await clock.sleep(fault.delayMs);
    else if (fault.fault === 'drop-response') request.raw.socket.destroy();
    else if (fault.fault === 'reset') request.raw.socket.resetAndDestroy();
    else return answerInstead(reply, errorOf(fault, protocol));
    return payload;
  });
}

/** Instead of the work. */
function strike(
  fault: Fault,
  on: { request: FastifyRequest; reply: FastifyReply; protocol: WireProtocol },
): FastifyReply {
  switch (fault.fault) {
    case 'drop-request':
      on.request.raw.socket.destroy();
      return on.reply.hijack();
    case 'reset':
      on.request.raw.socket.resetAndDestroy();
      return on.reply.hijack();
    default: {
      const { status, body, headers } = errorOf(fault, on.protocol);
      return on.reply.status(status).headers(headers).send(body);
    }
  }
}

/** The work is done, and the answer says otherwise. */
function answerInstead(reply: FastifyReply, { status, body, headers }: WireError): string {
  void reply.status(status).headers(headers).type('application/json');
  void reply.removeHeader('content-length');
  return JSON.stringify(body);
}

function errorOf({ fault }: Fault, protocol: WireProtocol): WireError {
  return fault === 'http-429' ? tooManyRequestsOf(protocol) : serverErrorOf(protocol);
}

function pathOf({ url }: FastifyRequest): string {
  return url.split('?', 1)[0] ?? '';
}
