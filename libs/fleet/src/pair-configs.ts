import { readFileSync } from 'node:fs';
import type { Database, Tx } from '#libs/database';
import { OperatorError } from '#libs/operator';
import { Pair, parsePairs } from './pair-config.js';

/** The profile whose paper money the demonstration trades with. */
export const DEMONSTRATION_PROFILE = 'f1071111-0000-4000-8000-000000000001';

const DEMONSTRATION_TERMS = { venue: 'paper', intervalSec: 5, profiles: [DEMONSTRATION_PROFILE] };

/** What a newcomer sees at work until the first pair is configured: one that surely trades, one that waits for a cross. */
const DEMONSTRATION: readonly Pair[] = [
  Pair.parse({ ...DEMONSTRATION_TERMS, id: 'BTC-USD', symbol: 'BTC/USD', strategy: { name: 'metronome' } }),
  Pair.parse({
    ...{ ...DEMONSTRATION_TERMS, id: 'ETH-USD', symbol: 'ETH/USD' },
    strategy: { name: 'example', params: { fast: 2, slow: 5 } },
  }),
];

/** The file rules, so a change through the API would be undone by the next reload. */
export class PairsDeclaredInFile extends OperatorError {
  constructor(path: string) {
    super(`Pairs are declared in PAIRS_FILE ${path}. Change that file and reload; the API only reads them.`);
  }
}

/** The configured pairs: those of PAIRS_FILE where it is set, else those of the table, else the demonstration. */
export class PairConfigs {
  constructor(
    private readonly database: Database,
    private readonly from: {
      readonly file: string | undefined;
      /** Whether a simulated venue is there for the demonstration; no other must ever see it. */
      readonly hasDemonstration: boolean;
    },
  ) {}

  async list(): Promise<Pair[]> {
    const { file, hasDemonstration } = this.from;
    if (file !== undefined) return parsePairs(readPairsFile(file), file);
    const rows = await this.database.transaction((tx) => selectPairs(tx));
    return rows.length > 0 || !hasDemonstration ? rows : [...DEMONSTRATION];
  }

  /** Whether the demonstration is at work: nobody has configured a pair yet. */
  async isDemonstration(): Promise<boolean> {
    return (await this.list()).some(({ profiles }) => profiles.includes(DEMONSTRATION_PROFILE));
  }

  async find(id: string): Promise<Pair | undefined> {
    return (await this.list()).find((pair) => pair.id === id);
  }

  /** Resolves with whether the pair is new. */
  async put(tx: Tx, pair: Pair): Promise<boolean> {
    this.refuseWhereFileRules();
    return upsertPair(tx, pair);
  }

  /** Resolves with whether there was such a pair. */
  async remove(tx: Tx, id: string): Promise<boolean> {
    this.refuseWhereFileRules();
    return deletePair(tx, id);
  }

  private refuseWhereFileRules(): void {
    if (this.from.file !== undefined) throw new PairsDeclaredInFile(this.from.file);
  }
}

function readPairsFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new OperatorError(
      `PAIRS_FILE ${path} cannot be read (${String(error)}). Correct the path or its permissions.`,
      {
        cause: error,
      },
    );
  }
}

interface Row {
  readonly id: string;
  readonly venue: string;
  readonly symbol: string;
  readonly strategy_name: string;
  readonly strategy_params: Record<string, unknown>;
  readonly interval_sec: number;
  readonly profiles: string[];
  readonly enabled: boolean;
}

async function selectPairs(tx: Tx): Promise<Pair[]> {
  const rows = await tx.query<Row[]>(
    `select id, venue, symbol, strategy_name, strategy_params, interval_sec, profiles, enabled
       from pair_configs order by id`,
  );
  return rows.map((row) =>
    Pair.parse({
      id: row.id,
      venue: row.venue,
      symbol: row.symbol,
      strategy: { name: row.strategy_name, params: row.strategy_params },
      intervalSec: row.interval_sec,
      profiles: row.profiles,
      enabled: row.enabled,
    }),
  );
}

async function upsertPair(tx: Tx, pair: Pair): Promise<boolean> {
  const rows = await tx.query<{ is_new: boolean }[]>(
    `insert into pair_configs (id, venue, symbol, strategy_name, strategy_params, interval_sec, profiles, enabled)
     values ($1, $2, $3, $4, $5::jsonb, $6, $7::text[], $8)
     on conflict (id) do update
        set venue = excluded.venue, symbol = excluded.symbol, strategy_name = excluded.strategy_name,
            strategy_params = excluded.strategy_params, interval_sec = excluded.interval_sec,
            profiles = excluded.profiles, enabled = excluded.enabled, updated_at = now()
     returning (xmax = 0) as is_new`,
    [
      pair.id,
      pair.venue,
      pair.symbol,
      pair.strategy.name,
      JSON.stringify(pair.strategy.params),
      pair.intervalSec,
      pair.profiles,
      pair.enabled,
    ],
  );
  return rows[0]?.is_new ?? false;
}

async function deletePair(tx: Tx, id: string): Promise<boolean> {
  const [, count] = await tx.query<[unknown, number]>('delete from pair_configs where id = $1', [id]);
  return count > 0;
}
