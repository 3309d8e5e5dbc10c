import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { map, type Observable } from 'rxjs';

/** What a request made, or found made before. */
export interface Made<Answer> {
  readonly answer: Answer;
  readonly isNew: boolean;
}

/** Answers 201 with what is new, and 200 with what the same request made before. */
@Injectable()
export class CreatedOrOk<Answer> implements NestInterceptor<Made<Answer>, Answer> {
  intercept(context: ExecutionContext, next: CallHandler<Made<Answer>>): Observable<Answer> {
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    return next.handle().pipe(
      map(({ answer, isNew }) => {
        void reply.status(isNew ? 201 : 200);
        return answer;
      }),
    );
  }
}
