import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A command in a call of its own, done hopefully, as before and with less: what is wrong with it in itself is asked before
 * any table is touched, rows are written by the plainest statements there are, and the plan is made once because it is
 * always the same. Where hope fails, all is undone, and a batch of this one command applies it or says why not.
 *
 * The first statement moves the ledger row: it locks it, asks what the row can answer, and writes. Those after it write
 * reservation and journal and ask the rest; what they read is newer than the lock.
 */
export class SingleCommands implements MigrationInterface {
  readonly name = 'SingleCommands0000000000020';

  async up(runner: QueryRunner): Promise<void> {
    for (const command of COMMANDS) await runner.query(singleCommand(command));
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward.'));
  }
}

interface Command {
  readonly kind: 'deposit' | 'withdraw' | 'reserve' | 'release';
  /** With their types; the profile and the key come before, and a default after those that need none. */
  readonly args: readonly string[];
  readonly isForTenants: boolean;
  /** Of the fields that are not a word: nothing is wrong with them. */
  readonly isClean: string;
  readonly from: string;
  readonly to: string;
  /** What is moved, in terms of the rows as they were. */
  readonly amount: string;
  /** What becomes of the ledger row l, and when. */
  readonly ledger: { readonly set: string; readonly using?: string; readonly where: string };
  /** What the statements after it must know of the rows as they were: a variable with its type, and its value. */
  readonly kept?: readonly (readonly [variable: string, value: string])[];
  /** Writes the reservation, or nothing at all where something refuses. */
  readonly reservation?: string;
}

const AVAILABLE = '(l.allocated_capital - l.reserved_for_orders - l.reserved_for_positions + l.realized_pnl)';
const SHARE = 'coalesce(p_amount, t.reserved_for_orders)';
const isAmount = (value: string): string => `${value} > 0 and ${value} < 1e20 and scale(${value}) <= 18`;

const COMMANDS: readonly Command[] = [
  {
    kind: 'deposit',
    args: ['amount numeric', 'actor text', 'happened_at timestamptz default null'],
    isForTenants: true,
    isClean: isAmount('p_amount'),
    ...{ from: 'outside', to: 'available', amount: 'p_amount' },
    ledger: { set: 'allocated_capital = l.allocated_capital + p_amount', where: 'true' },
  },
  {
    kind: 'withdraw',
    args: ['amount numeric', 'actor text', 'happened_at timestamptz default null'],
    isForTenants: true,
    isClean: isAmount('p_amount'),
    ...{ from: 'available', to: 'outside', amount: 'p_amount' },
    ledger: { set: 'allocated_capital = l.allocated_capital - p_amount', where: `p_amount <= ${AVAILABLE}` },
  },
  {
    kind: 'reserve',
    args: [
      ...['trade_id uuid', 'amount numeric', 'quantity numeric', 'venue text', 'symbol text', 'actor text'],
      ...['happened_at timestamptz default null', 'lock_token bigint default null'],
    ],
    isForTenants: false,
    isClean: `p_trade_id is not null and ${isAmount('p_amount')} and ${isAmount('p_quantity')}
      and p_venue <> '' and p_symbol <> ''`,
    ...{ from: 'available', to: 'orders', amount: 'p_amount' },
    ledger: {
      set: 'reserved_for_orders = l.reserved_for_orders + p_amount, open_trades = l.open_trades + 1',
      where: `p_amount <= ${AVAILABLE}`,
    },
    kept: [
      ['v_open_trades integer', 'l.open_trades - 1'],
      ['v_pnl_day date', 'l.pnl_day'],
      ['v_pnl_of_day numeric', 'l.pnl_of_day'],
    ],
    // Whether the trade is new, the index knows. A limit that is null does not limit.
    reservation: `
      insert into public.reservations (profile_id, trade_id, order_quantity, reserved_for_orders, position_quantity,
        reserved_for_positions, changed_sequence)
      select p_profile_id, p_trade_id, p_quantity, p_amount, 0, 0, v_sequence
        from (select) one left join public.profile_limits m on m.profile_id = p_profile_id
       where not exists (
               select from public.halts h
                where coalesce(h.venue = p_venue, true) and coalesce(h.profile_id = p_profile_id, true)
                  and coalesce(h.symbol = lower(p_symbol), true))
         and (p_lock_token is null or public.fn_holds_entry_lock(p_profile_id, p_symbol, p_lock_token))
         and coalesce(p_amount <= m.order_notional_max, true)
         and coalesce(v_open_trades < m.open_positions_max, true)
         and coalesce(v_pnl_day <> (clock_timestamp() at time zone 'UTC')::date
           or v_pnl_of_day > -m.daily_loss_max, true)`,
  },
  {
    kind: 'release',
    args: ['trade_id uuid', 'actor text', 'amount numeric default null', 'happened_at timestamptz default null'],
    isForTenants: false,
    isClean: `p_trade_id is not null and (p_amount is null or ${isAmount('p_amount')})`,
    ...{ from: 'orders', to: 'available', amount: SHARE },
    ledger: {
      set: `reserved_for_orders = l.reserved_for_orders - ${SHARE},
           open_trades = l.open_trades - (t.reserved_for_positions = 0 and t.reserved_for_orders = ${SHARE})::integer`,
      using: 'from public.reservations t',
      where: `t.profile_id = p_profile_id and t.trade_id = p_trade_id
         and t.reserved_for_orders > 0 and ${SHARE} <= t.reserved_for_orders`,
    },
    kept: [
      ['v_for_orders numeric', 't.reserved_for_orders'],
      ['v_for_positions numeric', 't.reserved_for_positions'],
    ],
    // A reservation that changed while the ledger row was waited for is not found.
    reservation: `
      update public.reservations t
         set order_quantity = case when t.reserved_for_orders = ${SHARE} then 0 else t.order_quantity end,
             reserved_for_orders = t.reserved_for_orders - ${SHARE}, changed_sequence = v_sequence
       where t.profile_id = p_profile_id and t.trade_id = p_trade_id
         and t.reserved_for_orders = v_for_orders and t.reserved_for_positions = v_for_positions`,
  },
];

// The key's length is asked with a limit and not in its pattern: a pattern that counts is slow.
const WORDS_ARE_CLEAN = `p_key ~ '^[A-Za-z0-9._:/+=@-]+$' and p_actor ~ '^[A-Za-z0-9._:/+=@-]+$'
  and greatest(length(p_key), length(p_actor)) <= 100 and (p_happened_at is null or isfinite(p_happened_at))`;

function singleCommand(command: Command): string {
  const { kind, args, isForTenants, isClean, from, to, amount, ledger, kept = [], reservation } = command;
  const has = (name: string): boolean => args.some((arg) => arg.startsWith(`${name} `));
  const tradeId = has('trade_id') ? 'p_trade_id' : 'null::uuid';
  const keptNames = kept.map(([variable]) => variable.split(' ')[0]);
  const applied = `insert into public.ledger_entries values (p_profile_id, v_sequence, coalesce(p_happened_at, v_now),
          v_now, v_fingerprint, '${kind}', '${from}', '${to}', 0, ${tradeId}, v_amount, p_key, p_actor, v_hash);
        return row (1, 'applied', v_sequence, null)::public.ledger_verdict;`;
  return `
  create or replace function fn_ledger_${kind}(p_profile_id uuid, p_key text, ${args.map((arg) => `p_${arg}`).join(', ')})
  returns public.ledger_verdict
  language plpgsql volatile security definer
  -- By index, whatever the tables hold when the plan is made.
  set search_path = pg_catalog, pg_temp set enable_seqscan = off
  as $$
  declare
    v_now constant timestamptz := clock_timestamp();
    v_fingerprint constant integer := hash_record(row ('${kind}'::text, ${tradeId}, p_amount,
      ${has('quantity') ? 'p_quantity' : 'null::numeric'}, null::numeric, null::numeric, null::numeric, null::numeric,
      ${has('venue') ? 'p_venue, lower(p_symbol)' : 'null::text, null::text'}));
    v_sequence bigint; v_hash bytea; v_amount numeric; ${kept.map(([variable]) => `${variable};`).join(' ')}
  begin
    ${isForTenants ? FOREIGN_IS_UNKNOWN : ''}
    if ${WORDS_ARE_CLEAN} and ${isClean} then
      begin
        update public.capital_ledger l
           set ${ledger.set}, last_sequence = l.last_sequence + 1,
               last_hash = substring(sha256(l.last_hash || decode(concat_ws('|', l.last_sequence + 1,
                 '0|${from}|${to}', trim_scale(${amount}), extract(epoch from v_now), '${kind}', ${tradeId}, p_key,
                 p_actor, v_fingerprint, extract(epoch from coalesce(p_happened_at, v_now))), 'escape')) for 16)
          ${ledger.using ?? ''}
         where l.profile_id = p_profile_id and l.breached_at is null and ${ledger.where}
        returning ${['l.last_sequence', 'l.last_hash', `trim_scale(${amount})`, ...kept.map(([, value]) => value)].join(', ')}
             into ${['v_sequence', 'v_hash', 'v_amount', ...keptNames].join(', ')};
        if found then
          ${
            reservation
              ? `${reservation};
          if found then ${applied} end if;
          raise sqlstate 'FLT01' using message = 'A hopeful command meets a refusal.';`
              : applied
          }
        end if;
      -- A reservation that was read before the wait can lead to a row that a policy forbids.
      exception when unique_violation or insufficient_privilege or sqlstate 'FLT01' then null;
      end;
    end if;
    return (select v from public.fn_ledger_apply_batch(jsonb_build_array(jsonb_build_object('kind', '${kind}',
      'profileId', p_profile_id, 'key', p_key, ${args.map(asJson).join(', ')}))) v);
  end $$;
  `;
}

function asJson(arg: string): string {
  const [name = ''] = arg.split(' ');
  const camel = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return `'${camel}', p_${name}`;
}

const FOREIGN_IS_UNKNOWN = `if not public.fn_tenant_may_touch(p_profile_id) then
      return row (1, 'unknown_profile', null, null)::public.ledger_verdict;
    end if;`;
