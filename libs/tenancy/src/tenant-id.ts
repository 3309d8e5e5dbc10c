import { z } from 'zod';

/**
 * A tenant, as the tokens' `sub` and a profile's `ownerId` name it. Text that Postgres would store as something else
 * (half a surrogate pair, a NUL) is refused, or two tenants could become one.
 */
export const TenantId = z
  .string()
  .min(1)
  .max(200)
  .refine(isStoredAsGiven, { error: 'expected text without control characters' })
  .meta({ examples: ['alice'] });

export function isStoredAsGiven(text: string): boolean {
  return text.isWellFormed() && !/\p{Cc}/u.test(text);
}
