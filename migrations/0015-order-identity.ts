import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Whose order a report is about. Venues number orders anew after a restart, or apart for each symbol, so the venue's id
 * alone says too little: symbol and client order id must not speak against it. Where two of ours have one id, nothing is
 * booked of the second, and a person looks.
 *
 * And the order of locks: a report of an order that another has just recorded no longer keeps its intent locked while it
 * waits for the order, whose settling asks for that intent.
 *
 * And the plans: a session keeps the plans that it made first. Made while the tables were empty, they would read whole
 * tables, more with every trade, until the next ANALYZE; all that these functions look for is found by an index.
 */
export class OrderIdentity implements MigrationInterface {
  readonly name = 'OrderIdentity0000000000015';

  async up(runner: QueryRunner): Promise<void> {
    for (const sql of [RECORD_ORDER, APPLY]) await runner.query(sql);
    for (const name of BY_INDEX) await runner.query(`alter function ${name} set enable_seqscan = off`);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward.'));
  }
}

const BY_INDEX = [
  ...['fn_begin_entry', 'fn_begin_exit', 'fn_note_evidence', 'fn_reject_intent', 'fn_request_cancel'],
  ...['fn_record_order', 'fn_book_fill', 'fn_settle_order', 'fn_apply_order_report'],
  ...['fn_persist_entry_lifecycle', 'fn_persist_exit_lifecycle', 'fn_lifecycle_truth', 'fn_lifecycle_rebuild'],
  ...['fn_holds_entry_lock', 'fn_release_entry_lock_row'],
];

const FUNCTION = 'language plpgsql volatile security definer set search_path = pg_catalog, pg_temp';

/** The name by which the ledger knows who moved capital here. */
const ACTOR = `'lifecycle'`;

// Makes the rows of an order that is not known yet, if it is of one of our intents; null if it is not. An intent that
// had been rejected gets its capital back as well as it can: the order is there.
const RECORD_ORDER = `
  create or replace function fn_record_order(p_venue text, p_report jsonb) returns public.orders
  ${FUNCTION} as $$
  declare
    e public.entry_intents;
    x public.exit_intents;
    o public.orders;
    v_client_order_id constant text := p_report ->> 'clientOrderId';
    v_is_entry boolean;
    v_is_late boolean;
    v_reason text;
    v_until bigint;
  begin
    begin
      select * into e from public.entry_intents k
       where k.venue = p_venue and k.client_order_id = v_client_order_id for update;
      v_is_entry := found;
      if not v_is_entry then
        select * into x from public.exit_intents k
         where k.venue = p_venue and k.client_order_id = v_client_order_id for update;
      end if;
      if coalesce(e.state, x.state) = 'confirmed' then raise sqlstate 'FL001'; end if;
    exception when sqlstate 'FL001' then
      -- Recorded by another meanwhile. The lock of the intent goes with this block: whoever settles the order wants it.
      e := null;
      x := null;
    end;
    if coalesce(e.trade_id, x.trade_id) is null then
      select * into o from public.orders k
       where k.venue = p_venue and k.client_order_id = v_client_order_id for update;
      if found and o.order_id <> p_report ->> 'orderId' then
        perform public.fn_dispute_trade(o.profile_id, o.trade_id,
          format('the venue has a second order %s under the client order id of %s', p_report ->> 'orderId', o.order_id));
        return null;
      end if;
      return o;
    end if;
    select * into o from public.orders k where k.venue = p_venue and k.order_id = p_report ->> 'orderId';
    if found then
      v_reason := format('the venue has order %s under the client order ids %s and %s', o.order_id, o.client_order_id,
        v_client_order_id);
      perform public.fn_dispute_trade(o.profile_id, o.trade_id, v_reason);
      perform public.fn_halt_symbol(coalesce(e.profile_id, x.profile_id), coalesce(e.symbol, x.symbol), v_reason);
      return null;
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

const APPLY = `
  create or replace function fn_apply_order_report(p_venue text, p_report jsonb, p_source text) returns text
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
     where k.venue = p_venue and k.order_id = p_report ->> 'orderId'
       and k.symbol = coalesce(p_report ->> 'symbol', k.symbol)
       and k.client_order_id = coalesce(nullif(p_report ->> 'clientOrderId', ''), k.client_order_id) for update;
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
