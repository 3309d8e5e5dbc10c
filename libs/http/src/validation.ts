import { BadRequestException, StandardSchemaValidationPipe } from '@nestjs/common';
import type { FieldError } from './problem.js';

/** Names every faulty field at once. */
export class InvalidRequest extends BadRequestException {
  constructor(readonly errors: readonly FieldError[]) {
    super(
      `The request has ${errors.length === 1 ? 'a faulty field' : `${errors.length} faulty fields`}; see "errors".`,
    );
  }
}

type Issue = Parameters<
  NonNullable<ConstructorParameters<typeof StandardSchemaValidationPipe>[0]>['exceptionFactory'] & object
>[0][number];

/**
 * Checks every parameter that declares a schema, as in @Body({ schema }). Schemas of bodies and queries are
 * z.strictObject, so that an unknown field is refused and a misspelt one does not pass for an absent one.
 */
export function validationPipe(): StandardSchemaValidationPipe {
  return new StandardSchemaValidationPipe({
    exceptionFactory: (issues) => new InvalidRequest(issues.map(fieldError)),
  });
}

function fieldError(issue: Issue): FieldError {
  const path = (issue.path ?? []).map((part) => String(typeof part === 'object' ? part.key : part)).join('.');
  return { path, message: issue.message };
}
