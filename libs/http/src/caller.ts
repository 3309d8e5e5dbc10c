import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

/** Whoever the guard let in. */
type Caller = { readonly kind: 'admin' } | { readonly kind: 'tenant'; readonly tenantId: string };

const callers = new WeakMap<FastifyRequest, Caller>();

export function setCaller(request: FastifyRequest, caller: Caller): void {
  callers.set(request, caller);
}

/** Hands a controller who is asking. A route without a guard has nobody to name and fails instead of guessing. */
export const CallerOf = createParamDecorator((_data: unknown, context: ExecutionContext): Caller => {
  const caller = callers.get(context.switchToHttp().getRequest<FastifyRequest>());
  if (!caller) throw new Error('Invariant: a route that asks for its caller is guarded.');
  return caller;
});
