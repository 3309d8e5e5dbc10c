import type { Database, GatheredStatement, Tx } from '#libs/database';

/** What a function of the lifecycle says, in a word to decide by. */
export interface Verdict<Word extends string> {
  readonly verdict: Word;
  readonly detail?: string;
}

export type Argument = readonly [value: { toString(): string } | undefined, type: string];

/** One function, one round trip, one transaction; amounts travel as text, so that no digit is lost on the way. */
export async function call<Word extends string>(
  on: Database | Tx,
  name: string,
  args: readonly Argument[],
): Promise<Verdict<Word>> {
  const types = args.map(([, type]) => type);
  const values = args.map(([value]) => value?.toString() ?? null);
  const row = 'gather' in on ? await on.gather<VerdictRow>(together(name, types), values) : await alone(on, name, args);
  return { verdict: row.verdict as Word, ...(row.detail !== null && { detail: row.detail }) };
}

function together(name: string, types: readonly string[]): GatheredStatement {
  return { name, types, from: `${name}(${types.map((_, index) => `a.v${index + 1}`).join(', ')})` };
}

async function alone(tx: Tx, name: string, args: readonly Argument[]): Promise<VerdictRow> {
  const casts = args.map(([, type], index) => `$${index + 1}::${type}`).join(', ');
  const rows = await tx.query<VerdictRow[]>(
    `select verdict, detail from ${name}(${casts})`,
    args.map(([value]) => value?.toString() ?? null),
  );
  if (!rows[0]) throw new Error(`Invariant: ${name} gives a verdict.`);
  return rows[0];
}

interface VerdictRow {
  readonly verdict: string;
  readonly detail: string | null;
}
