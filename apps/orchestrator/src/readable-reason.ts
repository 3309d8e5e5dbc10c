import { z } from 'zod';
import { isStoredAsGiven } from '#libs/tenancy';

/** Why a person decided something, for whoever reads the audit log later. */
export function readableReason(example: string): z.ZodString {
  return z
    .string()
    .max(500)
    .refine((reason) => reason.trim() !== '' && isStoredAsGiven(reason), { error: 'expected a readable reason' })
    .meta({ examples: [example] });
}
