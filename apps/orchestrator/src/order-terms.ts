import { z } from 'zod';
import type { OrderTerms } from '#libs/lifecycle';
import { Decimal } from '#libs/money';
import { LimitAmount } from './amount.js';

export const OrderKind = z.enum(['market', 'limit']);
export const LimitPrice = LimitAmount.describe('of a limit order, and of no other').meta({ examples: ['64000'] });

interface Wished {
  readonly type: z.infer<typeof OrderKind>;
  readonly limitPrice?: string | undefined;
}

/** For a schema of both fields to refine itself by. */
export const LIMIT_FITS_TYPE = {
  check: ({ type, limitPrice }: Wished): boolean => (type === 'limit') === (limitPrice !== undefined),
  fault: { path: ['limitPrice'], error: 'expected with the type "limit", and only then' },
};

export function termsOf({ type, limitPrice }: Wished): OrderTerms {
  if (limitPrice === undefined || type === 'market') return { type: 'market' };
  return { type, limitPrice: Decimal.parse(limitPrice) };
}
