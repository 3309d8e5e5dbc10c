import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The ledger set to what a venue proved, the proof that a ledger is what its journal says, and who may call what. */
export class LedgerProof implements MigrationInterface {
  readonly name = 'LedgerProof0000000000009';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(REBUILD);
    await runner.query(VERIFY);
    await runner.query(GRANTS);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward.'));
  }
}

// Takes the whole truth about a profile's open trades, and the journal's last entry at the time the venue was asked.
// What is open here and not named there is set to nothing; what changed since then is left alone, so that the same
// rebuild sent again changes nothing.
const REBUILD = `
  create function fn_ledger_rebuild(
    p_profile_id uuid, p_key text, p_trades jsonb, p_until_sequence bigint, p_actor text,
    p_happened_at timestamptz default null
  ) returns setof public.ledger_verdict
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
  declare
    v_commands jsonb;
  begin
    perform from public.capital_ledger k where k.profile_id = p_profile_id for update;
    select coalesce(jsonb_agg(jsonb_build_object(
             'kind', 'rebuild', 'profileId', p_profile_id, 'tradeId', coalesce(f.trade_id, r.trade_id),
             'key', p_key || ':' || coalesce(f.trade_id, r.trade_id), 'actor', p_actor, 'happenedAt', p_happened_at,
             'untilSequence', p_until_sequence,
             'amount', case when f.trade_id is null then 0 else f.amount end,
             'quantity', case when f.trade_id is null then 0 else f.quantity end,
             'positionAmount', case when f.trade_id is null then 0 else f.position_amount end,
             'positionQuantity', case when f.trade_id is null then 0 else f.position_quantity end)
             order by coalesce(f.trade_id, r.trade_id)), '[]')
      into v_commands
      from (select * from jsonb_to_recordset(p_trades) as x(
              "tradeId" uuid, "orderAmount" numeric, "orderQuantity" numeric, "positionAmount" numeric,
              "positionQuantity" numeric)) f(trade_id, amount, quantity, position_amount, position_quantity)
      full join (select k.trade_id from public.reservations k
                  where k.profile_id = p_profile_id
                    and (k.reserved_for_orders > 0 or k.reserved_for_positions > 0)
                    and k.changed_sequence <= p_until_sequence) r using (trade_id);
    return query select * from public.fn_ledger_apply_batch(v_commands);
  end $$;
`;

// Stable, so that all of it is one moment: a ledger row and its journal are compared as one commit left them. The last
// entry known to be good may be given with its sums (the proof of an earlier call); then only later ones are read.
const VERIFY = `
  create type ledger_proof as (
    profile_id uuid, sequence bigint, hash bytea, allocated numeric, orders numeric, positions numeric, pnl numeric,
    problem text, bad_sequence bigint);

  create function fn_ledger_verify_one(p_profile_id uuid, p_after public.ledger_proof default null)
  returns public.ledger_proof
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
  declare
    l public.capital_ledger;
    v_from constant bigint := coalesce(p_after.sequence, 0);
    v_proof public.ledger_proof;
    r record;
  begin
    select * into l from public.capital_ledger k where k.profile_id = p_profile_id;
    v_proof.profile_id := p_profile_id;
    if l.profile_id is null then v_proof.problem := 'there is no ledger row'; return v_proof; end if;

    select max(x.sequence) as sequence, count(*) as entries, min(x.sequence) filter (where not x.is_whole) as broken,
           coalesce(sum(x.amount) filter (where x.source = 'outside' and x.target = 'available'), 0)
             - coalesce(sum(x.amount) filter (where x.source = 'available' and x.target = 'outside'), 0) as allocated,
           coalesce(sum(x.amount) filter (where x.target = 'orders'), 0)
             - coalesce(sum(x.amount) filter (where x.source = 'orders'), 0) as orders,
           coalesce(sum(x.amount) filter (where x.target = 'positions'), 0)
             - coalesce(sum(x.amount) filter (where x.source = 'positions'), 0) as positions,
           coalesce(sum(x.amount) filter (where x.target = 'pnl'), 0)
             - coalesce(sum(x.amount) filter (where x.source = 'pnl'), 0) as pnl
      into r
      from (
        select e.*, e.sequence = coalesce(lag(e.sequence) over w, v_from) + 1 and e.hash = substring(sha256(
                 coalesce(lag(e.hash) over w, p_after.hash, sha256(uuid_send(p_profile_id)))
                 || convert_to(concat_ws('|', e.sequence, e.part, e.source, e.target, e.amount,
                      extract(epoch from e.recorded_at), e.command, e.trade_id, e.idempotency_key, e.actor,
                      e.fingerprint, extract(epoch from e.happened_at)), 'UTF8')) for 16) as is_whole
          from public.ledger_entries e where e.profile_id = p_profile_id and e.sequence > v_from
        window w as (order by e.sequence)) x;

    v_proof.sequence := coalesce(r.sequence, v_from);
    v_proof.hash := coalesce((select e.hash from public.ledger_entries e
        where e.profile_id = p_profile_id and e.sequence = r.sequence), p_after.hash, sha256(uuid_send(p_profile_id)));
    v_proof.allocated := coalesce(p_after.allocated, 0) + r.allocated;
    v_proof.orders := coalesce(p_after.orders, 0) + r.orders;
    v_proof.positions := coalesce(p_after.positions, 0) + r.positions;
    v_proof.pnl := coalesce(p_after.pnl, 0) + r.pnl;
    if r.broken is not null then
      v_proof.problem := 'the chain breaks here: this entry, or the one before it, was altered, moved or removed';
      v_proof.bad_sequence := r.broken;
    elsif v_proof.sequence <> l.last_sequence or v_proof.hash <> l.last_hash then
      v_proof.problem := 'the journal does not end where the ledger row says';
      v_proof.bad_sequence := least(v_proof.sequence, l.last_sequence) + 1;
    elsif (v_proof.allocated, v_proof.orders, v_proof.positions, v_proof.pnl) is distinct from
        (l.allocated_capital, l.reserved_for_orders, l.reserved_for_positions, l.realized_pnl) then
      v_proof.problem := format('the ledger row is not the fold of its journal: the journal says allocated %s, '
        'orders %s, positions %s, pnl %s', v_proof.allocated, v_proof.orders, v_proof.positions, v_proof.pnl);
    elsif p_after is null then
      v_proof.problem := public.fn_ledger_verify_reservations(p_profile_id);
    end if;
    return v_proof;
  end $$;

  create function fn_ledger_verify_reservations(p_profile_id uuid) returns text
  language sql stable security definer set search_path = pg_catalog, pg_temp as $$
    with folded as (
      select e.trade_id,
             coalesce(sum(e.amount) filter (where e.target = 'orders'), 0)
               - coalesce(sum(e.amount) filter (where e.source = 'orders'), 0) as orders,
             coalesce(sum(e.amount) filter (where e.target = 'positions'), 0)
               - coalesce(sum(e.amount) filter (where e.source = 'positions'), 0) as positions
        from public.ledger_entries e
       where e.profile_id = p_profile_id and e.trade_id is not null group by e.trade_id),
    compared as (
      select coalesce(f.trade_id, k.trade_id) as trade_id, f.orders, f.positions,
             (f.orders, f.positions) is distinct from (k.reserved_for_orders, k.reserved_for_positions) as is_wrong
        from folded f
        full join (select * from public.reservations where profile_id = p_profile_id) k using (trade_id))
    select coalesce(
      (select format('the reservation of trade %s is not the fold of its journal: the journal says orders %s, '
         'positions %s', trade_id, orders, positions) from compared where is_wrong order by trade_id limit 1),
      (select format('open trades are %s, the journal says %s', l.open_trades, o.open)
         from public.capital_ledger l,
              (select count(*) as open from folded where orders > 0 or positions > 0) o
        where l.profile_id = p_profile_id and l.open_trades <> o.open),
      (select format('the profit of the day %s is %s, the journal says %s', l.pnl_day, l.pnl_of_day, o.pnl)
         from public.capital_ledger l,
              lateral (select coalesce(sum(case when e.target = 'pnl' then e.amount else -e.amount end), 0) as pnl
                 from public.ledger_entries e
                where e.profile_id = p_profile_id and 'pnl' in (e.source, e.target)
                  and (e.recorded_at at time zone 'UTC')::date = l.pnl_day) o
        where l.profile_id = p_profile_id and l.pnl_of_day <> o.pnl))
  $$;

  create function fn_ledger_verify(p_profile_id uuid default null) returns setof public.ledger_proof
  language sql stable security definer set search_path = pg_catalog, pg_temp as $$
    select p.* from public.capital_ledger k, public.fn_ledger_verify_one(k.profile_id) p
     where k.profile_id = p_profile_id or p_profile_id is null order by k.profile_id
  $$;
`;

const GRANTS = `
  revoke execute on all functions in schema public from public;
  grant execute on function fn_ledger_open, fn_ledger_deposit, fn_ledger_withdraw to flotilla_app, flotilla_tenant;
  grant execute on function fn_ledger_apply_batch, fn_ledger_reserve, fn_ledger_release, fn_ledger_fill,
    fn_ledger_close, fn_ledger_rebuild, fn_ledger_verify, fn_ledger_verify_one to flotilla_app;
`;
