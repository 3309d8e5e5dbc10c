import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { VenueClock } from '../venue-clock.js';
import { rawBodyOf } from './raw-body.js';
import { verifyRequest } from './signature.js';

/** Lets signed requests pass. */
@Injectable()
export class SignedGuard implements CanActivate {
  constructor(private readonly clock: VenueClock) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const apiKey = request.headers['x-mbx-apikey'];
    verifyRequest({
      apiKey: typeof apiKey === 'string' ? apiKey : undefined,
      query: request.url.split('?')[1] ?? '',
      body: rawBodyOf(request),
      now: this.clock.now(),
    });
    return true;
  }
}
