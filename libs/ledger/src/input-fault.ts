import type { Decimal } from '#libs/money';
import type { LedgerCommand, Rebuild } from './command.js';
import { refused, type Verdict } from './verdict.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const NAME = /^[A-Za-z0-9._:/+=@-]{1,100}$/;
const DECIMALS_MAX = 18;
const WHOLE_DIGITS_MAX = 20;
const BIGINT_MAX = 2n ** 63n - 1n;
const YEAR_MAX = 9999;
/** Each trade of a rebuild gets the key, a colon and its id. */
const REBUILD_KEY_LENGTH_MAX = 100 - 37;

/** The numbers of each command, and which of them may be zero or negative. */
const SIGNED = new Set(['fee', 'pnl']);
const NUMBERS = ['amount', 'quantity', 'fee', 'pnl'] as const;

/**
 * What is wrong with a command in itself, in the same words as the database would say it. Asked before a command is
 * sent: one that Postgres cannot even read would take down everything it travels with.
 */
export function inputFault(command: LedgerCommand): Verdict | undefined {
  const fault = nameFault(command) ?? missingField(command);
  if (fault) return fault;
  const values = command as Partial<Record<(typeof NUMBERS)[number], Decimal>>;
  for (const field of NUMBERS) {
    const value = values[field];
    const numberFault = value && amountFault(field, value);
    if (numberFault) return numberFault;
  }
  if (!UUID.test(command.profileId)) return refused('unknown_profile');
  if (command.kind === 'reserve' && command.lockToken !== undefined && isImpossibleToken(command.lockToken)) {
    return refused('stale_lock');
  }
  return undefined;
}

/** What is wrong with a rebuild as a whole, or with a trade of it that Postgres could not read. */
export function rebuildFault(rebuild: Rebuild): Verdict | undefined {
  const fault = nameFault(rebuild);
  if (fault) return fault;
  if (rebuild.key.length > REBUILD_KEY_LENGTH_MAX) return refused('invalid_key');
  if (rebuild.untilSequence < 0n || rebuild.untilSequence > BIGINT_MAX) {
    return refused('field_missing', 'untilSequence');
  }
  if (!rebuild.trades.every(({ tradeId }) => UUID.test(tradeId))) return refused('field_missing', 'tradeId');
  if (!UUID.test(rebuild.profileId)) return refused('unknown_profile');
  return undefined;
}

function nameFault(command: { key: string; actor: string; happenedAt?: Date | undefined }): Verdict | undefined {
  if (!NAME.test(command.key)) return refused('invalid_key');
  if (!NAME.test(command.actor)) return refused('invalid_actor');
  if (!isReadableTime(command.happenedAt)) return refused('invalid_time', 'happenedAt');
  return undefined;
}

function missingField(command: LedgerCommand): Verdict | undefined {
  if (command.kind !== 'deposit' && command.kind !== 'withdraw' && !UUID.test(command.tradeId)) {
    return refused('field_missing', 'tradeId');
  }
  if (command.kind === 'reserve' && !isReadableText(command.venue)) return refused('field_missing', 'venue');
  if (command.kind === 'reserve' && !isReadableText(command.symbol)) return refused('field_missing', 'symbol');
  return undefined;
}

function amountFault(field: string, value: Decimal): Verdict | undefined {
  const wholeDigits = value.abs().toString().split('.', 1)[0]?.length ?? 0;
  if (wholeDigits > WHOLE_DIGITS_MAX) return refused('amount_too_large', field);
  if (value.scale > DECIMALS_MAX) return refused('amount_too_precise', field);
  if (!value.isPositive() && !SIGNED.has(field)) return refused('amount_not_positive', field);
  return undefined;
}

function isImpossibleToken(token: bigint): boolean {
  return token < 0n || token > BIGINT_MAX;
}

/** Postgres keeps neither a NUL nor half of a surrogate pair. */
function isReadableText(text: string): boolean {
  return text !== '' && !text.includes('\0') && text.isWellFormed();
}

function isReadableTime(time: Date | undefined): boolean {
  if (time === undefined) return true;
  const year = time.getUTCFullYear();
  return year >= 1 && year <= YEAR_MAX;
}
