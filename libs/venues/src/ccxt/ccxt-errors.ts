import type { Fault } from '../fault.js';
import { cleaned, type Secret } from '../secret.js';
import type { Dialect } from './dialect.js';
import type { CallTrace } from './exact-exchange.js';

/** Tells by the trace whether anything was sent or came back, and only then by what ccxt made of it. */
export function explainCcxt(
  error: unknown,
  trace: CallTrace,
  about: { dialect: Dialect; secrets: readonly Secret[] },
): Fault {
  const name = error instanceof Error ? error.constructor.name : 'unknown';
  const message = cleaned(error instanceof Error ? error.message : String(error), about.secrets);
  if (!trace.wasSent) return { kind: 'not-sent', reason: 'invalid-request', message };
  if (!trace.answer) {
    return { kind: 'transport', reason: name === 'RequestTimeout' ? 'timeout' : 'connection', message };
  }
  const { status, headers, body } = trace.answer;
  const retryAfterMs = retryAfterOf(headers);
  return {
    kind: 'answer',
    status,
    code: about.dialect.codeOf(body, name),
    message,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

function retryAfterOf(headers: Record<string, string>): number | undefined {
  const seconds = headers['Retry-After'];
  return seconds !== undefined && /^\d{1,6}$/.test(seconds) ? Number(seconds) * 1000 : undefined;
}
