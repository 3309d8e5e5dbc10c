import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What a venue says of an order, from whatever source, applied by one function. Reports come late, twice, out of order
 * and with gaps, so nothing depends on their order: a status only goes forward, a filled quantity only grows, a fill is
 * known by its id, and capital moves by fills alone. An order is settled once it has ended and its fills are whole.
 *
 * What a venue proved is recorded whatever it is. Where it contradicts what we had concluded, the trade is disputed and
 * its symbol halted for the profile, and a person decides.
 *
 * Rows are locked in one order: the intent, the order, the trade, its position, the ledger. Two reports of one trade
 * therefore never wait for each other in a circle.
 */
export class OrderReports implements MigrationInterface {
  readonly name = 'OrderReports0000000000012';

  async up(runner: QueryRunner): Promise<void> {
    for (const sql of [DISPUTE, RECORD_ORDER, BOOK_FILL, SETTLE_ORDER, APPLY, PERSIST, GRANTS]) await runner.query(sql);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward.'));
  }
}

const FUNCTION = 'language plpgsql volatile security definer set search_path = pg_catalog, pg_temp';

/** The name by which the ledger knows who moved capital here. */
const ACTOR = `'lifecycle'`;

const DISPUTE = `
  create function fn_halt_symbol(p_profile_id uuid, p_symbol text, p_reason text) returns void
  ${FUNCTION} as $$
  begin
    insert into public.halts (profile_id, symbol, reason, created_by)
    values (p_profile_id, lower(p_symbol), p_reason, ${ACTOR}) on conflict do nothing;
  end $$;

  create function fn_dispute_trade(p_profile_id uuid, p_trade_id uuid, p_reason text) returns void
  ${FUNCTION} as $$
  declare
    v_symbol text;
  begin
    if exists (select from public.trade_history k where k.profile_id = p_profile_id and k.trade_id = p_trade_id
                and k.event = 'disputed' and k.detail ->> 'reason' = p_reason) then return; end if;
    update public.trade_lifecycle k set state = 'disputed', ended_at = null
     where k.profile_id = p_profile_id and k.trade_id = p_trade_id returning k.symbol into v_symbol;
    insert into public.trade_history (profile_id, trade_id, event, detail, happened_at)
    values (p_profile_id, p_trade_id, 'disputed', jsonb_build_object('reason', p_reason), clock_timestamp());
    perform public.fn_halt_symbol(p_profile_id, v_symbol, format('trade %s: %s', p_trade_id, p_reason));
  end $$;
`;

// Makes the rows of an order that is not known yet, if it is of one of our intents; null if it is not. An intent that
// had been rejected gets its capital back as well as it can: the order is there.
const RECORD_ORDER = `
  create function fn_record_order(p_venue text, p_report jsonb) returns public.orders
  ${FUNCTION} as $$
  declare
    e public.entry_intents;
    x public.exit_intents;
    o public.orders;
    v_client_order_id constant text := p_report ->> 'clientOrderId';
    v_is_entry boolean;
    v_is_late boolean;
    v_until bigint;
  begin
    select * into e from public.entry_intents k
     where k.venue = p_venue and k.client_order_id = v_client_order_id for update;
    v_is_entry := found;
    if not v_is_entry then
      select * into x from public.exit_intents k
       where k.venue = p_venue and k.client_order_id = v_client_order_id for update;
      if not found then return null; end if;
    end if;
    -- Another may have recorded it while we waited for the intent.
    select * into o from public.orders k where k.venue = p_venue and k.client_order_id = v_client_order_id for update;
    if found and o.order_id <> p_report ->> 'orderId' then
      perform public.fn_dispute_trade(o.profile_id, o.trade_id,
        format('the venue has a second order %s under the client order id of %s', p_report ->> 'orderId', o.order_id));
      return null;
    elsif found then return o;
    end if;

    o.venue := p_venue;
    o.order_id := p_report ->> 'orderId';
    o.client_order_id := v_client_order_id;
    o.profile_id := case when v_is_entry then e.profile_id else x.profile_id end;
    o.trade_id := case when v_is_entry then e.trade_id else x.trade_id end;
    o.created_at := (p_report ->> 'createdAt')::timestamptz;
    if v_is_entry then
      v_is_late := e.state = 'rejected';
      insert into public.trade_lifecycle (profile_id, trade_id, venue, symbol, side, strategy, signal_id, state)
      values (e.profile_id, e.trade_id, e.venue, e.symbol, case e.side when 'buy' then 'long' else 'short' end,
        e.strategy, e.signal_id, case when v_is_late then 'disputed' else 'entering' end);
      insert into public.positions (profile_id, trade_id, venue, symbol, side)
      values (e.profile_id, e.trade_id, e.venue, e.symbol, case e.side when 'buy' then 'long' else 'short' end);
      insert into public.orders (venue, order_id, profile_id, trade_id, purpose, client_order_id, symbol, side, type,
        quantity, limit_price, status, cancel_requested_at, created_at, updated_at)
      values (e.venue, o.order_id, e.profile_id, e.trade_id, 'entry', e.client_order_id, e.symbol, e.side, e.type,
        e.quantity, e.limit_price, 'pending', e.cancel_requested_at, o.created_at, o.created_at)
      returning * into o;
      update public.entry_intents k set state = 'confirmed', decided_at = clock_timestamp(), reason = null
       where k.profile_id = e.profile_id and k.trade_id = e.trade_id;
    else
      v_is_late := x.state = 'rejected';
      insert into public.orders (venue, order_id, profile_id, trade_id, purpose, generation, client_order_id, symbol,
        side, type, quantity, limit_price, status, cancel_requested_at, created_at, updated_at)
      values (x.venue, o.order_id, x.profile_id, x.trade_id, 'exit', x.generation, x.client_order_id, x.symbol, x.side,
        x.type, x.quantity, x.limit_price, 'pending', x.cancel_requested_at, o.created_at, o.created_at)
      returning * into o;
      update public.exit_intents k set state = 'confirmed', decided_at = clock_timestamp(), reason = null
       where k.profile_id = x.profile_id and k.trade_id = x.trade_id and k.generation = x.generation;
    end if;
    insert into public.trade_history (profile_id, trade_id, event, detail, happened_at)
    values (o.profile_id, o.trade_id, o.purpose || '-confirmed',
      jsonb_build_object('orderId', o.order_id, 'clientOrderId', o.client_order_id), o.created_at);
    if v_is_late and v_is_entry then
      select k.last_sequence into v_until from public.capital_ledger k where k.profile_id = e.profile_id for update;
      perform public.fn_ledger_apply_batch(jsonb_build_array(jsonb_build_object('kind', 'rebuild',
        'profileId', e.profile_id, 'tradeId', e.trade_id, 'key', 'revive:' || e.trade_id, 'actor', ${ACTOR},
        'amount', e.amount, 'quantity', e.quantity, 'positionAmount', 0, 'positionQuantity', 0,
        'untilSequence', v_until)));
    end if;
    if v_is_late then
      perform public.fn_dispute_trade(o.profile_id, o.trade_id,
        format('the venue has the order %s, whose intent had been given up', o.order_id));
    end if;
    return o;
  end $$;
`;

// True when the fill is new. A buyer's fee in what was bought makes the position smaller, and is charged at its price;
// so the sum of cost and fee is what was paid. A fee in any third asset is kept and not charged.
const BOOK_FILL = `
  create function fn_book_fill(o public.orders, p_fill jsonb, p_source text) returns boolean
  ${FUNCTION} as $$
  declare
    v_quantity constant numeric := (p_fill ->> 'quantity')::numeric;
    v_price constant numeric := (p_fill ->> 'price')::numeric;
    v_fee constant numeric := coalesce((p_fill ->> 'feeAmount')::numeric, 0);
    v_asset constant text := p_fill ->> 'feeAsset';
    v_happened_at constant timestamptz := (p_fill ->> 'happenedAt')::timestamptz;
    v_is_in_base constant boolean := coalesce(upper(v_asset) = upper(split_part(o.symbol, '/', 1)), false);
    v_key constant text := 'fill:' || md5(o.venue || '|' || o.order_id || '|' || (p_fill ->> 'fillId'));
    v_charged numeric;
    v_moved numeric := v_quantity;
    v_amount numeric;
    v_cost numeric;
    v_pnl numeric := 0;
    v public.ledger_verdict;
  begin
    v_charged := case
      when v_fee = 0 then 0
      when v_is_in_base then round(v_fee * v_price, 18)
      when upper(v_asset) = upper(coalesce(nullif(split_part(o.symbol, '/', 2), ''), 'USD')) then round(v_fee, 18) end;
    if o.purpose = 'entry' then
      if v_is_in_base and o.side = 'buy' then v_moved := v_quantity - v_fee; end if;
    else
      select least(v_quantity, k.quantity) into v_moved from public.positions k
       where k.profile_id = o.profile_id and k.trade_id = o.trade_id for update;
    end if;
    v_amount := round(v_moved * v_price, 18);
    insert into public.fills (venue, order_id, fill_id, profile_id, trade_id, quantity, price, fee_amount, fee_asset,
      fee_charged, moved_quantity, moved_amount, source, happened_at)
    values (o.venue, o.order_id, p_fill ->> 'fillId', o.profile_id, o.trade_id, v_quantity, v_price, v_fee, v_asset,
      v_charged, v_moved, v_amount, p_source, v_happened_at)
    on conflict (venue, order_id, fill_id) do nothing;
    if not found then return false; end if;

    if o.purpose = 'entry' then
      v := public.fn_ledger_fill(p_profile_id => o.profile_id, p_key => v_key, p_trade_id => o.trade_id,
        p_quantity => v_moved, p_amount => v_amount, p_actor => ${ACTOR}, p_fee => nullif(v_charged, 0),
        p_happened_at => v_happened_at);
    elsif v_moved > 0 then
      -- The ledger row first, as the ledger's own functions do; it guards the reservation.
      perform from public.capital_ledger k where k.profile_id = o.profile_id for update;
      select case when v_moved >= k.position_quantity then k.reserved_for_positions
               else div(k.reserved_for_positions * v_moved * 1e18, k.position_quantity) * 1e-18 end
        into v_cost from public.reservations k where k.profile_id = o.profile_id and k.trade_id = o.trade_id;
      v_pnl := case o.side when 'sell' then v_amount - v_cost else v_cost - v_amount end;
      v := public.fn_ledger_close(p_profile_id => o.profile_id, p_key => v_key, p_trade_id => o.trade_id,
        p_quantity => v_moved, p_pnl => v_pnl, p_actor => ${ACTOR}, p_fee => nullif(v_charged, 0),
        p_happened_at => v_happened_at);
    end if;
    if v.verdict not in ('applied', 'nothing_to_move') then
      raise exception 'Invariant: the ledger takes what a venue proved, but it said % of fill % of order %.',
        v.verdict, p_fill ->> 'fillId', o.order_id;
    end if;

    update public.positions k
       set quantity = case o.purpose when 'entry' then k.quantity + v_moved else k.quantity - v_moved end,
           entry_quantity = k.entry_quantity + case o.purpose when 'entry' then v_quantity else 0 end,
           entry_notional = k.entry_notional + case o.purpose when 'entry' then round(v_quantity * v_price, 18) else 0 end,
           exit_quantity = k.exit_quantity + case o.purpose when 'exit' then v_quantity else 0 end,
           exit_notional = k.exit_notional + case o.purpose when 'exit' then round(v_quantity * v_price, 18) else 0 end,
           fees = k.fees + coalesce(v_charged, 0),
           realized_pnl = k.realized_pnl + v_pnl - coalesce(v_charged, 0),
           opened_at = least(k.opened_at, case o.purpose when 'entry' then v_happened_at end)
     where k.profile_id = o.profile_id and k.trade_id = o.trade_id;
    return true;
  end $$;
`;

// Called once for an order, when it has ended and its fills are whole.
const SETTLE_ORDER = `
  create function fn_settle_order(o public.orders) returns void
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
      v_state := case when p.quantity = 0 and p.exit_quantity = 0 then 'cancelled'
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
        values (o.profile_id, o.trade_id, 'left-behind',
          jsonb_build_object('quantity', p.quantity::text, 'cost', v_cost::text), o.updated_at);
        p.quantity := 0;
      end if;
      v_state := case when p.quantity = 0 then 'closed' when t.state = 'exiting' then 'open' else t.state end;
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

const APPLY = `
  create function fn_apply_order_report(p_venue text, p_report jsonb, p_source text) returns text
  ${FUNCTION} as $$
  declare
    o public.orders;
    f jsonb;
    v_is_new boolean := false;
    v_booked numeric := 0;
    v_reported constant numeric := coalesce((p_report ->> 'filledQuantity')::numeric, 0);
    v_filled numeric;
    v_status text := p_report ->> 'status';
    v_average numeric;
  begin
    select * into o from public.orders k
     where k.venue = p_venue and k.order_id = p_report ->> 'orderId' for update;
    if not found then
      o := public.fn_record_order(p_venue, p_report);
      if o.order_id is null then return 'unknown_order'; end if;
      v_is_new := true;
    end if;
    perform from public.trade_lifecycle k where k.profile_id = o.profile_id and k.trade_id = o.trade_id for update;
    for f in
      select x from jsonb_array_elements(coalesce(p_report -> 'fills', '[]')) x
       order by (x ->> 'happenedAt')::timestamptz, x ->> 'fillId'
    loop
      if public.fn_book_fill(o, f, p_source) then v_booked := v_booked + (f ->> 'quantity')::numeric; end if;
    end loop;

    v_filled := greatest(o.filled_quantity, v_reported, o.booked_quantity + v_booked);
    v_status := case
      when v_filled >= o.quantity and coalesce(v_status, o.status) in ('pending', 'open', 'partially-filled') then 'filled'
      when v_filled > 0 and coalesce(v_status, o.status) in ('pending', 'open') then 'partially-filled'
      else v_status end;
    if not exists (select from public.order_transitions k where k.from_status = o.status and k.to_status = v_status) then
      v_status := o.status;
    end if;
    v_average := case when v_reported > 0 and v_reported >= o.filled_quantity
      then coalesce((p_report ->> 'averagePrice')::numeric, o.average_price) else o.average_price end;
    if v_booked = 0 and v_status = o.status and v_filled = o.filled_quantity
        and v_average is not distinct from o.average_price then
      return case when v_is_new then 'changed' else 'unchanged' end;
    end if;
    update public.orders k
       set status = v_status, filled_quantity = v_filled, booked_quantity = k.booked_quantity + v_booked,
           average_price = v_average,
           updated_at = greatest(k.updated_at, (p_report ->> 'updatedAt')::timestamptz),
           settled_at = coalesce(k.settled_at, case
             when v_status not in ('pending', 'open', 'partially-filled') and k.booked_quantity + v_booked = v_filled
             then clock_timestamp() end)
     where k.venue = o.venue and k.order_id = o.order_id;

    if v_booked > 0 and o.booked_quantity + v_booked > o.quantity then
      perform public.fn_dispute_trade(o.profile_id, o.trade_id, format('order %s of %s was filled with %s', o.order_id,
        o.quantity, o.booked_quantity + v_booked));
    elsif v_booked > 0 and o.settled_at is not null then
      perform public.fn_dispute_trade(o.profile_id, o.trade_id,
        format('order %s had ended and was filled with %s more', o.order_id, v_booked));
    end if;
    if o.settled_at is null then
      select * into o from public.orders k where k.venue = o.venue and k.order_id = o.order_id;
      if o.settled_at is not null then perform public.fn_settle_order(o); end if;
    end if;
    return 'changed';
  end $$;
`;

// Under the entry lock, for whoever submitted or looked up. What comes in by itself is applied without one: it proves
// what it says, whoever brings it.
const PERSIST = `
  create function fn_persist_entry_lifecycle(
    p_profile_id uuid, p_trade_id uuid, p_lock_token bigint, p_report jsonb, p_source text default 'submit'
  ) returns public.intent_verdict
  ${FUNCTION} as $$
  declare
    r public.intent_verdict;
    e public.entry_intents;
  begin
    select * into e from public.entry_intents k where k.profile_id = p_profile_id and k.trade_id = p_trade_id;
    ${persist('e')}
  end $$;

  create function fn_persist_exit_lifecycle(
    p_profile_id uuid, p_trade_id uuid, p_generation integer, p_lock_token bigint, p_report jsonb,
    p_source text default 'submit'
  ) returns public.intent_verdict
  ${FUNCTION} as $$
  declare
    r public.intent_verdict;
    e public.exit_intents;
  begin
    select * into e from public.exit_intents k
     where k.profile_id = p_profile_id and k.trade_id = p_trade_id and k.generation = p_generation;
    ${persist('e')}
  end $$;
`;

function persist(intent: string): string {
  return `
    if not found then r.verdict := 'unknown_trade'; return r; end if;
    if ${intent}.client_order_id is distinct from p_report ->> 'clientOrderId' then
      r.verdict := 'another_order'; r.detail := ${intent}.client_order_id; return r;
    end if;
    if not public.fn_holds_entry_lock(p_profile_id, ${intent}.symbol, p_lock_token) then
      r.verdict := 'stale_lock'; return r;
    end if;
    r.detail := public.fn_apply_order_report(${intent}.venue, p_report, p_source);
    r.verdict := case r.detail when 'unknown_order' then 'another_order' else 'persisted' end;
    return r;`;
}

const GRANTS = `
  revoke execute on function fn_halt_symbol, fn_dispute_trade, fn_record_order, fn_book_fill, fn_settle_order,
    fn_apply_order_report, fn_persist_entry_lifecycle, fn_persist_exit_lifecycle from public;
  grant execute on function fn_apply_order_report, fn_persist_entry_lifecycle, fn_persist_exit_lifecycle
    to flotilla_app;
`;
