import { createHash } from 'node:crypto';
import type { Signal } from './signal.js';

/** Of trades, and of nothing else: an id made of the same words elsewhere is another one. */
const NAMESPACE = Buffer.from('a3c1c1f5f0b94d5f9a0f7d8f5b9a2e61', 'hex');

/**
 * The same id for the same wish, in every process and after every restart: what makes a second submission of it the
 * same submission. A UUID of version 5 over profile, symbol, strategy and signal.
 */
export function tradeIdOf(signal: Pick<Signal, 'profileId' | 'symbol' | 'strategy' | 'signalId'>): string {
  const { profileId, symbol, strategy, signalId } = signal;
  const name = JSON.stringify([profileId.toLowerCase(), symbol.toLowerCase(), strategy, signalId]);
  const bytes = createHash('sha1').update(NAMESPACE).update(name).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
