import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What the planner must know of tables before it could count in them. Without statistics it takes every value of every
 * column to be rare, so an index that merely begins with the venue looks as good as the one that finds the row; a session
 * that made its plan then reads all orders of the venue each time, more with every trade, until the next ANALYZE. A
 * venue and a profile are shared by many rows: that much is known from the start. ANALYZE replaces it by what it counts.
 */
export class PlannerStatistics implements MigrationInterface {
  readonly name = 'PlannerStatistics0000000000017';

  async up(runner: QueryRunner): Promise<void> {
    for (const [table, columns] of Object.entries(SHARED)) {
      for (const column of columns) await runner.query(SUPPOSE, [table, column, DISTINCT[column]]);
    }
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward.'));
  }
}

/** Of the ten pages for which an empty table is taken. */
const DISTINCT = { venue: 2, profile_id: 20 } as const;

/** Columns that more than one index of their table begins with, or that say little alone. */
const SHARED: Readonly<Record<string, readonly (keyof typeof DISTINCT)[]>> = {
  entry_intents: ['venue', 'profile_id'],
  exit_intents: ['venue', 'profile_id'],
  trade_lifecycle: ['profile_id'],
  orders: ['venue', 'profile_id'],
  fills: ['venue', 'profile_id'],
  trade_history: ['profile_id'],
};

// A table that was analyzed knows better.
const SUPPOSE = `
  select pg_restore_attribute_stats('schemaname', 'public', 'relname', c.relname::text, 'attname', $2::text,
           'inherited', false, 'null_frac', 0::real, 'avg_width', 16, 'n_distinct', $3::real)
    from pg_class c where c.oid = ('public.' || $1)::regclass and c.reltuples < 0
`;
