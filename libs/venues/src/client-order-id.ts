import { createHash } from 'node:crypto';
import type { ClientOrderIdRules } from './venue.js';

/** Whose order it is. An exit carries a generation, because a cancelled exit may be tried again. */
export interface OrderOwner {
  readonly profileId: string;
  readonly tradeId: string;
  readonly exitGeneration?: number;
}

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const IS_UUID = new RegExp(`^${UUID}$`);
const LONG_FORM = new RegExp(
  `^(?<prefix>.+)-(?<profileId>${UUID})-(?<tradeId>${UUID})(?:-x(?<exit>[1-9]\\d{0,5}|0))?$`,
);
const EXIT_GENERATION_MAX = 999_999;

/** 100 bits: among a thousand million ids two are equal with a chance of one in 10^12. */
const DIGEST_CHARS_MIN = 20;
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

/**
 * The same id for the same order, always: it is what makes a second submission harmless, and what a lookup after an
 * unknown outcome asks for. Where the venue is too narrow for the long form, a digest of the long form takes its
 * place, behind as much of the prefix as leaves room; only our own tables lead from there back to the trade.
 */
export function clientOrderIdFor(owner: OrderOwner, prefix: string, rules: ClientOrderIdRules): string {
  const long = longForm(owner, prefix);
  return fits(long, rules) ? long : shortForm(long, prefix, rules);
}

/** The owner of an id in the long form; undefined for a digest and for ids that others made. */
export function parseClientOrderId(clientOrderId: string, prefix: string): OrderOwner | undefined {
  const parts = LONG_FORM.exec(clientOrderId)?.groups;
  if (parts?.['prefix'] !== prefix) return undefined;
  const { profileId = '', tradeId = '', exit } = parts;
  return exit === undefined ? { profileId, tradeId } : { profileId, tradeId, exitGeneration: Number(exit) };
}

/** Whether this id is the one that this owner's order carries at a venue with these rules. */
export function matchesClientOrderId(
  clientOrderId: string,
  owner: OrderOwner,
  venue: { prefix: string; rules: ClientOrderIdRules },
): boolean {
  return clientOrderId === clientOrderIdFor(owner, venue.prefix, venue.rules);
}

export function fits(clientOrderId: string, rules: ClientOrderIdRules): boolean {
  const length = clientOrderId.length;
  return length > 0 && length <= rules.lengthMax && [...clientOrderId].every((char) => rules.alphabet.test(char));
}

function longForm({ profileId, tradeId, exitGeneration }: OrderOwner, prefix: string): string {
  for (const id of [profileId, tradeId]) {
    if (!IS_UUID.test(id)) throw new RangeError(`Expected a lower-case UUID as profile and trade id, got ${id}.`);
  }
  if (exitGeneration === undefined) return `${prefix}-${profileId}-${tradeId}`;
  if (!Number.isInteger(exitGeneration) || exitGeneration < 0 || exitGeneration > EXIT_GENERATION_MAX) {
    throw new RangeError(`Expected an exit generation from 0 to ${EXIT_GENERATION_MAX}, got ${exitGeneration}.`);
  }
  return `${prefix}-${profileId}-${tradeId}-x${exitGeneration}`;
}

/** The prefix lets a person recognise our orders at the venue; the digest alone tells them apart. */
function shortForm(long: string, prefix: string, rules: ClientOrderIdRules): string {
  const digest = base32(createHash('sha256').update(long).digest());
  const separator = rules.alphabet.test('-') ? '-' : '';
  const room = rules.lengthMax - separator.length - DIGEST_CHARS_MIN;
  const kept = [...prefix].filter((char) => rules.alphabet.test(char)).join('');
  const head = kept !== '' && kept.length <= room ? kept + separator : '';
  const id = head + digest.slice(0, rules.lengthMax - head.length);
  if (rules.lengthMax < DIGEST_CHARS_MIN || !fits(id, rules)) {
    throw new RangeError(`Expected a venue that takes ids of ${DIGEST_CHARS_MIN} letters and digits.`);
  }
  return id;
}

function base32(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xfff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += BASE32[(value >> bits) & 31] ?? '';
    }
  }
  return text;
}
