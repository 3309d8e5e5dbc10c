import { readFileSync } from 'node:fs';
import type { Database, Tx } from '#libs/database';
import { OperatorError } from '#libs/operator';
import { Pair, parsePairs } from './pair-config.js';

/** What a newcomer sees at work until the first pair is configured. */
const DEMONSTRATION: readonly Pair[] = ['BTC-USD', 'ETH-USD'].map((id) =>
  Pair.parse({ id, venue: 'paper', symbol: id.replace('-', '/'), strategy: { name: 'example' }, intervalSec: 10 }),
);

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
    private readonly file: string | undefined,
  ) {}

  async list(): Promise<Pair[]> {
    if (this.file !== undefined) return parsePairs(readPairsFile(this.file), this.file);
    const rows = await this.database.transaction((tx) => selectPairs(tx));
    return rows.length > 0 ? rows : [...DEMONSTRATION];
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
    if (this.file !== undefined) throw new PairsDeclaredInFile(this.file);
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
