import { z } from 'zod';
import { Decimal } from '#libs/money';

/** An exact number as text; a plain number is taken as it is written. */
export const Amount = z
  .union([z.string(), z.number()])
  .transform((value, context) => {
    try {
      return Decimal.parse(String(value));
    } catch {
      context.addIssue('Expected a plain decimal such as "12.5".');
      return z.NEVER;
    }
  })
  .meta({ examples: ['12.5'] });

export const Positive = Amount.refine((value) => value.isPositive(), 'Expected more than zero.');
export const NotNegative = Amount.refine((value) => !value.isNegative(), 'Expected zero or more.');
