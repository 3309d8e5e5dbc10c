import { Catch, HttpException, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { problem, PROBLEM_MEDIA_TYPE } from './problem.js';
import { Refusal } from './refusal.js';
import { InvalidRequest } from './validation.js';

/** Turns whatever a handler throws into problem+json. What we did not foresee is logged whole and told in one sentence. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  private readonly logger = new Logger(ProblemFilter.name);

  catch(error: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const status = statusOf(error);
    // What we throw on purpose is written for the caller; anything else may hold what is none of its business.
    const isForeseen = error instanceof HttpException || status < 500;
    if (!isForeseen) this.logger.error(error);
    const body = problem({
      status,
      detail: isForeseen
        ? messageOf(error)
        : 'Something failed inside Flotilla; its log has the details under this request id.',
      requestId: request.id,
      code: error instanceof Refusal ? error.code : undefined,
      errors: error instanceof InvalidRequest ? error.errors : undefined,
    });
    void reply.status(status).type(PROBLEM_MEDIA_TYPE).send(body);
  }
}

/** Fastify's own refusals (a body too large, JSON that does not parse) carry their status as a field. */
function statusOf(error: unknown): number {
  if (error instanceof HttpException) return error.getStatus();
  const status: unknown = error instanceof Error ? Reflect.get(error, 'statusCode') : undefined;
  return typeof status === 'number' && status >= 400 && status < 600 ? status : 500;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
