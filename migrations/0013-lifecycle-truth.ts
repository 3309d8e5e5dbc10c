import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What the ledger must hold for each trade of a profile, worked out anew from intents, orders and fills alone, by the
 * rules of the ledger: each fill takes its share of what is left, rounded down at the 18th decimal, in the order of the
 * booking. Names the trades that are open by either account; where both agree, is_same.
 *
 * fn_lifecycle_rebuild makes the ledger what that truth says, and names what was different. The same inputs give the
 * same ledger, to the last digit; where nothing differs, nothing is written.
 */
export class LifecycleTruth implements MigrationInterface {
  readonly name = 'LifecycleTruth0000000000013';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TRUTH);
    await runner.query(REBUILD);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward.'));
  }
}

const SHARE = (whole: string, part: string, of: string): string =>
  `case when ${part} >= ${of} then ${whole} else div(${whole} * ${part} * 1e18, ${of}) * 1e-18 end`;

const TRUTH = `
  create function fn_lifecycle_truth(p_profile_id uuid) returns table (
    trade_id uuid, order_amount numeric, order_quantity numeric, position_amount numeric, position_quantity numeric,
    is_same boolean)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
  #variable_conflict use_variable
  declare
    i record;
    f record;
    v_share numeric;
  begin
    for i in
      select r.trade_id, r.reserved_for_orders, r.order_quantity, r.reserved_for_positions, r.position_quantity,
             e.amount, e.quantity, e.state, t.state as trade_state, o.settled_at
        from (select k.trade_id from public.entry_intents k where k.profile_id = p_profile_id and k.is_active
              union select k.trade_id from public.trade_lifecycle k
                     where k.profile_id = p_profile_id and k.state = 'disputed'
              union select k.trade_id from public.reservations k
                     where k.profile_id = p_profile_id and (k.reserved_for_orders > 0 or k.reserved_for_positions > 0)) x
        join public.reservations r on r.profile_id = p_profile_id and r.trade_id = x.trade_id
        left join public.entry_intents e on e.profile_id = p_profile_id and e.trade_id = x.trade_id
        left join public.trade_lifecycle t on t.profile_id = p_profile_id and t.trade_id = x.trade_id
        left join public.orders o on o.profile_id = p_profile_id and o.trade_id = x.trade_id and o.purpose = 'entry'
       order by x.trade_id
    loop
      trade_id := i.trade_id;
      order_amount := case when i.state is null or i.state = 'rejected' then 0 else i.amount end;
      order_quantity := case when i.state is null or i.state = 'rejected' then 0 else i.quantity end;
      position_amount := 0; position_quantity := 0;
      for f in
        select k.moved_quantity, k.moved_amount, o.purpose from public.fills k
          join public.orders o on o.venue = k.venue and o.order_id = k.order_id
         where k.profile_id = p_profile_id and k.trade_id = i.trade_id and k.moved_quantity > 0 order by k.booking
      loop
        if f.purpose = 'entry' then
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
      if i.trade_state = 'closed' then position_amount := 0; position_quantity := 0; end if;
      is_same := (order_amount, order_quantity, position_amount, position_quantity) = (
        i.reserved_for_orders, i.order_quantity, i.reserved_for_positions, i.position_quantity);
      return next;
    end loop;
  end $$;

  revoke execute on function fn_lifecycle_truth from public;
  grant execute on function fn_lifecycle_truth to flotilla_app;
`;

const REBUILD = `
  create function fn_lifecycle_rebuild(p_profile_id uuid, p_actor text) returns table (
    trade_id uuid, was jsonb, is_now jsonb)
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
  #variable_conflict use_column
  declare
    v_until bigint;
    v_truth jsonb;
  begin
    -- Whoever writes a trade of this profile holds this row until it commits, so all is read as one commit left it.
    select k.last_sequence into v_until from public.capital_ledger k where k.profile_id = p_profile_id for update;
    return query
      select x.trade_id,
             jsonb_build_object('orderAmount', r.reserved_for_orders, 'orderQuantity', r.order_quantity,
               'positionAmount', r.reserved_for_positions, 'positionQuantity', r.position_quantity),
             jsonb_build_object('orderAmount', x.order_amount, 'orderQuantity', x.order_quantity,
               'positionAmount', x.position_amount, 'positionQuantity', x.position_quantity)
        from public.fn_lifecycle_truth(p_profile_id) x
        join public.reservations r on r.profile_id = p_profile_id and r.trade_id = x.trade_id
       where not x.is_same;
    if not found then return; end if;
    select jsonb_agg(jsonb_build_object('tradeId', x.trade_id, 'orderAmount', x.order_amount, 'orderQuantity',
             x.order_quantity, 'positionAmount', x.position_amount, 'positionQuantity', x.position_quantity))
      into v_truth from public.fn_lifecycle_truth(p_profile_id) x;
    perform public.fn_ledger_rebuild(p_profile_id, 'rebuild:' || v_until, v_truth, v_until, p_actor);
  end $$;

  revoke execute on function fn_lifecycle_rebuild from public;
  grant execute on function fn_lifecycle_rebuild to flotilla_app;
`;
