import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply } from 'fastify';

/** A refusal in the words of the venue that is being imitated. */
export class WireError extends Error {
  constructor(
    readonly status: number,
    readonly body: object,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(JSON.stringify(body));
    this.name = 'WireError';
  }
}

@Catch(WireError)
export class WireErrorFilter implements ExceptionFilter {
  catch(error: WireError, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    void reply.status(error.status).headers(error.headers).send(error.body);
  }
}
