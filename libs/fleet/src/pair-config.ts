import { createHash } from 'node:crypto';
import { parse as parseYaml } from 'yaml';
import { z } from 'zod';
import { OperatorError } from '#libs/operator';
import { Strategy } from './strategy-params.js';

const INTERVAL_SEC_DEFAULT = 900;

/** Becomes part of file names, of Redis keys and of command lines. */
export const PairId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'expected letters, digits, dots, dashes and underscores, at most 64')
  .meta({ examples: ['BTC-USD'] });

/** A pair without its id, as it is sent to the API. */
export const PairSettings = z.strictObject({
  venue: z
    .string()
    .min(1)
    .max(64)
    .meta({ description: 'name of a configured venue', examples: ['paper'] }),
  symbol: z
    .string()
    .min(1)
    .max(64)
    .meta({ examples: ['BTC/USD'] }),
  strategy: Strategy,
  intervalSec: z
    .int()
    .min(1)
    .max(86_400)
    .default(INTERVAL_SEC_DEFAULT)
    .meta({ description: 'seconds between two cycles' }),
  profiles: z
    .array(z.uuid().toLowerCase())
    .max(100)
    .default([])
    .meta({ description: 'ids of the profiles that take part' }),
  enabled: z.boolean().default(true),
});

export const Pair = PairSettings.extend({ id: PairId });
export type Pair = z.infer<typeof Pair>;

/** Names a configuration: equal for equal pairs, whatever the order of their fields. */
export function revisionOf(pair: Pair): string {
  return createHash('sha256').update(canonical(pair)).digest('hex').slice(0, 16);
}

/** Reads a declaration of pairs, `pairs: [{ id, venue, … }]`, and names every fault of it at once. */
export function parsePairs(yaml: string, path: string): Pair[] {
  const result = PairsFile.safeParse(readYaml(yaml, path));
  if (result.success) return result.data.pairs;
  const faults = result.error.issues.map(({ path: at, message }) => `  - ${at.join('.') || 'file'}: ${message}`);
  throw new OperatorError(`PAIRS_FILE ${path} has faults:\n${faults.join('\n')}`);
}

const PairsFile = z.strictObject({
  pairs: z
    .array(Pair)
    .refine((pairs) => new Set(pairs.map(({ id }) => id)).size === pairs.length, 'two pairs have the same id'),
});

function readYaml(yaml: string, path: string): unknown {
  try {
    return parseYaml(yaml);
  } catch (error) {
    throw new OperatorError(
      `PAIRS_FILE ${path} is not YAML: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, entry]) => `${JSON.stringify(key)}:${canonical(entry)}`).join(',')}}`;
}
