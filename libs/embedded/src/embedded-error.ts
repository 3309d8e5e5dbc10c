import { OperatorError } from '#libs/operator';

/** A private server or its folder is not usable. */
export class EmbeddedError extends OperatorError {}

/** The operating system's word for what went wrong, such as EACCES; undefined for any other error. */
export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
