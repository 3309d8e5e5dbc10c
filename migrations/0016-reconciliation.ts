import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What a sweep found and did. A correction is known by its id, which follows from its content: the same difference found
 * again is the same row. One that was made again and again is quarantined; one that a person must decide waits as asked.
 *
 * A sweep that finds nothing writes nothing. Only the functions below write; whatever concerns a profile is written under
 * the token of its reconciliation lock.
 */
export class Reconciliation implements MigrationInterface {
  readonly name = 'Reconciliation0000000000016';

  async up(runner: QueryRunner): Promise<void> {
    for (const sql of [TABLES, RUNS, CORRECTIONS, HOLDINGS, GRANTS]) await runner.query(sql);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward.'));
  }
}

const FUNCTION = 'volatile security definer set search_path = pg_catalog, pg_temp';

// recorded is what our tables said, reported what the venue said. A holding is what the account held of an asset at a
// time when nothing moved; together with our fills since, it says what the account must hold now.
const TABLES = `
  create table reconciliation_runs (
    run_id uuid constraint reconciliation_runs_pkey primary key,
    venue text not null,
    asked_by text not null,
    state text not null default 'running' constraint run_state_is_known
      check (state in ('running', 'clean', 'corrected', 'failed', 'abandoned')),
    figures jsonb not null default '{}',
    reason text,
    started_at timestamptz not null default clock_timestamp(),
    ended_at timestamptz,
    constraint run_that_ended_has_a_time check ((ended_at is null) = (state = 'running'))
  ) with (fillfactor = 70);
  create index reconciliation_runs_by_time on reconciliation_runs (started_at, run_id);
  create index reconciliation_runs_under_way on reconciliation_runs (venue) where state = 'running';

  create table reconciliation_corrections (
    correction_id text constraint reconciliation_corrections_pkey primary key,
    run_id uuid not null constraint correction_was_made_by_a_run references reconciliation_runs,
    venue text not null,
    profile_id uuid references profiles,
    trade_id uuid,
    symbol text,
    order_id text,
    rule integer not null,
    kind text not null,
    state text not null constraint correction_state_is_known
      check (state in ('applied', 'noted', 'asked', 'quarantined', 'resolved')),
    recorded jsonb,
    reported jsonb,
    times integer not null default 1,
    halt_id uuid,
    resolution text,
    resolved_by text,
    found_at timestamptz not null default clock_timestamp(),
    last_at timestamptz not null default clock_timestamp(),
    resolved_at timestamptz,
    constraint correction_that_is_resolved_says_how check ((state = 'resolved') = (resolved_at is not null)
      and (resolved_at is null) = (resolution is null) and (resolved_at is null) = (resolved_by is null))
  ) with (fillfactor = 70);
  create index reconciliation_corrections_by_time on reconciliation_corrections (found_at, correction_id);
  create index reconciliation_corrections_of_profile on reconciliation_corrections (profile_id, found_at, correction_id);
  create index reconciliation_questions on reconciliation_corrections (venue) where state in ('asked', 'quarantined');

  create table reconciliation_holdings (
    venue text not null,
    asset text not null,
    held numeric not null,
    held_at timestamptz not null,
    constraint reconciliation_holdings_pkey primary key (venue, asset)
  ) with (fillfactor = 70);

  alter table reconciliation_corrections enable row level security;
  alter table reconciliation_corrections force row level security;
  create policy owner_works on reconciliation_corrections to flotilla_owner using (true) with check (true);
  create policy service_sees_all on reconciliation_corrections to flotilla_app using (true) with check (true);
  create policy tenant_sees_own on reconciliation_corrections to flotilla_tenant using (profile_id in (
    select p.profile_id from public.profiles p where p.owner_id = current_setting('flotilla.tenant', true)));
  grant select on reconciliation_runs, reconciliation_corrections, reconciliation_holdings to flotilla_app;
  grant select on reconciliation_corrections to flotilla_tenant;
  create trigger reconciliation_runs_stay before delete or truncate on reconciliation_runs
    for each statement execute function fn_refuse_change();
  create trigger reconciliation_corrections_stay before delete or truncate on reconciliation_corrections
    for each statement execute function fn_refuse_change();

  create index fills_by_time on fills (venue, recorded_at);
`;

// A run of the same venue that never ended belonged to a process that died.
const RUNS = `
  create function fn_begin_sweep_run(p_run_id uuid, p_venue text, p_asked_by text) returns void
  language sql ${FUNCTION} as $$
    update public.reconciliation_runs k
       set state = 'abandoned', ended_at = clock_timestamp(), reason = 'the process ended in the middle of it'
     where k.venue = p_venue and k.state = 'running' and k.run_id <> p_run_id
       and k.started_at < clock_timestamp() - interval '10 minutes';
    insert into public.reconciliation_runs (run_id, venue, asked_by) values (p_run_id, p_venue, p_asked_by)
    on conflict (run_id) do nothing
  $$;

  create function fn_end_sweep_run(p_run_id uuid, p_state text, p_figures jsonb, p_reason text) returns void
  language sql ${FUNCTION} as $$
    update public.reconciliation_runs k
       set state = p_state, figures = p_figures, reason = p_reason, ended_at = clock_timestamp()
     where k.run_id = p_run_id and k.state = 'running'
  $$;
`;

// Says in which state the correction is now, stale_lock when it may not be written, and null when a person has been asked
// about it or has decided it, which is then left as it is.
const CORRECTIONS = `
  create function fn_record_correction(p_run_id uuid, p_lock_token bigint, p_correction jsonb, p_times_max integer)
  returns text
  language plpgsql ${FUNCTION} as $$
  declare
    v_id constant text := p_correction ->> 'id';
    v_profile_id constant uuid := (p_correction ->> 'profileId')::uuid;
    v_state text;
  begin
    if v_profile_id is not null and not public.fn_holds_reconciliation_lock(v_profile_id, p_lock_token) then
      return 'stale_lock';
    end if;
    insert into public.reconciliation_corrections as k (correction_id, run_id, venue, profile_id, trade_id, symbol,
      order_id, rule, kind, state, recorded, reported)
    values (v_id, p_run_id, p_correction ->> 'venue', v_profile_id, (p_correction ->> 'tradeId')::uuid,
      p_correction ->> 'symbol', p_correction ->> 'orderId', (p_correction ->> 'rule')::integer,
      p_correction ->> 'kind', p_correction ->> 'state', p_correction -> 'recorded', p_correction -> 'reported')
    on conflict (correction_id) do update
       set times = k.times + 1, last_at = clock_timestamp(),
           state = case when k.state = 'applied' and k.times >= p_times_max then 'quarantined' else k.state end
     where k.state in ('applied', 'noted')
    returning k.state into v_state;
    return v_state;
  end $$;

  create function fn_halt_for_correction(p_correction_id text, p_halt_id uuid) returns void
  language sql ${FUNCTION} as $$
    update public.reconciliation_corrections k set halt_id = p_halt_id where k.correction_id = p_correction_id
  $$;

  create function fn_resolve_correction(p_correction_id text, p_actor text, p_resolution text)
  returns setof public.reconciliation_corrections
  language sql ${FUNCTION} as $$
    update public.reconciliation_corrections k
       set state = 'resolved', resolution = p_resolution, resolved_by = p_actor, resolved_at = clock_timestamp()
     where k.correction_id = p_correction_id and k.state in ('asked', 'quarantined')
    returning k.*
  $$;
`;

const HOLDINGS = `
  create function fn_note_holding(p_venue text, p_asset text, p_held numeric, p_held_at timestamptz) returns void
  language sql ${FUNCTION} as $$
    insert into public.reconciliation_holdings as k (venue, asset, held, held_at)
    values (p_venue, p_asset, p_held, p_held_at)
    on conflict (venue, asset) do update set held = excluded.held, held_at = excluded.held_at
     where k.held_at < excluded.held_at
  $$;
`;

const NAMES =
  'fn_begin_sweep_run, fn_end_sweep_run, fn_record_correction, fn_halt_for_correction, fn_resolve_correction, fn_note_holding';

const GRANTS = `
  revoke execute on function ${NAMES} from public;
  grant execute on function ${NAMES} to flotilla_app;
`;
