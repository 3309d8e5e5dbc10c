import { z } from 'zod';
import { Decimal } from '#libs/money';

/** As much as the decimal type reads; what an amount may be is for the ledger to say. */
const CHARS_MAX = 81;

/** An amount on the wire. A number would lose digits, an exponent or a sign has no business here. */
export const Amount = z
  .string()
  .max(CHARS_MAX)
  .regex(/^\d+(\.\d+)?$/, { error: 'expected decimal digits as a string, such as "12.5"' })
  .meta({ examples: ['1000.50'] });

const LIMIT_DECIMALS_MAX = 18;
const LIMIT_BELOW = Decimal.parse(`1${'0'.repeat(20)}`);

/** An amount that a limit may be: what the ledger could ever compare it with. */
export const LimitAmount = Amount.refine(isLimit, {
  error: 'expected an amount above zero and below 10^20, with at most 18 decimals',
});

function isLimit(text: string): boolean {
  // Checked even where the text is no amount, so that all faults are told at once.
  if (!/^\d{1,40}(\.\d{1,40})?$/.test(text)) return true;
  const amount = Decimal.parse(text);
  return amount.isPositive() && amount.compare(LIMIT_BELOW) < 0 && amount.scale <= LIMIT_DECIMALS_MAX;
}
