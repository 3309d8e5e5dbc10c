import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The tables of the capital ledger. The application may read them; only the functions of the next migration write.
 * A row of capital_ledger is a fold of the profile's journal, kept so that a decision is one read; the chain of hashes
 * in the journal ends in the row's last_hash, so that a journal cut short is noticed as well.
 */
export class CapitalLedger implements MigrationInterface {
  readonly name = 'CapitalLedger0000000000004';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(LEDGER);
    await runner.query(JOURNAL);
    await runner.query(LIMITS_AND_HALTS);
    for (const table of ['capital_ledger', 'ledger_entries', 'reservations', 'profile_limits', 'halts']) {
      await runner.query(rowSecurity(table));
    }
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward.'));
  }
}

// Updated by every command: no index but the key, and half of each page free, so that updates stay in their page.
// Postgres reads a table's checks anew in every statement, so there are few of them, each with several things to say.
const LEDGER = `
  create table capital_ledger (
    profile_id uuid constraint capital_ledger_pkey primary key references profiles,
    allocated_capital numeric not null default 0,
    reserved_for_orders numeric not null default 0,
    reserved_for_positions numeric not null default 0,
    realized_pnl numeric not null default 0,
    available_capital numeric not null generated always as
      (allocated_capital - reserved_for_orders - reserved_for_positions + realized_pnl) stored,
    open_trades integer not null default 0,
    pnl_day date not null default 'epoch',
    pnl_of_day numeric not null default 0,
    last_sequence bigint not null default 0,
    last_hash bytea not null,
    breached_at timestamptz,
    constraint reserved_is_not_negative check (least(reserved_for_orders, reserved_for_positions) >= 0),
    constraint available_is_negative_only_in_a_breach check ((available_capital < 0) = (breached_at is not null))
  ) with (fillfactor = 50);

  create table reservations (
    profile_id uuid not null,
    trade_id uuid not null,
    order_quantity numeric not null,
    reserved_for_orders numeric not null,
    position_quantity numeric not null,
    reserved_for_positions numeric not null,
    changed_sequence bigint not null,
    constraint reservations_pkey primary key (profile_id, trade_id),
    constraint reservation_is_not_negative
      check (least(order_quantity, reserved_for_orders, position_quantity, reserved_for_positions) >= 0)
  ) with (fillfactor = 80);
`;

// No foreign keys: the functions hold the profile's ledger row locked, which is a stronger proof that it exists and
// costs nothing per entry. The key is unique through a digest of 16 bytes, a quarter of what the text would take.
const JOURNAL = `
  create type ledger_command as enum ('deposit', 'withdraw', 'reserve', 'release', 'fill', 'close', 'rebuild');
  create type ledger_bucket as enum ('outside', 'available', 'orders', 'positions', 'pnl');

  create table ledger_entries (
    profile_id uuid not null,
    sequence bigint not null,
    happened_at timestamptz not null,
    recorded_at timestamptz not null,
    fingerprint integer not null,
    command ledger_command not null,
    source ledger_bucket not null,
    target ledger_bucket not null,
    part smallint not null,
    trade_id uuid,
    amount numeric not null,
    idempotency_key text not null,
    actor text not null,
    hash bytea not null,
    constraint ledger_entries_pkey primary key (profile_id, sequence),
    constraint entry_moves_an_amount_between_two_buckets check (amount > 0 and amount < 1e24 and source <> target)
  );
  create unique index ledger_entries_key on ledger_entries (
    hashtextextended(idempotency_key, uuid_hash_extended(profile_id, 0)),
    hashtextextended(idempotency_key, uuid_hash_extended(profile_id, 1))
  ) where part = 0;

  create trigger journal_is_append_only before update or delete or truncate on ledger_entries
    for each statement execute function fn_refuse_change();
  create trigger ledger_rows_stay before delete or truncate on capital_ledger
    for each statement execute function fn_refuse_change();
  create trigger reservations_stay before delete or truncate on reservations
    for each statement execute function fn_refuse_change();

  grant select on capital_ledger, reservations, ledger_entries to flotilla_app, flotilla_tenant;
`;

// Null means: no limit. In a halt it means: whatever it is; so a halt of nothing but nulls stops everything.
const LIMITS_AND_HALTS = `
  create table profile_limits (
    profile_id uuid constraint profile_limits_pkey primary key references profiles,
    order_notional_max numeric
      constraint order_notional_max_is_an_amount check (order_notional_max > 0 and order_notional_max < 1e20),
    open_positions_max integer constraint open_positions_max_is_a_count check (open_positions_max >= 0),
    daily_loss_max numeric constraint daily_loss_max_is_an_amount check (daily_loss_max > 0 and daily_loss_max < 1e20),
    updated_at timestamptz not null default now()
  );

  create table halts (
    halt_id uuid constraint halts_pkey primary key default gen_random_uuid(),
    scope text not null generated always as (
      case when symbol is not null then 'symbol'
           when profile_id is not null then 'profile'
           when venue is not null then 'venue'
           else 'global' end) stored,
    venue text constraint halt_venue_is_named check (venue <> ''),
    profile_id uuid references profiles,
    symbol text constraint halt_symbol_is_lower_case check (symbol <> '' and symbol = lower(symbol)),
    reason text not null constraint halt_has_a_reason check (reason ~ '[^[:space:]]'),
    created_by text not null constraint halt_has_an_author check (created_by <> ''),
    created_at timestamptz not null default clock_timestamp(),
    constraint halts_are_said_once unique nulls not distinct (venue, profile_id, symbol, reason)
  );

  grant select, insert, update on profile_limits to flotilla_app, flotilla_tenant;
  grant select, insert, delete on halts to flotilla_app;
  grant select on halts to flotilla_tenant;
`;

function rowSecurity(table: string): string {
  const own = `profile_id in (
      select p.profile_id from public.profiles p where p.owner_id = current_setting('flotilla.tenant', true))`;
  return `
    alter table ${table} enable row level security;
    alter table ${table} force row level security;
    create policy owner_works on ${table} to flotilla_owner using (true) with check (true);
    create policy service_sees_all on ${table} to flotilla_app using (true) with check (true);
    create policy tenant_sees_own on ${table} to flotilla_tenant using (${own}) with check (${own});
  `;
}
