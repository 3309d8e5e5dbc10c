import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { CREDENTIALS } from '../credentials.js';
import { unauthorized } from './alpaca-error.js';

@Injectable()
export class AlpacaGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { headers } = context.switchToHttp().getRequest<FastifyRequest>();
    if (headers['apca-api-key-id'] === CREDENTIALS.key && headers['apca-api-secret-key'] === CREDENTIALS.secret)
      return true;
    throw unauthorized();
  }
}
