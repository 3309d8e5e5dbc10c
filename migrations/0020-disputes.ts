import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A disputed trade stays disputed until a person settles it: an order of it that ends says nothing of what was disputed.
 * And what was left behind counts in a trade's truth wherever it stands between the fills, whatever becomes of the trade.
 */
export class Disputes implements MigrationInterface {
  readonly name = 'Disputes0000000000020';

  async up(runner: QueryRunner): Promise<void> {
    for (const sql of [SETTLE_ORDER, TRUTH, SETTLE_DISPUTE, GRANTS]) await runner.query(sql);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward.'));
  }
}

const FUNCTION = `language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp set enable_seqscan = off`;

/** The name by which the ledger knows who moved capital here. */
const ACTOR = `'lifecycle'`;

// Called once for an order, when it has ended and its fills are whole.
const SETTLE_ORDER = `
  create or replace function fn_settle_order(o public.orders) returns void
  ${FUNCTION} as $$
  declare
    t public.trade_lifecycle;
    p public.positions;
    v_reserved numeric;
    v_cost numeric;
    v_left_behind numeric;
    v_state text;
  begin
    select * into t from public.trade_lifecycle k
     where k.profile_id = o.profile_id and k.trade_id = o.trade_id for update;
    select * into p from public.positions k where k.profile_id = o.profile_id and k.trade_id = o.trade_id for update;
    if o.purpose = 'entry' then
      select k.reserved_for_orders into v_reserved from public.reservations k
       where k.profile_id = o.profile_id and k.trade_id = o.trade_id;
      if v_reserved > 0 then
        perform public.fn_ledger_release(p_profile_id => o.profile_id, p_key => 'settle:' || o.trade_id,
          p_trade_id => o.trade_id, p_actor => ${ACTOR});
      end if;
      v_state := case when t.state = 'disputed' then t.state
                      when p.quantity = 0 and p.exit_quantity = 0 then 'cancelled'
                      when t.state = 'entering' then 'open' else t.state end;
    else
      update public.exit_intents k set is_active = false
       where k.profile_id = o.profile_id and k.trade_id = o.trade_id and k.generation = o.generation
      returning k.left_behind into v_left_behind;
      -- What the venue could not take is too little to trade: written off with the trade that it was left by.
      if o.status = 'filled' and p.quantity > 0 and p.quantity <= v_left_behind then
        perform from public.capital_ledger k where k.profile_id = o.profile_id for update;
        select k.reserved_for_positions into v_cost from public.reservations k
         where k.profile_id = o.profile_id and k.trade_id = o.trade_id;
        perform public.fn_ledger_close(p_profile_id => o.profile_id, p_key => 'left-behind:' || o.trade_id,
          p_trade_id => o.trade_id, p_quantity => p.quantity, p_pnl => -v_cost, p_actor => ${ACTOR});
        update public.positions k set quantity = 0, realized_pnl = k.realized_pnl - v_cost
         where k.profile_id = o.profile_id and k.trade_id = o.trade_id;
        insert into public.trade_history (profile_id, trade_id, event, detail, happened_at)
        select o.profile_id, o.trade_id, 'left-behind', jsonb_build_object('quantity', p.quantity::text,
                 'cost', v_cost::text, 'afterBooking', max(k.booking)), o.updated_at
          from public.fills k where k.profile_id = o.profile_id and k.trade_id = o.trade_id;
        p.quantity := 0;
      end if;
      v_state := case when t.state = 'disputed' then t.state when p.quantity = 0 then 'closed'
                      when t.state = 'exiting' then 'open' else t.state end;
      update public.trade_lifecycle k set exit_generation = greatest(k.exit_generation, o.generation + 1)
       where k.profile_id = o.profile_id and k.trade_id = o.trade_id;
    end if;

    insert into public.trade_history (profile_id, trade_id, event, detail, happened_at)
    values (o.profile_id, o.trade_id, o.purpose || '-' || o.status,
      jsonb_build_object('orderId', o.order_id, 'filledQuantity', o.filled_quantity::text), o.updated_at);
    if v_state <> t.state then
      update public.trade_lifecycle k
         set state = v_state, ended_at = case when v_state in ('closed', 'cancelled') then clock_timestamp() end
       where k.profile_id = o.profile_id and k.trade_id = o.trade_id;
    end if;
    if v_state in ('closed', 'cancelled') then
      update public.entry_intents k set is_active = false
       where k.profile_id = o.profile_id and k.trade_id = o.trade_id and k.is_active;
      update public.positions k set closed_at = o.updated_at
       where k.profile_id = o.profile_id and k.trade_id = o.trade_id;
    end if;
  end $$;
`;

const SHARE = (whole: string, part: string, of: string): string =>
  `case when ${part} >= ${of} then ${whole} else div(${whole} * ${part} * 1e18, ${of}) * 1e-18 end`;

const TRUTH = `
  create or replace function fn_lifecycle_truth(p_profile_id uuid) returns table (
    trade_id uuid, order_amount numeric, order_quantity numeric, position_amount numeric, position_quantity numeric,
    is_same boolean)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
  #variable_conflict use_variable
  declare
    i record;
    f record;
    v_share numeric;
  begin
    for i in
      select r.trade_id, r.reserved_for_orders, r.order_quantity, r.reserved_for_positions, r.position_quantity,
             e.amount, e.quantity, e.state, o.settled_at
        from (select k.trade_id from public.entry_intents k where k.profile_id = p_profile_id and k.is_active
              union select k.trade_id from public.trade_lifecycle k
                     where k.profile_id = p_profile_id and k.state = 'disputed'
              union select k.trade_id from public.reservations k
                     where k.profile_id = p_profile_id and (k.reserved_for_orders > 0 or k.reserved_for_positions > 0)) x
        join public.reservations r on r.profile_id = p_profile_id and r.trade_id = x.trade_id
        left join public.entry_intents e on e.profile_id = p_profile_id and e.trade_id = x.trade_id
        left join public.orders o on o.profile_id = p_profile_id and o.trade_id = x.trade_id and o.purpose = 'entry'
       order by x.trade_id
    loop
      trade_id := i.trade_id;
      order_amount := case when i.state is null or i.state = 'rejected' then 0 else i.amount end;
      order_quantity := case when i.state is null or i.state = 'rejected' then 0 else i.quantity end;
      position_amount := 0; position_quantity := 0;
      for f in
        select x.* from (
          select k.moved_quantity, k.moved_amount, o.purpose, k.booking from public.fills k
            join public.orders o on o.venue = k.venue and o.order_id = k.order_id
           where k.profile_id = p_profile_id and k.trade_id = i.trade_id and k.moved_quantity > 0
          -- Those of earlier versions do not say after which fill they came; then the clock does.
          union all select null, null, 'left-behind', coalesce((k.detail ->> 'afterBooking')::bigint, (
                   select max(b.booking) from public.fills b
                    where b.profile_id = p_profile_id and b.trade_id = i.trade_id and b.recorded_at <= k.recorded_at))
            from public.trade_history k
           where k.profile_id = p_profile_id and k.trade_id = i.trade_id and k.event = 'left-behind') x
        order by x.booking, x.purpose = 'left-behind'
      loop
        if f.purpose = 'left-behind' then
          position_amount := 0; position_quantity := 0;
        elsif f.purpose = 'entry' then
          v_share := ${SHARE('order_amount', 'f.moved_quantity', 'order_quantity')};
          order_amount := order_amount - v_share;
          order_quantity := greatest(order_quantity - f.moved_quantity, 0);
          position_amount := position_amount + f.moved_amount;
          position_quantity := position_quantity + f.moved_quantity;
        else
          v_share := ${SHARE('position_amount', 'f.moved_quantity', 'position_quantity')};
          position_amount := position_amount - v_share;
          position_quantity := position_quantity - f.moved_quantity;
        end if;
      end loop;
      if i.settled_at is not null then order_amount := 0; order_quantity := 0; end if;
      is_same := (order_amount, order_quantity, position_amount, position_quantity) = (
        i.reserved_for_orders, i.order_quantity, i.reserved_for_positions, i.position_quantity);
      return next;
    end loop;
  end $$;
`;

// The trade goes on as what its rows say it is. Its symbol may belong to another trade by now: then one of them has to be
// left first.
const SETTLE_DISPUTE = `
  create function fn_settle_dispute(p_profile_id uuid, p_trade_id uuid, p_actor text, p_reason text)
  returns public.intent_verdict
  ${FUNCTION} as $$
  declare
    t public.trade_lifecycle;
    p public.positions;
    v_state text;
    v_other uuid;
  begin
    select * into t from public.trade_lifecycle k
     where k.profile_id = p_profile_id and k.trade_id = p_trade_id for update;
    if not found then return row ('unknown_trade', null)::public.intent_verdict; end if;
    if t.state <> 'disputed' then return row ('not_disputed', t.state)::public.intent_verdict; end if;
    select * into p from public.positions k where k.profile_id = p_profile_id and k.trade_id = p_trade_id for update;
    v_state := case
      when exists (select from public.orders k where k.profile_id = p_profile_id and k.trade_id = p_trade_id
                      and k.purpose = 'entry' and k.settled_at is null) then 'entering'
      when exists (select from public.exit_intents k where k.profile_id = p_profile_id and k.trade_id = p_trade_id
                      and k.is_active) then 'exiting'
      when p.quantity > 0 then 'open'
      when p.exit_quantity > 0 then 'closed' else 'cancelled' end;
    if v_state in ('entering', 'exiting', 'open') then
      select k.trade_id into v_other from public.entry_intents k
       where k.profile_id = p_profile_id and lower(k.symbol) = lower(t.symbol) and k.is_active
         and k.trade_id <> p_trade_id;
      if found then return row ('active_entry', v_other)::public.intent_verdict; end if;
    end if;
    update public.entry_intents k set is_active = v_state not in ('closed', 'cancelled')
     where k.profile_id = p_profile_id and k.trade_id = p_trade_id;
    update public.trade_lifecycle k
       set state = v_state, ended_at = case when v_state in ('closed', 'cancelled') then clock_timestamp() end
     where k.profile_id = p_profile_id and k.trade_id = p_trade_id;
    update public.positions k set closed_at = clock_timestamp()
     where k.profile_id = p_profile_id and k.trade_id = p_trade_id and v_state in ('closed', 'cancelled');
    insert into public.trade_history (profile_id, trade_id, event, detail, happened_at)
    values (p_profile_id, p_trade_id, 'dispute-settled', jsonb_build_object('actor', p_actor, 'reason', p_reason),
      clock_timestamp());
    return row ('settled', v_state)::public.intent_verdict;
  exception when unique_violation then
    -- An entry of the symbol was begun at this moment.
    return row ('active_entry', null)::public.intent_verdict;
  end $$;
`;

const GRANTS = `
  revoke execute on function fn_settle_dispute from public;
  grant execute on function fn_settle_dispute to flotilla_app;
`;
