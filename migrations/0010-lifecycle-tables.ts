import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What becomes of a signal. An intent is written before the venue is called, and holds its capital until the venue has
 * proved what came of it. The lifecycle is written after the venue confirmed: the trade, its orders, its position and
 * its history. A fill is one execution at the venue; capital moves by fills and by nothing else a venue says.
 *
 * The application reads these tables; only the functions of the next migrations write them.
 */
export class LifecycleTables implements MigrationInterface {
  readonly name = 'LifecycleTables0000000000010';

  async up(runner: QueryRunner): Promise<void> {
    for (const sql of [ORDER_STATES, INTENTS, TRADES, ORDERS, HISTORY]) await runner.query(sql);
    for (const table of TABLES) await runner.query(guarded(table));
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward.'));
  }
}

const APPEND_ONLY = ['fills', 'trade_history'];
const TABLES = ['entry_intents', 'exit_intents', 'trade_lifecycle', 'positions', 'orders', ...APPEND_ONLY];

// The way an order may go. One that is not here is not gone: reports come late, twice and out of order.
const ORDER_STATES = `
  create table order_transitions (
    from_status text not null,
    to_status text not null constraint a_transition_leads_elsewhere check (from_status <> to_status),
    constraint order_transitions_pkey primary key (from_status, to_status)
  );
  insert into order_transitions
  select f.status, t.status
    from unnest('{pending,open,partially-filled}'::text[]) with ordinality f(status, position)
    join unnest('{open,partially-filled,filled,cancelled,expired,rejected,replaced}'::text[])
         with ordinality t(status, position) on t.position >= f.position
   where not (f.status = 'partially-filled' and t.status = 'rejected');
  grant select on order_transitions to flotilla_app;
`;

/** What an intent of either kind says of its order, and what is known of its outcome. */
const INTENT = `
    venue text not null,
    symbol text not null,
    side text not null,
    type text not null,
    time_in_force text not null,
    quantity numeric not null,
    limit_price numeric,
    client_order_id text not null,
    actor text not null,
    lock_token bigint not null,
    state text not null default 'pending',
    is_active boolean not null default true,
    reason text,
    lookups_in_vain integer not null default 0,
    evidence jsonb not null default '[]',
    cancel_requested_at timestamptz,
    created_at timestamptz not null default clock_timestamp(),
    decided_at timestamptz`;

const INTENT_CHECKS = `
    constraint intent_is_of_an_order check (side in ('buy', 'sell') and quantity > 0 and client_order_id <> ''
      and (type = 'limit') = (limit_price is not null)),
    constraint intent_is_decided_once check (state in ('pending', 'unknown', 'confirmed', 'rejected')
      and (decided_at is not null) = (state in ('confirmed', 'rejected'))),
    constraint intent_without_proof_is_active check (is_active or state in ('confirmed', 'rejected'))`;

// is_active: it stands in the way of another entry of its symbol, or of another exit of its trade.
const INTENTS = `
  create table entry_intents (
    profile_id uuid not null references profiles,
    trade_id uuid not null,
    strategy text not null,
    signal_id text not null,
    amount numeric not null,
    ${INTENT},
    constraint entry_intents_pkey primary key (profile_id, trade_id),
    ${INTENT_CHECKS}
  ) with (fillfactor = 70);
  create unique index one_active_entry on entry_intents (profile_id, lower(symbol)) where is_active;
  create unique index entry_intents_client_order_id on entry_intents (venue, client_order_id);
  create index entry_intents_by_time on entry_intents (profile_id, created_at, trade_id);
  create index entry_intents_undecided on entry_intents (venue, created_at) where state in ('pending', 'unknown');

  create table exit_intents (
    profile_id uuid not null,
    trade_id uuid not null,
    generation integer not null constraint exit_generation_counts_from_zero check (generation >= 0),
    left_behind numeric not null constraint left_behind_is_not_negative check (left_behind >= 0),
    ${INTENT},
    constraint exit_intents_pkey primary key (profile_id, trade_id, generation),
    ${INTENT_CHECKS}
  ) with (fillfactor = 70);
  create unique index one_active_exit on exit_intents (profile_id, trade_id) where is_active;
  create unique index exit_intents_client_order_id on exit_intents (venue, client_order_id);
  create index exit_intents_undecided on exit_intents (venue, created_at) where state in ('pending', 'unknown');
`;

// disputed: the venue proved something after the trade had ended, or more than was ordered; a person decides.
const TRADES = `
  create table trade_lifecycle (
    profile_id uuid not null,
    trade_id uuid not null,
    venue text not null,
    symbol text not null,
    side text not null constraint trade_is_long_or_short check (side in ('long', 'short')),
    strategy text not null,
    signal_id text not null,
    state text not null constraint trade_state_is_known
      check (state in ('entering', 'open', 'exiting', 'closed', 'cancelled', 'disputed')),
    exit_generation integer not null default 0,
    confirmed_at timestamptz not null default clock_timestamp(),
    ended_at timestamptz,
    constraint trade_lifecycle_pkey primary key (profile_id, trade_id),
    constraint trade_has_an_intent foreign key (profile_id, trade_id) references entry_intents,
    constraint trade_that_ended_has_a_time check ((ended_at is not null) = (state in ('closed', 'cancelled')))
  ) with (fillfactor = 70);
  create unique index one_active_trade on trade_lifecycle (profile_id, lower(symbol))
    where state in ('entering', 'open', 'exiting');

  create table positions (
    profile_id uuid not null,
    trade_id uuid not null,
    venue text not null,
    symbol text not null,
    side text not null,
    quantity numeric not null default 0,
    entry_quantity numeric not null default 0,
    entry_notional numeric not null default 0,
    exit_quantity numeric not null default 0,
    exit_notional numeric not null default 0,
    fees numeric not null default 0,
    realized_pnl numeric not null default 0,
    opened_at timestamptz,
    closed_at timestamptz,
    constraint positions_pkey primary key (profile_id, trade_id),
    constraint position_belongs_to_a_trade foreign key (profile_id, trade_id) references trade_lifecycle,
    constraint position_is_not_negative check (least(quantity, entry_quantity, exit_quantity) >= 0)
  ) with (fillfactor = 70);
  create index positions_that_are_open on positions (venue, symbol) where quantity > 0;
`;

// filled_quantity is what the venue says, booked_quantity what its fills add up to. settled_at: it has ended, its fills
// are whole, and what was left of its reservation was given back. Of a fill, moved_quantity and moved_amount are what it
// did to the position and its capital: a fee taken from what was bought makes them less than quantity and price say.
// fee_charged is null where the fee is in an asset whose price is not known.
const ORDERS = `
  create table orders (
    venue text not null,
    order_id text not null,
    profile_id uuid not null,
    trade_id uuid not null,
    purpose text not null constraint order_enters_or_leaves check (purpose in ('entry', 'exit')),
    generation integer not null default 0,
    client_order_id text not null,
    symbol text not null,
    side text not null,
    type text not null,
    quantity numeric not null,
    limit_price numeric,
    status text not null constraint order_status_is_known check (status in
      ('pending', 'open', 'partially-filled', 'filled', 'cancelled', 'expired', 'rejected', 'replaced')),
    filled_quantity numeric not null default 0,
    booked_quantity numeric not null default 0,
    average_price numeric,
    cancel_requested_at timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    recorded_at timestamptz not null default clock_timestamp(),
    settled_at timestamptz,
    constraint orders_pkey primary key (venue, order_id),
    constraint orders_client_order_id unique (venue, client_order_id),
    constraint orders_of_a_trade unique (profile_id, trade_id, purpose, generation),
    constraint order_belongs_to_a_trade foreign key (profile_id, trade_id) references trade_lifecycle,
    constraint order_is_booked_as_far_as_filled check (booked_quantity between 0 and filled_quantity)
  ) with (fillfactor = 70);
  create index orders_unsettled on orders (venue, symbol) where settled_at is null;

  create table fills (
    venue text not null,
    order_id text not null,
    fill_id text not null,
    profile_id uuid not null,
    trade_id uuid not null,
    booking bigint generated always as identity,
    quantity numeric not null,
    price numeric not null,
    fee_amount numeric not null,
    fee_asset text,
    fee_charged numeric,
    moved_quantity numeric not null,
    moved_amount numeric not null,
    source text not null,
    happened_at timestamptz not null,
    recorded_at timestamptz not null default clock_timestamp(),
    constraint fills_pkey primary key (venue, order_id, fill_id),
    constraint fill_belongs_to_an_order foreign key (venue, order_id) references orders,
    constraint fill_is_of_something check (quantity > 0 and price > 0)
  );
  create index fills_by_trade on fills (profile_id, trade_id, booking);
`;

const HISTORY = `
  create table trade_history (
    history_id bigint generated always as identity constraint trade_history_pkey primary key,
    profile_id uuid not null,
    trade_id uuid not null,
    event text not null,
    detail jsonb not null default '{}',
    happened_at timestamptz not null,
    recorded_at timestamptz not null default clock_timestamp()
  );
  create index trade_history_by_profile on trade_history (profile_id, history_id);
  create index trade_history_by_trade on trade_history (profile_id, trade_id, history_id);
`;

function guarded(table: string): string {
  const own = `profile_id in (
      select p.profile_id from public.profiles p where p.owner_id = current_setting('flotilla.tenant', true))`;
  const forbidden = APPEND_ONLY.includes(table) ? 'update or delete or truncate' : 'delete or truncate';
  return `
    alter table ${table} enable row level security;
    alter table ${table} force row level security;
    create policy owner_works on ${table} to flotilla_owner using (true) with check (true);
    create policy service_sees_all on ${table} to flotilla_app using (true) with check (true);
    create policy tenant_sees_own on ${table} to flotilla_tenant using (${own}) with check (${own});
    grant select on ${table} to flotilla_app, flotilla_tenant;
    create trigger ${table}_stay before ${forbidden} on ${table}
      for each statement execute function fn_refuse_change();
  `;
}
