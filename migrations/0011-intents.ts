import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What may be done about an intent before the venue has proved anything. Every write names the token of the entry lock
 * that its caller holds, and is refused with stale_lock once another may hold it. The lock is of a profile and a symbol,
 * so whoever holds it is alone with the intents of that symbol.
 */
export class Intents implements MigrationInterface {
  readonly name = 'Intents0000000000011';

  async up(runner: QueryRunner): Promise<void> {
    for (const sql of [BEGIN_ENTRY, BEGIN_EXIT, DECIDE, CANCEL, GRANTS]) await runner.query(sql);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward.'));
  }
}

// Reserving asks halts, limits, capital and the lock, all in this transaction. A refused one leaves no intent behind, so
// that the same signal may be tried again; one that was begun is begun for ever.
const BEGIN_ENTRY = `
  create type intent_verdict as (verdict text, detail text);

  create function fn_begin_entry(
    p_profile_id uuid, p_trade_id uuid, p_lock_token bigint, p_strategy text, p_signal_id text, p_amount numeric,
    p_venue text, p_symbol text, p_side text, p_type text, p_time_in_force text, p_quantity numeric,
    p_limit_price numeric, p_client_order_id text, p_actor text
  ) returns public.intent_verdict
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
  declare
    r public.intent_verdict;
    v public.ledger_verdict;
  begin
    if p_lock_token is null then raise exception 'An entry begins under the token of an entry lock.'; end if;
    select k.state into r.detail from public.entry_intents k
     where k.profile_id = p_profile_id and k.trade_id = p_trade_id;
    if found then r.verdict := 'exists'; return r; end if;
    select k.trade_id::text into r.detail from public.entry_intents k
     where k.profile_id = p_profile_id and lower(k.symbol) = lower(p_symbol) and k.is_active;
    if found then r.verdict := 'active_entry'; return r; end if;
    v := public.fn_ledger_reserve(p_profile_id => p_profile_id, p_key => 'reserve:' || p_trade_id,
      p_trade_id => p_trade_id, p_amount => p_amount, p_quantity => p_quantity, p_venue => p_venue,
      p_symbol => p_symbol, p_actor => p_actor, p_lock_token => p_lock_token);
    if v.verdict <> 'applied' then r.verdict := v.verdict; r.detail := v.detail; return r; end if;
    insert into public.entry_intents (profile_id, trade_id, strategy, signal_id, amount, venue, symbol, side, type,
      time_in_force, quantity, limit_price, client_order_id, actor, lock_token)
    values (p_profile_id, p_trade_id, p_strategy, p_signal_id, p_amount, p_venue, p_symbol, p_side, p_type,
      p_time_in_force, p_quantity, p_limit_price, p_client_order_id, p_actor, p_lock_token);
    r.verdict := 'begun';
    return r;
  end $$;
`;

// Leaves with all of the position but what the venue cannot take, which is said to be left behind.
const BEGIN_EXIT = `
  create function fn_begin_exit(
    p_profile_id uuid, p_trade_id uuid, p_generation integer, p_lock_token bigint, p_type text, p_time_in_force text,
    p_quantity numeric, p_left_behind numeric, p_limit_price numeric, p_client_order_id text, p_actor text
  ) returns public.intent_verdict
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
  declare
    r public.intent_verdict;
    t public.trade_lifecycle;
    v_position numeric;
  begin
    select * into t from public.trade_lifecycle k
     where k.profile_id = p_profile_id and k.trade_id = p_trade_id for update;
    if not found then r.verdict := 'unknown_trade'; return r; end if;
    select k.generation::text into r.detail from public.exit_intents k
     where k.profile_id = p_profile_id and k.trade_id = p_trade_id and k.is_active;
    if found then r.verdict := 'exists'; return r; end if;
    r.detail := t.state;
    if t.state = 'entering' then r.verdict := 'entry_working'; return r; end if;
    if t.state in ('closed', 'cancelled') then r.verdict := 'trade_ended'; return r; end if;
    select k.quantity into v_position from public.positions k
     where k.profile_id = p_profile_id and k.trade_id = p_trade_id;
    if t.exit_generation <> p_generation or v_position <> p_quantity + p_left_behind then
      r.verdict := 'changed_since'; return r;
    end if;
    if not public.fn_holds_entry_lock(p_profile_id, t.symbol, p_lock_token) then
      r.verdict := 'stale_lock'; return r;
    end if;
    insert into public.exit_intents (profile_id, trade_id, generation, left_behind, venue, symbol, side, type,
      time_in_force, quantity, limit_price, client_order_id, actor, lock_token)
    values (p_profile_id, p_trade_id, p_generation, p_left_behind, t.venue, t.symbol,
      case t.side when 'long' then 'sell' else 'buy' end, p_type, p_time_in_force, p_quantity, p_limit_price,
      p_client_order_id, p_actor, p_lock_token);
    if t.state = 'open' then
      update public.trade_lifecycle k set state = 'exiting'
       where k.profile_id = p_profile_id and k.trade_id = p_trade_id;
    end if;
    r.verdict := 'begun';
    return r;
  end $$;
`;

/** Keeps the first word, which tells of the submission, and the latest. */
const EVIDENCE = `case when jsonb_array_length(k.evidence) >= 20 then k.evidence - 1 else k.evidence end
      || jsonb_build_array(p_evidence || jsonb_build_object('at', clock_timestamp()))`;

// fn_note_evidence leaves the intent open; fn_reject_intent ends it, and gives the capital of an entry back. Both do
// nothing to an intent that was decided: what the venue proved is not taken back by what somebody did not find.
const DECIDE = `
  create function fn_note_evidence(
    p_profile_id uuid, p_trade_id uuid, p_generation integer, p_lock_token bigint, p_evidence jsonb,
    p_is_in_vain boolean
  ) returns public.intent_verdict
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
  declare
    r public.intent_verdict;
  begin
    if p_generation is null then
      ${noteEvidence('entry_intents', '')}
    else
      ${noteEvidence('exit_intents', 'and k.generation = p_generation')}
    end if;
    return r;
  end $$;

  create function fn_reject_intent(
    p_profile_id uuid, p_trade_id uuid, p_generation integer, p_lock_token bigint, p_reason text, p_evidence jsonb,
    p_actor text
  ) returns public.intent_verdict
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
  declare
    r public.intent_verdict;
    v public.ledger_verdict;
  begin
    if p_generation is null then
      ${rejectIntent('entry_intents', '')}
      if r.verdict = 'rejected' then
        v := public.fn_ledger_release(p_profile_id => p_profile_id, p_key => 'reject:' || p_trade_id,
          p_trade_id => p_trade_id, p_actor => p_actor);
        if v.verdict <> 'applied' then
          raise exception 'Invariant: a rejected intent gives its capital back, but the ledger said %.', v.verdict;
        end if;
      end if;
    else
      ${rejectIntent('exit_intents', 'and k.generation = p_generation')}
      if r.verdict = 'rejected' then
        update public.trade_lifecycle k
           set state = case k.state when 'exiting' then 'open' else k.state end,
               exit_generation = greatest(k.exit_generation, p_generation + 1)
         where k.profile_id = p_profile_id and k.trade_id = p_trade_id;
      end if;
    end if;
    return r;
  end $$;
`;

function onUndecided(table: string, alsoWhere: string, change: string): string {
  const row = `k.profile_id = p_profile_id and k.trade_id = p_trade_id ${alsoWhere}`;
  return `
      select case when k.state in ('pending', 'unknown') then
               case when public.fn_holds_entry_lock(k.profile_id, k.symbol, p_lock_token) then null else 'stale_lock' end
             else 'decided' end, k.state
        into r.verdict, r.detail from public.${table} k where ${row} for update;
      if not found then r.verdict := 'unknown_trade'; end if;
      if r.verdict is null then
        update public.${table} k set ${change}
         where ${row};`;
}

function noteEvidence(table: string, alsoWhere: string): string {
  return `${onUndecided(
    table,
    alsoWhere,
    `state = 'unknown', reason = p_evidence ->> 'answer', evidence = ${EVIDENCE},
               lookups_in_vain = case when p_is_in_vain then k.lookups_in_vain + 1 else k.lookups_in_vain end`,
  )}
        r.verdict := 'noted';
      end if;`;
}

function rejectIntent(table: string, alsoWhere: string): string {
  return `${onUndecided(
    table,
    alsoWhere,
    `state = 'rejected', is_active = false, decided_at = clock_timestamp(), reason = p_reason, evidence = ${EVIDENCE}`,
  )}
        r.verdict := 'rejected';
      end if;`;
}

// The wish to cancel is written down before the venue is asked, so that whoever comes next carries it on.
const CANCEL = `
  create function fn_request_cancel(p_profile_id uuid, p_trade_id uuid) returns integer
  language sql volatile security definer set search_path = pg_catalog, pg_temp as $$
    with entry as (
      update public.entry_intents k set cancel_requested_at = clock_timestamp()
       where k.profile_id = p_profile_id and k.trade_id = p_trade_id and k.state in ('pending', 'unknown')
         and k.cancel_requested_at is null returning 1),
    exits as (
      update public.exit_intents k set cancel_requested_at = clock_timestamp()
       where k.profile_id = p_profile_id and k.trade_id = p_trade_id and k.state in ('pending', 'unknown')
         and k.cancel_requested_at is null returning 1),
    working as (
      update public.orders k set cancel_requested_at = clock_timestamp()
       where k.profile_id = p_profile_id and k.trade_id = p_trade_id
         and k.status in ('pending', 'open', 'partially-filled') and k.cancel_requested_at is null returning 1)
    select ((select count(*) from entry) + (select count(*) from exits) + (select count(*) from working))::integer
  $$;
`;

const GRANTS = `
  revoke execute on function fn_begin_entry, fn_begin_exit, fn_note_evidence, fn_reject_intent, fn_request_cancel
    from public;
  grant execute on function fn_begin_entry, fn_begin_exit, fn_note_evidence, fn_reject_intent, fn_request_cancel
    to flotilla_app;
`;
