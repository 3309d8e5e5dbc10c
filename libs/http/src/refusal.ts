import { HttpException } from '@nestjs/common';

/** A refusal with a code that a program can decide on; people read its detail. */
export class Refusal extends HttpException {
  constructor(
    status: number,
    readonly code: string,
    detail: string,
  ) {
    super(detail, status);
  }
}
