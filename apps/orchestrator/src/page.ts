import { z } from 'zod';

const LIMIT_DEFAULT = 100;
const LIMIT_MAX = 500;

/** The query of a list; its cursor is what the page before gave as "next". */
export function pageQuery(
  cursor: z.ZodType<string, string>,
): z.ZodObject<
  { after: z.ZodOptional<z.ZodType<string, string>>; limit: z.ZodDefault<z.ZodCoercedNumber> },
  z.core.$strict
> {
  return z.strictObject({
    after: cursor.optional().describe('the "next" of the page before'),
    limit: z.coerce.number().int().min(1).max(LIMIT_MAX).default(LIMIT_DEFAULT),
  });
}

/** A cursor that counts. */
export const Sequence = z
  .string()
  .regex(/^\d{1,18}$/, { error: 'expected the "next" of the page before' })
  .meta({ examples: ['42'] });

export function pageSchema<Item extends z.ZodType>(
  item: Item,
): z.ZodObject<{ items: z.ZodArray<Item>; next: z.ZodOptional<z.ZodString> }, z.core.$strict> {
  return z.strictObject({
    items: z.array(item),
    next: z.string().optional().describe('the cursor of the next page; absent on the last one'),
  });
}

/** Asks for one row more than the page holds: whether there is a next page is known without counting. */
export async function page<Row, Item>(
  limit: number,
  read: (limit: number) => Promise<Row[]>,
  as: { readonly cursor: (row: Row) => string; readonly item: (row: Row) => Item },
): Promise<{ items: Item[]; next?: string }> {
  const rows = await read(limit + 1);
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    items: shown.map((row) => as.item(row)),
    ...(rows.length > limit && last !== undefined && { next: as.cursor(last) }),
  };
}
