import { z } from 'zod';
import { Decimal, InvalidDecimal } from '#libs/money';
import { UnreadableAnswer } from './venue-error.js';

/** A number that came as a text, digit for digit. */
export const WireDecimal = z.string().transform((text, context) => {
  try {
    return Decimal.parse(text);
  } catch (error) {
    if (!(error instanceof InvalidDecimal)) throw error;
    context.addIssue({ code: 'custom', message: error.message });
    return z.NEVER;
  }
});

/** RFC 3339, with as many digits of a second as the venue likes; we keep three. */
export const WireInstant = z.iso.datetime({ offset: true }).transform((text) => new Date(text));

/** Unix time in milliseconds. */
export const WireMillis = z
  .int()
  .positive()
  .transform((ms) => new Date(ms));

/** Reads JSON with every number left as the text that was sent: a float would lose digits before anyone looks. */
export function parseExactJson(text: string): unknown {
  try {
    return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
      typeof value === 'number' ? (context?.source ?? value) : value,
    );
  } catch {
    throw new UnreadableAnswer('the body is not JSON');
  }
}

/** What the schema makes of it; throws UnreadableAnswer with the places at fault and without the values. */
export function readAs<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const places = result.error.issues.slice(0, 5).map(({ path, message }) => `${path.join('.') || 'body'}: ${message}`);
  throw new UnreadableAnswer(places.join('; '));
}
