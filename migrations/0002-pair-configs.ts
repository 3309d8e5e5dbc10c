import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The pairs that an operator configured. They are no facts of trading, so the application may change them freely. */
export class PairConfigs implements MigrationInterface {
  readonly name = 'PairConfigs0000000000002';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table pair_configs (
        id text constraint pair_configs_pkey primary key
          constraint pair_id_fits_files_and_keys check (id ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
        venue text not null constraint pair_venue_is_named check (venue <> ''),
        symbol text not null constraint pair_symbol_is_named check (symbol <> ''),
        strategy_name text not null,
        strategy_params jsonb not null
          constraint pair_strategy_params_are_an_object check (jsonb_typeof(strategy_params) = 'object'),
        interval_sec integer not null constraint pair_interval_is_within_a_day check (interval_sec between 1 and 86400),
        profiles text[] not null,
        enabled boolean not null,
        created_at timestamptz not null default now(),
        updated_at timestamptz not null default now()
      );
      grant select, insert, update, delete on pair_configs to flotilla_app;
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward.'));
  }
}
