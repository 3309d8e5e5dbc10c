import { ForbiddenException, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

/** Whoever can bend prices and break connections sits at this machine. */
@Injectable()
export class LoopbackGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { socket } = context.switchToHttp().getRequest<FastifyRequest>().raw;
    if (isLoopback(socket.remoteAddress)) return true;
    throw new ForbiddenException('The routes under /paper answer to this machine only. Ask from the machine itself.');
  }
}

export function isLoopback(address: string | undefined): boolean {
  return address === '::1' || /^(::ffff:)?127\.\d+\.\d+\.\d+$/.test(address ?? '');
}
