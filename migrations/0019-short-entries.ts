import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The way of an entry through Postgres in fewer statements: each is prepared anew in every transaction, which costs more
 * than what it does. Nothing else changes.
 */
export class ShortEntries implements MigrationInterface {
  readonly name = 'ShortEntries0000000000019';

  async up(runner: QueryRunner): Promise<void> {
    for (const lock of [ENTRY_LOCK, RECONCILIATION_LOCK]) {
      await runner.query(holdsLock(lock));
      await runner.query(releaseLock(lock));
    }
    await runner.query(BEGIN_ENTRY);
    await runner.query(PERSIST_ENTRY);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward.'));
  }
}

/** A plan is made once in a session: by index, however small the tables are then. */
const FUNCTION = `language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp set enable_seqscan = off`;

interface Lock {
  readonly name: string;
  readonly args: string;
  readonly matches: string;
}

const ENTRY_LOCK: Lock = {
  name: 'entry',
  args: 'p_profile_id uuid, p_symbol text',
  matches: 'k.profile_id = p_profile_id and k.symbol = lower(p_symbol)',
};

const RECONCILIATION_LOCK: Lock = {
  name: 'reconciliation',
  args: 'p_profile_id uuid',
  matches: 'k.profile_id = p_profile_id',
};

function holdsLock({ name, args, matches }: Lock): string {
  return `
  create or replace function fn_holds_${name}_lock(${args}, p_token bigint) returns boolean
  ${FUNCTION} as $$
  declare
    v_expires_at timestamptz;
  begin
    select k.expires_at into v_expires_at from public.${name}_locks k
     where ${matches} and k.token = p_token for share;
    -- By a clock read after the wait: another transaction may have held the row for long.
    return coalesce(v_expires_at > clock_timestamp(), false);
  end $$;
  `;
}

function releaseLock({ name, args, matches }: Lock): string {
  return `
  create or replace function fn_release_${name}_lock_row(${args}, p_owner text) returns boolean
  ${FUNCTION} as $$
  begin
    update public.${name}_locks k set expires_at = clock_timestamp()
     where ${matches} and k.owner = p_owner and k.expires_at > clock_timestamp();
    return found;
  end $$;
  `;
}

// Reserving asks halts, limits, capital and the lock, all in this transaction. A refused one leaves no intent behind, so
// that the same signal may be tried again; one that was begun is begun for ever.
const BEGIN_ENTRY = `
  create or replace function fn_begin_entry(
    p_profile_id uuid, p_trade_id uuid, p_lock_token bigint, p_strategy text, p_signal_id text, p_amount numeric,
    p_venue text, p_symbol text, p_side text, p_type text, p_time_in_force text, p_quantity numeric,
    p_limit_price numeric, p_client_order_id text, p_actor text
  ) returns public.intent_verdict
  ${FUNCTION} as $$
  declare
    v_state text;
    v_active uuid;
    v public.ledger_verdict;
  begin
    if p_lock_token is null then raise exception 'An entry begins under the token of an entry lock.'; end if;
    select (select k.state from public.entry_intents k where k.profile_id = p_profile_id and k.trade_id = p_trade_id),
           (select k.trade_id from public.entry_intents k
             where k.profile_id = p_profile_id and lower(k.symbol) = lower(p_symbol) and k.is_active)
      into v_state, v_active;
    if v_state is not null then return row ('exists', v_state)::public.intent_verdict; end if;
    if v_active is not null then return row ('active_entry', v_active)::public.intent_verdict; end if;
    v := public.fn_ledger_reserve(p_profile_id => p_profile_id, p_key => 'reserve:' || p_trade_id,
      p_trade_id => p_trade_id, p_amount => p_amount, p_quantity => p_quantity, p_venue => p_venue,
      p_symbol => p_symbol, p_actor => p_actor, p_lock_token => p_lock_token);
    if v.verdict <> 'applied' then return row (v.verdict, v.detail)::public.intent_verdict; end if;
    insert into public.entry_intents (profile_id, trade_id, strategy, signal_id, amount, venue, symbol, side, type,
      time_in_force, quantity, limit_price, client_order_id, actor, lock_token)
    values (p_profile_id, p_trade_id, p_strategy, p_signal_id, p_amount, p_venue, p_symbol, p_side, p_type,
      p_time_in_force, p_quantity, p_limit_price, p_client_order_id, p_actor, p_lock_token);
    return row ('begun', null)::public.intent_verdict;
  end $$;
`;

const SIDE = `case i.side when 'buy' then 'long' else 'short' end`;

// Nearly always a venue has just taken the order and filled nothing of it. Then one statement makes all its rows, if the
// intent still waits for them, the lock is held, and the venue's id is new. Whatever else a report may be is applied as
// every report is, which also says why not.
const PERSIST_ENTRY = `
  create or replace function fn_persist_entry_lifecycle(
    p_profile_id uuid, p_trade_id uuid, p_lock_token bigint, p_report jsonb, p_source text default 'submit'
  ) returns public.intent_verdict
  ${FUNCTION} as $$
  declare
    r public.intent_verdict;
    e public.entry_intents;
    v_order_id constant text := p_report ->> 'orderId';
    v_client_order_id constant text := p_report ->> 'clientOrderId';
    v_status constant text := p_report ->> 'status';
    v_created_at constant timestamptz := (p_report ->> 'createdAt')::timestamptz;
  begin
    if v_status in ('pending', 'open') and (p_report ->> 'filledQuantity')::numeric = 0 and p_report -> 'fills' = '[]' then
      with intent as (
        update public.entry_intents k set state = 'confirmed', decided_at = clock_timestamp(), reason = null
         where k.profile_id = p_profile_id and k.trade_id = p_trade_id and k.state in ('pending', 'unknown')
           and k.client_order_id = v_client_order_id and k.symbol = p_report ->> 'symbol'
           and not exists (select from public.orders o where o.venue = k.venue and o.order_id = v_order_id)
           and public.fn_holds_entry_lock(p_profile_id, k.symbol, p_lock_token)
        returning k.venue, k.symbol, k.side, k.type, k.quantity, k.limit_price, k.strategy, k.signal_id,
                  k.cancel_requested_at),
      trade as (
        insert into public.trade_lifecycle (profile_id, trade_id, venue, symbol, side, strategy, signal_id, state)
        select p_profile_id, p_trade_id, i.venue, i.symbol, ${SIDE}, i.strategy, i.signal_id, 'entering' from intent i),
      position as (
        insert into public.positions (profile_id, trade_id, venue, symbol, side)
        select p_profile_id, p_trade_id, i.venue, i.symbol, ${SIDE} from intent i),
      history as (
        insert into public.trade_history (profile_id, trade_id, event, detail, happened_at)
        select p_profile_id, p_trade_id, 'entry-confirmed',
               jsonb_build_object('orderId', v_order_id, 'clientOrderId', v_client_order_id), v_created_at from intent)
      insert into public.orders (venue, order_id, profile_id, trade_id, purpose, client_order_id, symbol, side, type,
        quantity, limit_price, status, cancel_requested_at, created_at, updated_at)
      select i.venue, v_order_id, p_profile_id, p_trade_id, 'entry', v_client_order_id, i.symbol, i.side, i.type,
             i.quantity, i.limit_price, v_status, i.cancel_requested_at, v_created_at,
             greatest(v_created_at, (p_report ->> 'updatedAt')::timestamptz)
        from intent i;
      if found then return row ('persisted', 'changed')::public.intent_verdict; end if;
    end if;

    select * into e from public.entry_intents k where k.profile_id = p_profile_id and k.trade_id = p_trade_id;
    if not found then r.verdict := 'unknown_trade'; return r; end if;
    if e.client_order_id is distinct from v_client_order_id then
      r.verdict := 'another_order'; r.detail := e.client_order_id; return r;
    end if;
    if not public.fn_holds_entry_lock(p_profile_id, e.symbol, p_lock_token) then
      r.verdict := 'stale_lock'; return r;
    end if;
    r.detail := public.fn_apply_order_report(e.venue, p_report, p_source);
    r.verdict := case r.detail when 'unknown_order' then 'another_order' else 'persisted' end;
    return r;
  end $$;
`;
