import {
  BODY,
  chain,
  chainMoves,
  DECIDE,
  DECLARE,
  entry,
  FINGERPRINT,
  HALT,
  IS_CLEAN,
  isKey,
  keyDigest,
  KINDS,
  type Kind,
  NOTE_BREACH,
  SAVED,
} from './0006-ledger-rules.js';
import { RULES, verdictOf, type OneMoveKind } from './0014-one-move.js';

/**
 * Many commands in one call, a verdict for each, in order, as if they came one by one.
 *
 * A ledger row is locked first, in the order of the profiles' ids, so that two callers never wait for each other in a
 * circle. What is read afterwards is newer than the lock, so it contains all that earlier holders committed. A batch
 * walks through its commands with the state in local variables, profile by profile and in the order given (commands of
 * different profiles do not touch each other), and writes once at the end: journal, reservations, ledger rows. A refused
 * command changes nothing and does not use up its key.
 *
 * A batch goes through its commands hopefully at first: it supposes that no key was used before and that no trade to be
 * reserved is known, and looks nothing up to find out. If a unique index knows better, or if any command is refused,
 * all of it is undone and the batch starts again, and looks up everything.
 *
 * What we decide ourselves (reserve, withdraw) never takes more than is available. What a venue proved (fill, close,
 * rebuild) is recorded whatever it does to the capital; if less than nothing is left, the same transaction marks the
 * breach and halts the profile.
 *
 * The walk is the part that callers on the same profile wait for, and each of its statements is paid per command. So a
 * command that is one movement is decided and written in as few as can be, without lists of movements.
 */
const TOUCHED = `unnest(v_trades, v_was_there, v_is_touched) n(
        profile_id, trade_id, order_quantity, reserved_for_orders, position_quantity, reserved_for_positions,
        changed_sequence, was_there, is_touched)`;

export const APPLY_BATCH = `
  create or replace function fn_ledger_apply_batch(p_commands jsonb) returns setof public.ledger_verdict
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
  -- One plan, whatever the tables hold when it is made: each command finds its rows through an index.
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_material = off
  as $$
  #variable_conflict use_column
  declare
    ${DECLARE}
    c public.ledger_task;
    r record;
    v_size constant integer := jsonb_array_length(p_commands);
    v_tasks public.ledger_task[];
    v_profiles uuid[];
    v_is_hopeful boolean := v_size > 1;
    -- the locked rows with their limits, which of them is at work, and those that changed
    v_locked public.capital_ledger[];
    v_limits public.profile_limits[];
    v_at integer;
    v_is_known boolean;
    v_is_changed boolean;
    v_changed public.capital_ledger[];
    -- reservations by the slot of their trade, and keys by theirs
    v_trades public.reservations[];
    v_was_there boolean[];
    v_is_touched boolean[];
    v_key_slots integer[];
    v_prints integer[];
    v_sequences bigint[];
    -- what comes of it
    v_entries public.ledger_entries[];
    v_count integer;
    v_verdicts text[];
    v_details text[];
    v_results bigint[];
  begin
    if v_size = 0 then return; end if;
    -- All that needs no lock, before it.
    v_now := clock_timestamp();
    select array_agg(row (c.kind, c.profile_id, c.trade_id, c.key, c.actor, c.happened_at, c.amount, c.quantity, c.fee,
             c.pnl, c.position_amount, c.position_quantity, c.venue, c.symbol, c.lock_token, c.until_sequence,
             c.ordinal, c.fingerprint, c.trade_slot, c.is_expected, ${IS_CLEAN}, ${BODY})::public.ledger_task
             order by c.profile_id, c.ordinal),
           array_agg(c.profile_id)
      into v_tasks, v_profiles
      from (
        select c.kind, c.profile_id, c.trade_id, c.key, c.actor, coalesce(c.happened_at, v_now) as happened_at,
               c.amount, c.quantity, c.fee, c.pnl, c.position_amount, c.position_quantity, c.venue, c.symbol,
               c.lock_token, c.until_sequence, c.ordinal, ${FINGERPRINT} as fingerprint,
               first_value(c.ordinal) over trade as trade_slot,
               -- Its trade should be known: this batch does not begin with its reservation.
               first_value(c.kind) over trade <> 'reserve' and c.trade_id is not null as is_expected
          from rows from (jsonb_to_recordset(p_commands) as (
                 kind text, "profileId" uuid, "tradeId" uuid, key text, actor text, "happenedAt" timestamptz,
                 amount numeric, quantity numeric, fee numeric, pnl numeric, "positionAmount" numeric,
                 "positionQuantity" numeric, venue text, symbol text, "lockToken" bigint, "untilSequence" bigint))
               with ordinality as c(
                 kind, profile_id, trade_id, key, actor, happened_at, amount, quantity, fee, pnl, position_amount,
                 position_quantity, venue, symbol, lock_token, until_sequence, ordinal)
        window trade as (partition by c.profile_id, c.trade_id order by c.ordinal)) c;

    select array_agg(k.ledger) into v_locked from (
      select ledger from public.capital_ledger ledger
       where profile_id = any (v_profiles) order by profile_id for update) k;
    v_now := clock_timestamp();
    v_now_text := extract(epoch from v_now)::text;
    v_today := (v_now at time zone 'UTC')::date;
    v_has_halts := exists (select from public.halts);
    select array_agg(k.limits order by u.position) into v_limits
      from unnest(array(select (x).profile_id from unnest(v_locked) x)) with ordinality as u(profile_id, position)
      left join lateral (
        select limits from public.profile_limits limits where limits.profile_id = u.profile_id limit 1) k on true;

    loop begin
      v_verdict := null; v_at := 0; v_is_known := false; v_is_changed := false; v_changed := '{}'; l := null;
      v_trades := array_fill(null::public.reservations, array[v_size]);
      v_was_there := array_fill(false, array[v_size]); v_is_touched := v_was_there;
      v_verdicts := array_fill('applied'::text, array[v_size]);
      v_details := array_fill(null::text, array[v_size]);
      v_results := array_fill(null::bigint, array[v_size]);
      v_entries := '{}'; v_count := 0;
      for r in
        select u.trade_slot, e.reservation from unnest(v_tasks) u
         cross join lateral (
           select k as reservation from public.reservations k
            where k.profile_id = u.profile_id and k.trade_id = u.trade_id limit 1) e
         where u.is_expected or not v_is_hopeful
      loop
        v_trades[r.trade_slot] := r.reservation; v_was_there[r.trade_slot] := true;
      end loop;
      if not v_is_hopeful then
        v_prints := array_fill(null::integer, array[v_size]);
        v_sequences := array_fill(null::bigint, array[v_size]);
        select array_agg(k.slot order by k.ordinal) into v_key_slots from (
          select u.ordinal, dense_rank() over (order by ${keyDigest('u.profile_id', 'u.key').join(', ')}) as slot
            from unnest(v_tasks) u) k;
        for r in
          select u.ordinal, e.fingerprint, e.sequence from unnest(v_tasks) u
           cross join lateral (
             select k.fingerprint, k.sequence from public.ledger_entries k
              where ${isKey('k', 'u.profile_id', 'u.key')} limit 1) e
        loop
          v_prints[v_key_slots[r.ordinal]] := r.fingerprint; v_sequences[v_key_slots[r.ordinal]] := r.sequence;
        end loop;
      end if;

      foreach c in array v_tasks loop
        if c.profile_id is distinct from l.profile_id then
          if v_is_changed then v_changed := v_changed || l; v_is_changed := false; end if;
          while (v_locked[v_at + 1]).profile_id <= c.profile_id loop v_at := v_at + 1; end loop;
          l := v_locked[v_at]; m := v_limits[v_at];
          v_is_known := coalesce(l.profile_id = c.profile_id, false);
        end if;
        if not (v_is_hopeful and v_is_known and c.is_clean) then
          v_verdict := null; v_detail := null;
          if not c.is_clean then select * into v_verdict, v_detail from public.fn_ledger_input_fault(c); end if;
          if v_verdict is not null then null;
          elsif not v_is_known then v_verdict := 'unknown_profile';
          elsif v_prints[v_key_slots[c.ordinal]] is not null then
            v_verdict := case v_prints[v_key_slots[c.ordinal]] when c.fingerprint then 'duplicate' else 'key_reused' end;
            if v_verdict = 'duplicate' then v_results[c.ordinal] := v_sequences[v_key_slots[c.ordinal]]; end if;
          end if;
        end if;
        if v_verdict is null then
          case c.kind ${KINDS.map((kind) => `when '${kind}' then ${decideAndWrite(kind)}`).join('\n')} end case;
        end if;
        if v_verdict is null then
          v_is_changed := true;
          if not v_is_hopeful then
            v_prints[v_key_slots[c.ordinal]] := c.fingerprint;
            v_sequences[v_key_slots[c.ordinal]] := v_results[c.ordinal];
          end if;
        else
          if v_is_hopeful then raise sqlstate 'FLT01' using message = 'A hopeful batch meets a refusal.'; end if;
          v_verdicts[c.ordinal] := v_verdict; v_details[c.ordinal] := v_detail;
        end if;
      end loop;
      if v_is_changed then v_changed := v_changed || l; end if;

      if cardinality(v_changed) > 0 then
        insert into public.ledger_entries select * from unnest(v_entries);
        insert into public.reservations
        select n.profile_id, n.trade_id, n.order_quantity, n.reserved_for_orders, n.position_quantity,
               n.reserved_for_positions, n.changed_sequence
          from ${TOUCHED} where n.is_touched and not n.was_there;
        update public.reservations k
           set order_quantity = n.order_quantity, reserved_for_orders = n.reserved_for_orders,
               position_quantity = n.position_quantity, reserved_for_positions = n.reserved_for_positions,
               changed_sequence = n.changed_sequence
          from ${TOUCHED}
         where n.is_touched and n.was_there and k.profile_id = n.profile_id and k.trade_id = n.trade_id;
      end if;
      exit;
    exception when unique_violation or sqlstate 'FLT01' then
      if not v_is_hopeful then raise; end if;
      v_is_hopeful := false;
    end; end loop;

    update public.capital_ledger k
       set ${SAVED.map((column) => `${column} = n.${column}`).join(', ')}
      from unnest(v_changed) n where k.profile_id = n.profile_id;
    return query select n.position::integer, n.verdict, n.sequence, n.detail
      from unnest(v_verdicts, v_results, v_details) with ordinality n(verdict, sequence, detail, position);
  end $$;
`;

function decideAndWrite(kind: Kind): string {
  return kind in RULES ? oneMove(kind as OneMoveKind) : manyMoves(kind);
}

function oneMove(kind: OneMoveKind): string {
  const { refusals, move, ledger, trade } = RULES[kind];
  const details = refusals.flatMap(({ code, detail }) => (detail ? [`when '${code}' then ${detail}`] : []));
  const asksHalts = refusals.some(({ code }) => code === 'halted');
  return `
    ${trade ? 't := v_trades[c.trade_slot];' : ''}
    ${asksHalts ? `if v_has_halts then v_halt := (${HALT}); end if;` : ''}
    v_verdict := ${verdictOf(refusals)};
    if v_verdict is null then
      l.last_sequence := l.last_sequence + 1;
      l.last_hash := ${chain(move)};
      ${note(entry(move))}
      ${assign('l', ledger)}
      ${kind === 'deposit' || kind === 'release' ? NOTE_BREACH : ''}
      v_results[c.ordinal] := l.last_sequence;
      ${trade ? `v_trades[c.trade_slot] := ${reservation(trade)}; v_is_touched[c.trade_slot] := true;` : ''}
    ${details.length > 0 ? `else v_detail := case v_verdict ${details.join(' ')} end;` : ''}
    end if;`;
}

/** Only a movement of something is a movement; a rebuild of quantities alone has none, and names the last entry. */
function manyMoves(kind: Kind): string {
  return `
    t := v_trades[c.trade_slot];
    ${DECIDE[kind]}
    if v_verdict is null then
      ${chainMoves(note)}
      v_results[c.ordinal] := l.last_sequence - greatest(cardinality(v_amount), 1) + 1;
      t.changed_sequence := l.last_sequence;
      v_trades[c.trade_slot] := t; v_is_touched[c.trade_slot] := true;
    end if;`;
}

function note(values: string): string {
  return `v_count := v_count + 1; v_entries[v_count] := row (${values})::public.ledger_entries;`;
}

function assign(row: string, values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([column, value]) => `${row}.${column} := ${value};`)
    .join(' ');
}

/** A reservation as it is afterwards; what a rule does not name stays. */
function reservation(values: Readonly<Record<string, string>>): string {
  const columns = ['order_quantity', 'reserved_for_orders', 'position_quantity', 'reserved_for_positions'];
  const after = columns.map((column) => values[column] ?? `t.${column}`);
  return `row (c.profile_id, c.trade_id, ${after.join(', ')}, l.last_sequence)::public.reservations`;
}
