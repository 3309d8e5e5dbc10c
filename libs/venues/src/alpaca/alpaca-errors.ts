import type { errors } from '@alpacahq/alpaca-trade-api';
import type { ErrorWords, Fault } from '../fault.js';
import { cleaned, type Secret } from '../secret.js';

type ErrorClasses = Pick<typeof errors, 'ApiError' | 'FetchError'>;

/** The code of a refused body is the same for every fault of a body, so a duplicate shows in status and message only. */
export const alpacaWords: ErrorWords = {
  isDuplicate: ({ status, message }) => status === 422 && /client[ _]order[ _]id must be unique/i.test(message),
  isNotFound: ({ status }) => status === 404,
  isUnsure: () => false,
  isClock: () => false,
  refusalOf: ({ status, code }) => {
    switch (status) {
      case 400:
      case 422:
        return 'invalid-order';
      case 401:
        return 'not-permitted';
      case 403:
        return code === '40310000' ? 'insufficient-funds' : 'not-permitted';
      default:
        return undefined;
    }
  },
};

export function explainAlpaca(error: unknown, classes: ErrorClasses, secrets: readonly Secret[]): Fault {
  const message = cleaned(describe(error), secrets);
  if (error instanceof classes.ApiError) {
    const { status, code, retryAfterMs } = error;
    return {
      kind: 'answer',
      status,
      code: code === undefined ? undefined : String(code),
      message,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    };
  }
  return { kind: 'transport', reason: error instanceof classes.FetchError ? 'connection' : 'unreadable', message };
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? error.cause : undefined;
  const inner = cause?.cause instanceof Error ? cause.cause : undefined;
  return [error.message, cause?.message, inner?.message].filter(Boolean).join(': ');
}
