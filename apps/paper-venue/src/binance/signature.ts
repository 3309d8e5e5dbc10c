import { createHmac } from 'node:crypto';
import { CREDENTIALS } from '../credentials.js';
import { mandatory, tooEarly, tooLate, wrongKey, wrongSignature } from './binance-error.js';

/** How far a caller's clock may run ahead of ours. */
const AHEAD_MS_MAX = 1_000;
const RECV_WINDOW_DEFAULT_MS = 5_000;
const RECV_WINDOW_MAX_MS = 60_000;

/** Microseconds have three digits more. */
const MICROSECONDS_FROM = 10 ** 14;

/**
 * Checks a signed request: key, time, and the signature over the very text that was sent, query and body joined.
 * Throws what Binance would answer.
 */
export function verifyRequest(request: { apiKey: string | undefined; query: string; body: string; now: number }): void {
  const parameters = new URLSearchParams(`${request.query}&${request.body}`);
  const payload = [request.query, request.body].map(withoutSignature).join('');
  verify(parameters, { apiKey: request.apiKey, payload, now: request.now });
}

/** The same for a request on the socket: its parameters, sorted by name, are what is signed. */
export function verifyParameters(parameters: Readonly<Record<string, unknown>>, now: number): void {
  const texts = Object.entries(parameters).map(([name, value]): [string, string] => [name, String(value)]);
  const payload = texts
    .filter(([name]) => name !== 'signature')
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, text]) => `${name}=${text}`)
    .join('&');
  const named = new URLSearchParams(texts);
  verify(named, { apiKey: named.get('apiKey') ?? undefined, payload, now });
}

function verify(
  parameters: URLSearchParams,
  { apiKey, payload, now }: { apiKey: string | undefined; payload: string; now: number },
): void {
  if (apiKey !== CREDENTIALS.key) throw wrongKey();
  const sent = Number(parameters.get('timestamp') ?? Number.NaN);
  if (!Number.isFinite(sent)) throw mandatory('timestamp');
  const timestamp = sent >= MICROSECONDS_FROM ? sent / 1_000 : sent;
  const recvWindow = Math.min(Number(parameters.get('recvWindow') ?? RECV_WINDOW_DEFAULT_MS), RECV_WINDOW_MAX_MS);
  if (timestamp >= now + AHEAD_MS_MAX) throw tooEarly();
  if (now - timestamp > recvWindow) throw tooLate();
  const expected = createHmac('sha256', CREDENTIALS.secret).update(payload).digest('hex');
  if (parameters.get('signature') !== expected) throw wrongSignature();
}

function withoutSignature(text: string): string {
  return text
    .split('&')
    .filter((pair) => !pair.startsWith('signature='))
    .join('&');
}
