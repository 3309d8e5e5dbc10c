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
    if (phaseOf(fault) === 'request') return strike(fault, { request, reply, protocol, clock });
    drawn.set(request, fault);
    return undefined;
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

/** Before the engine hears of it. */
async function strike(
  fault: Fault,
  on: { request: FastifyRequest; reply: FastifyReply; protocol: WireProtocol; clock: Clock },
): Promise<FastifyReply | undefined> {
  switch (fault.fault) {
    case 'delay':
      await on.clock.sleep(fault.delayMs);
      return undefined;
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
