import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What a command of the ledger is, what is wrong with it in itself, and the rules by which it moves capital. The rules
 * are texts of PL/pgSQL that speak of a command c, its ledger row l and its reservation t. The functions of the next two
 * migrations are made of them: one for many commands, one for each command alone, both doing the same.
 */
export class LedgerRules implements MigrationInterface {
  readonly name = 'LedgerRules0000000000006';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TYPES);
    await runner.query(INPUT_FAULT);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward.'));
  }
}

const TYPES = `
  create type ledger_verdict as (ordinal integer, verdict text, sequence bigint, detail text);

  create type ledger_task as (
    kind text, profile_id uuid, trade_id uuid, key text, actor text, happened_at timestamptz, amount numeric,
    quantity numeric, fee numeric, pnl numeric, position_amount numeric, position_quantity numeric, venue text,
    symbol text, lock_token bigint, until_sequence bigint, ordinal integer, fingerprint integer, trade_slot integer,
    is_expected boolean, is_clean boolean, body text);

  create function fn_ledger_open(p_profile_id uuid) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
  begin
    if not public.fn_tenant_may_touch(p_profile_id) then
      raise exception 'There is no profile %.', p_profile_id using errcode = '42501';
    end if;
    insert into public.capital_ledger (profile_id, last_hash) values (p_profile_id, sha256(uuid_send(p_profile_id)))
      on conflict (profile_id) do nothing;
  end $$;
`;

/** The two halves of a key's digest: what the index ledger_entries_key is made of. */
export const keyDigest = (profile: string, key: string): readonly [string, string] => [
  `hashtextextended(${key}, uuid_hash_extended(${profile}, 0))`,
  `hashtextextended(${key}, uuid_hash_extended(${profile}, 1))`,
];

export const isKey = (row: string, profile: string, key: string): string => {
  const [indexed, sought] = [keyDigest(`${row}.profile_id`, `${row}.idempotency_key`), keyDigest(profile, key)];
  return `${indexed[0]} = ${sought[0]} and ${indexed[1]} = ${sought[1]} and ${row}.part = 0`;
};

/** Two commands with one key are the same when this is the same. Who sends it, and when, is not part of it. */
export const FINGERPRINT = `hash_record(row (c.kind::text, c.trade_id, c.amount, c.quantity, c.fee, c.pnl,
  c.position_amount, c.position_quantity, c.venue, lower(c.symbol)))`;

/** What an entry's hash says of its command. The fields are free of the separator. */
export const BODY = `concat_ws('|', c.kind, c.trade_id, c.key, c.actor, c.fingerprint,
  extract(epoch from c.happened_at))`;

// Says what is wrong with a command in itself. Most commands are clean, and the first question finds that out.
const INPUT_FAULT = `
  create function fn_ledger_input_fault(c public.ledger_task, out verdict text, out detail text)
  language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
  declare
    v_field text;
    v_value numeric;
    -- The fields that a command needs, those it may have, and those of them that may be zero or negative.
    v_needed text[];
    v_optional text[] := '{}';
    v_signed text[] := '{}';
    v_from_zero text[] := '{}';
    v_texts constant jsonb := jsonb_build_object('tradeId', c.trade_id, 'venue', c.venue, 'symbol', c.symbol,
      'amount', c.amount::text, 'quantity', c.quantity::text, 'fee', c.fee::text, 'pnl', c.pnl::text,
      'positionAmount', c.position_amount::text, 'positionQuantity', c.position_quantity::text,
      'untilSequence', c.until_sequence);
  begin
    case c.kind
      when 'deposit', 'withdraw' then v_needed := '{amount}';
      when 'reserve' then v_needed := '{tradeId,venue,symbol,amount,quantity}';
      when 'release' then v_needed := '{tradeId}'; v_optional := '{amount}';
      when 'fill' then v_needed := '{tradeId,amount,quantity}'; v_optional := '{fee}'; v_signed := '{fee}';
      when 'close' then v_needed := '{tradeId,quantity}'; v_optional := '{pnl,fee}'; v_signed := '{pnl,fee}';
      when 'rebuild' then
        v_needed := '{tradeId,amount,quantity,positionAmount,positionQuantity,untilSequence}';
        v_from_zero := '{amount,quantity,positionAmount,positionQuantity}';
      else verdict := 'unknown_command'; detail := c.kind; return;
    end case;
    if coalesce(length(c.key), 0) not between 1 and 100 or c.key ~ '[^A-Za-z0-9._:/+=@-]' then
      verdict := 'invalid_key'; return;
    elsif coalesce(length(c.actor), 0) not between 1 and 100 or c.actor ~ '[^A-Za-z0-9._:/+=@-]' then
      verdict := 'invalid_actor'; return;
    end if;
    if c.trade_id is not null and 'tradeId' <> all (v_needed) then
      verdict := 'field_not_wanted'; detail := 'tradeId'; return;
    elsif not isfinite(c.happened_at) then
      verdict := 'invalid_time'; detail := 'happenedAt'; return;
    end if;
    foreach v_field in array v_needed loop
      if coalesce(v_texts ->> v_field, '') = '' then verdict := 'field_missing'; detail := v_field; return; end if;
    end loop;
    foreach v_field in array '{amount,quantity,fee,pnl,positionAmount,positionQuantity}'::text[] loop
      continue when v_texts ->> v_field is null;
      detail := v_field;
      v_value := (v_texts ->> v_field)::numeric;
      if v_field <> all (v_needed || v_optional) then verdict := 'field_not_wanted'; return;
      elsif v_value in ('NaN', 'Infinity', '-Infinity') then verdict := 'amount_not_finite'; return;
      elsif abs(v_value) >= 1e20 then verdict := 'amount_too_large'; return;
      elsif v_value <> round(v_value, 18) then verdict := 'amount_too_precise'; return;
      elsif v_value < 0 and v_field <> all (v_signed) then verdict := 'amount_not_positive'; return;
      elsif v_value = 0 and v_field <> all (v_signed || v_from_zero) then verdict := 'amount_not_positive'; return;
      end if;
    end loop;
    detail := null;
  end $$;
`;

const isPositive = (field: string): string => `${field} > 0 and ${field} < 1e20 and scale(${field}) <= 18`;
const isSigned = (field: string): string => `(${field} is null or abs(${field}) < 1e20 and scale(${field}) <= 18)`;
const isWord = (field: string): string => `length(${field}) between 1 and 100 and ${field} !~ '[^A-Za-z0-9._:/+=@-]'`;

/** True for the usual command without a fault; any other is asked of fn_ledger_input_fault. */
export const IS_CLEAN = `coalesce(
  ${isWord('c.key')} and ${isWord('c.actor')} and (c.happened_at is null or isfinite(c.happened_at))
  and c.position_amount is null and c.position_quantity is null
  and case c.kind
    when 'reserve' then c.trade_id is not null and ${isPositive('c.amount')} and ${isPositive('c.quantity')}
      and c.venue <> '' and c.symbol <> '' and c.fee is null and c.pnl is null
    when 'release' then c.trade_id is not null and (c.amount is null or ${isPositive('c.amount')})
      and c.quantity is null and c.fee is null and c.pnl is null
    when 'fill' then c.trade_id is not null and ${isPositive('c.amount')} and ${isPositive('c.quantity')}
      and ${isSigned('c.fee')} and c.pnl is null
    when 'close' then c.trade_id is not null and c.amount is null and ${isPositive('c.quantity')}
      and ${isSigned('c.pnl')} and ${isSigned('c.fee')}
    else false end, false)`;

export const DECLARE = `
    v_now timestamptz;
    v_now_text text;
    v_today date;
    l public.capital_ledger;
    m public.profile_limits;
    t public.reservations;
    v_halt text;
    v_has_halts boolean;
    v_share numeric;
    v_verdict text;
    v_detail text;
    v_source public.ledger_bucket[];
    v_target public.ledger_bucket[];
    v_amount numeric[];
`;

const AVAILABLE = `(l.allocated_capital - l.reserved_for_orders - l.reserved_for_positions + l.realized_pnl)`;
const IS_OPEN = `(t.reserved_for_orders > 0 or t.reserved_for_positions > 0)`;

/** A movement, as texts of SQL. */
interface Move {
  readonly part: string;
  readonly source: string;
  readonly target: string;
  readonly amount: string;
}

/** The commands that are always one movement. */
export const ONE_MOVE = {
  deposit: { part: '0', source: `'outside'`, target: `'available'`, amount: 'trim_scale(c.amount)' },
  withdraw: { part: '0', source: `'available'`, target: `'outside'`, amount: 'trim_scale(c.amount)' },
  reserve: { part: '0', source: `'available'`, target: `'orders'`, amount: 'trim_scale(c.amount)' },
  release: { part: '0', source: `'orders'`, target: `'available'`, amount: 'trim_scale(v_share)' },
} as const satisfies Record<string, Move>;

/** As literals of arrays, which Postgres reads once and not at every command. */
export const take = ({ source, target, amount }: Move): string =>
  `v_source := '{${bare(source)}}'; v_target := '{${bare(target)}}'; v_amount := array[${amount}];`;

const bare = (literal: string): string => literal.slice(1, -1);

/** One more move of this command; only a movement of something is a movement. */
const addMove = (source: string, target: string, amount: string): string => `
  if ${amount} > 0 then
    v_source := v_source || '${source}'::public.ledger_bucket; v_target := v_target || '${target}'::public.ledger_bucket;
    v_amount := v_amount || trim_scale(${amount});
  end if;`;

const bookPnl = (pnl: string): string => `
  if ${pnl} <> 0 then
    ${addMove('outside', 'pnl', pnl)}
    ${addMove('pnl', 'outside', `-(${pnl})`)}
    l.realized_pnl := l.realized_pnl + ${pnl};
    l.pnl_of_day := case when l.pnl_day = v_today then l.pnl_of_day else 0 end + ${pnl};
    l.pnl_day := v_today;
  end if;`;

/**
 * From the command c, the ledger row l, the reservation t (all null where there is none), the limits m and the halt:
 * the reason why not, or what is to be moved, with the ledger row and the reservation as they are afterwards.
 */
export const DECIDE = {
  reserve: `
    v_verdict := case
      when t.trade_id is not null then 'trade_exists'
      when v_halt is not null then 'halted'
      when c.lock_token is not null and not public.fn_holds_entry_lock(c.profile_id, c.symbol, c.lock_token)
        then 'stale_lock'
      when c.amount > m.order_notional_max then 'limit_order_notional'
      when l.open_trades >= m.open_positions_max then 'limit_open_positions'
      when l.pnl_day = v_today and l.pnl_of_day <= -m.daily_loss_max then 'limit_daily_loss'
      when c.amount > ${AVAILABLE} then 'insufficient_capital' end;
    if v_verdict is null then
      t := row (c.profile_id, c.trade_id, c.quantity, c.amount, 0, 0, 0)::public.reservations;
      ${take(ONE_MOVE.reserve)}
      l.reserved_for_orders := l.reserved_for_orders + c.amount;
      l.open_trades := l.open_trades + 1;
    else
      v_detail := case v_verdict
        when 'halted' then v_halt
        when 'limit_order_notional' then m.order_notional_max::text
        when 'limit_open_positions' then m.open_positions_max::text
        when 'limit_daily_loss' then m.daily_loss_max::text
        when 'insufficient_capital' then trim_scale(${AVAILABLE})::text end;
    end if;
  `,
  release: `
    v_verdict := case
      when t.trade_id is null then 'unknown_trade'
      when not ${IS_OPEN} then 'trade_closed'
      when t.reserved_for_orders = 0 then 'nothing_reserved'
      when c.amount > t.reserved_for_orders then 'exceeds_reservation' end;
    if v_verdict is null then
      v_share := coalesce(c.amount, t.reserved_for_orders);
      ${take(ONE_MOVE.release)}
      l.reserved_for_orders := l.reserved_for_orders - v_share;
      t.reserved_for_orders := t.reserved_for_orders - v_share;
      if t.reserved_for_orders = 0 then
        t.order_quantity := 0;
        if t.reserved_for_positions = 0 then l.open_trades := l.open_trades - 1; end if;
      end if;
    elsif v_verdict = 'exceeds_reservation' then
      v_detail := trim_scale(t.reserved_for_orders)::text;
    end if;
  `,
  fill: `
    if t.trade_id is null then v_verdict := 'unknown_trade';
    else
      -- The last fill takes the whole rest; each before it takes its share, rounded down.
      v_share := case when c.quantity >= t.order_quantity then t.reserved_for_orders
        else div(t.reserved_for_orders * c.quantity * 1e18, t.order_quantity) * 1e-18 end;
      v_source := '{}'; v_target := '{}'; v_amount := '{}';
      ${addMove('orders', 'positions', 'least(v_share, c.amount)')}
      ${addMove('orders', 'available', 'v_share - c.amount')}
      ${addMove('available', 'positions', 'c.amount - v_share')}
      ${bookPnl('-c.fee')}
      if not ${IS_OPEN} then l.open_trades := l.open_trades + 1; end if;
      l.reserved_for_orders := l.reserved_for_orders - v_share;
      l.reserved_for_positions := l.reserved_for_positions + c.amount;
      t := row (t.profile_id, t.trade_id, greatest(t.order_quantity - c.quantity, 0), t.reserved_for_orders - v_share,
        t.position_quantity + c.quantity, t.reserved_for_positions + c.amount, 0)::public.reservations;
    end if;
  `,
  close: `
    v_verdict := case
      when t.trade_id is null then 'unknown_trade'
      when t.position_quantity = 0 then case when ${IS_OPEN} then 'nothing_filled' else 'trade_closed' end
      when c.quantity > t.position_quantity then 'exceeds_position' end;
    if v_verdict is null then
      v_share := case when c.quantity = t.position_quantity then t.reserved_for_positions
        else div(t.reserved_for_positions * c.quantity * 1e18, t.position_quantity) * 1e-18 end;
      v_source := '{}'; v_target := '{}'; v_amount := '{}';
      ${addMove('positions', 'available', 'v_share')}
      ${bookPnl('c.pnl')}
      ${bookPnl('-c.fee')}
      if cardinality(v_amount) = 0 then v_verdict := 'nothing_to_move'; end if;
      l.reserved_for_positions := l.reserved_for_positions - v_share;
      t := row (t.profile_id, t.trade_id, t.order_quantity, t.reserved_for_orders, t.position_quantity - c.quantity,
        t.reserved_for_positions - v_share, 0)::public.reservations;
      if v_share > 0 and not ${IS_OPEN} then l.open_trades := l.open_trades - 1; end if;
    elsif v_verdict = 'exceeds_position' then
      v_detail := trim_scale(t.position_quantity)::text;
    end if;
  `,
  deposit: `
    ${take(ONE_MOVE.deposit)}
    l.allocated_capital := l.allocated_capital + c.amount;
  `,
  withdraw: `
    if c.amount > ${AVAILABLE} then
      v_verdict := 'insufficient_capital'; v_detail := trim_scale(${AVAILABLE})::text;
    else
      ${take(ONE_MOVE.withdraw)}
      l.allocated_capital := l.allocated_capital - c.amount;
    end if;
  `,
  rebuild: `
    -- What changed after the venue was asked, its answer says nothing about.
    if t.changed_sequence > c.until_sequence then v_verdict := 'changed_since';
    else
      if t.trade_id is null then t := row (c.profile_id, c.trade_id, 0, 0, 0, 0, 0)::public.reservations; end if;
      if (c.amount, c.quantity, c.position_amount, c.position_quantity) = (
          t.reserved_for_orders, t.order_quantity, t.reserved_for_positions, t.position_quantity) then
        v_verdict := 'unchanged';
      end if;
      v_source := '{}'; v_target := '{}'; v_amount := '{}';
      ${addMove('available', 'orders', 'c.amount - t.reserved_for_orders')}
      ${addMove('orders', 'available', 't.reserved_for_orders - c.amount')}
      ${addMove('available', 'positions', 'c.position_amount - t.reserved_for_positions')}
      ${addMove('positions', 'available', 't.reserved_for_positions - c.position_amount')}
      l.reserved_for_orders := l.reserved_for_orders + c.amount - t.reserved_for_orders;
      l.reserved_for_positions := l.reserved_for_positions + c.position_amount - t.reserved_for_positions;
      l.open_trades := l.open_trades - ${IS_OPEN}::integer;
      t := row (t.profile_id, t.trade_id, c.quantity, c.amount, c.position_quantity, c.position_amount,
        0)::public.reservations;
      l.open_trades := l.open_trades + ${IS_OPEN}::integer;
    end if;
  `,
} as const;

export type Kind = keyof typeof DECIDE;

export const KINDS = Object.keys(DECIDE) as Kind[];

/** SHA-256, cut to 16 bytes: to find another entry with the same one is still far beyond anybody's reach. */
export const chain = ({ part, source, target, amount }: Move): string =>
  `substring(sha256(l.last_hash || decode(concat_ws('|', l.last_sequence, ${part}, ${source}, ${target},
    ${amount}, v_now_text, c.body), 'escape')) for 16)`;

/** An entry, in the order of the columns of ledger_entries. */
export const entry = ({ part, source, target, amount }: Move): string =>
  `l.profile_id, l.last_sequence, c.happened_at, v_now, c.fingerprint, c.kind::public.ledger_command,
    ${source}::public.ledger_bucket, ${target}::public.ledger_bucket, (${part})::smallint, c.trade_id,
    ${amount}, c.key, c.actor, l.last_hash`;

export const NOTE_BREACH = `
  if l.breached_at is not null or c.kind in ('fill', 'close', 'rebuild') then
    if ${AVAILABLE} >= 0 then l.breached_at := null;
    elsif l.breached_at is null then
      l.breached_at := v_now;
      insert into public.halts (profile_id, reason, created_by)
      values (l.profile_id, 'available capital is below zero', 'ledger') on conflict do nothing;
      v_has_halts := true;
    end if;
  end if;
`;

/** Puts all moves of a command into the chain, and each into the hands of the caller. */
export const chainMoves = (write: (values: string) => string): string => {
  const move = { part: 'i - 1', source: 'v_source[i]', target: 'v_target[i]', amount: 'v_amount[i]' };
  return `
  for i in 1 .. cardinality(v_amount) loop
    l.last_sequence := l.last_sequence + 1;
    l.last_hash := ${chain(move)};
    ${write(entry(move))}
  end loop;
  ${NOTE_BREACH}`;
};

/** What a command may change of a ledger row. */
export const SAVED = [
  'allocated_capital',
  'reserved_for_orders',
  'reserved_for_positions',
  'realized_pnl',
  'open_trades',
  'pnl_day',
  'pnl_of_day',
  'last_sequence',
  'last_hash',
  'breached_at',
];

/** A halt that refuses the reservation c. */
export const HALT = `select h.scope || ': ' || h.reason from public.halts h
   where coalesce(h.venue = c.venue, true) and coalesce(h.profile_id = c.profile_id, true)
     and coalesce(h.symbol = lower(c.symbol), true)
   limit 1`;
