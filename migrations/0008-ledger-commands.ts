import type { MigrationInterface, QueryRunner } from 'typeorm';
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
  type Kind,
  NOTE_BREACH,
  ONE_MOVE,
  SAVED,
  take,
} from './0006-ledger-rules.js';

/** One function for each command: what a batch of one would do, without the ado of a batch. */
export class LedgerCommands implements MigrationInterface {
  readonly name = 'LedgerCommands0000000000008';

  async up(runner: QueryRunner): Promise<void> {
    for (const command of COMMANDS) await runner.query(commandFunction(command));
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward.'));
  }
}

interface Command {
  readonly kind: Kind;
  /** Arguments after the profile and the key, in the order of the call; those in `optional` come last. */
  readonly args: readonly Field[];
  readonly optional: readonly Field[];
  readonly isForTenants?: true;
}

const COMMANDS: readonly Command[] = [
  { kind: 'deposit', args: ['amount', 'actor'], optional: ['happened_at'], isForTenants: true },
  { kind: 'withdraw', args: ['amount', 'actor'], optional: ['happened_at'], isForTenants: true },
  {
    kind: 'reserve',
    args: ['trade_id', 'amount', 'quantity', 'venue', 'symbol', 'actor'],
    optional: ['happened_at', 'lock_token'],
  },
  { kind: 'release', args: ['trade_id', 'actor'], optional: ['amount', 'happened_at'] },
  { kind: 'fill', args: ['trade_id', 'quantity', 'amount', 'actor'], optional: ['fee', 'happened_at'] },
  { kind: 'close', args: ['trade_id', 'quantity', 'pnl', 'actor'], optional: ['fee', 'happened_at'] },
];

/** The fields of a command, in the order of ledger_task. */
const FIELDS = {
  profile_id: 'uuid',
  trade_id: 'uuid',
  key: 'text',
  actor: 'text',
  happened_at: 'timestamptz',
  amount: 'numeric',
  quantity: 'numeric',
  fee: 'numeric',
  pnl: 'numeric',
  position_amount: 'numeric',
  position_quantity: 'numeric',
  venue: 'text',
  symbol: 'text',
  lock_token: 'bigint',
  until_sequence: 'bigint',
} as const;

type Field = keyof typeof FIELDS;

/**
 * The rules speak of the fields of a command c and of what a batch works out beforehand; in a function of its own these
 * are arguments, variables, and expressions where they are used but once.
 */
function bind(sql: string, { kind, args, optional }: Command): string {
  const given = new Set<string>(['profile_id', 'key', ...args, ...optional]);
  const field = (name: string): string => {
    if (name === 'kind') return `'${kind}'`;
    if (name === 'happened_at') return 'coalesce(p_happened_at, v_now)';
    if (!(name in FIELDS)) return `v_${name}`;
    return given.has(name) ? `p_${name}` : `null::${FIELDS[name as Field]}`;
  };
  return sql
    .replaceAll('c.body', BODY)
    .replace(/\bc\.([a-z_]+)/g, (_, name: string) => field(name))
    .replaceAll('v_now_text', 'extract(epoch from v_now)')
    .replaceAll('v_today', `(v_now at time zone 'UTC')::date`);
}

function commandFunction(command: Command): string {
  const { kind, args, optional, isForTenants } = command;
  const declared = [
    ...args.map((arg) => `p_${arg} ${FIELDS[arg]}`),
    ...optional.map((arg) => `p_${arg} ${FIELDS[arg]} default null`),
  ];
  return `
    create function fn_ledger_${kind}(p_profile_id uuid, p_key text, ${declared.join(', ')})
    returns public.ledger_verdict
    language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_generic_plan set enable_seqscan = off
    as $$
    declare
      ${DECLARE}
      v_fingerprint integer;
      v_print integer;
    begin
      ${isForTenants ? FOREIGN_IS_UNKNOWN : ''}
      ${bind(body(command), command)}
    end $$;
  `;
}

function body({ kind, args }: Command): string {
  const hasTrade = args.includes('trade_id');
  const lookUp = kind === 'reserve' ? LOOK_UP_FOR_RESERVE : hasTrade ? LOOK_UP_FOR_TRADE : LOOK_UP;
  return `
      if not ${IS_CLEAN} then
        select * into v_verdict, v_detail from public.fn_ledger_input_fault(row (c.kind, ${ALL_FIELDS}, null, null, null,
          null, null, null)::public.ledger_task);
        if v_verdict is not null then return row (1, v_verdict, null, v_detail)::public.ledger_verdict; end if;
      end if;
      select * into l from public.capital_ledger k where k.profile_id = c.profile_id for update;
      if not found then return row (1, 'unknown_profile', null, null)::public.ledger_verdict; end if;
      ${lookUp}
      if v_print is not null then
        return (select row (1, case v_print when c.fingerprint then 'duplicate' else 'key_reused' end,
                       case v_print when c.fingerprint then k.sequence end, null)::public.ledger_verdict
                  from public.ledger_entries k where ${isKey('k', 'c.profile_id', 'c.key')});
      end if;
      ${kind in ONE_MOVE ? moveOnce(kind as keyof typeof ONE_MOVE, hasTrade) : moveOften(kind)}`;
}

/** The usual case, with as few statements as can be: a statement costs more than what it does. */
function moveOnce(kind: keyof typeof ONE_MOVE, hasTrade: boolean): string {
  const move = ONE_MOVE[kind];
  return `
      ${DECIDE[kind].replace(take(move), '')}
      if v_verdict is not null then return row (1, v_verdict, null, v_detail)::public.ledger_verdict; end if;
      l.last_sequence := l.last_sequence + 1;
      l.last_hash := ${chain(move)};
      ${kind === 'reserve' ? '' : NOTE_BREACH}
      ${hasTrade ? 't.changed_sequence := l.last_sequence;' : ''}
      with entry as (insert into public.ledger_entries values (${entry(move)}))
      ${hasTrade ? `, reservation as (${kind === 'reserve' ? NEW_RESERVATION : OLD_RESERVATION})` : ''}
      ${saveLedger(SAVED_BY[kind])}
      return row (1, 'applied', l.last_sequence, null)::public.ledger_verdict;`;
}

function moveOften(kind: Kind): string {
  return `
      ${DECIDE[kind]}
      if v_verdict is not null then return row (1, v_verdict, null, v_detail)::public.ledger_verdict; end if;
      ${chainMoves((values) => `insert into public.ledger_entries values (${values});`)}
      t.changed_sequence := l.last_sequence;
      with reservation as (${OLD_RESERVATION})
      ${saveLedger(SAVED)}
      return row (1, 'applied', l.last_sequence - cardinality(v_amount) + 1, null)::public.ledger_verdict;`;
}

const ALL_FIELDS = Object.keys(FIELDS)
  .map((field) => `c.${field}`)
  .join(', ');

const FOREIGN_IS_UNKNOWN = `if not public.fn_tenant_may_touch(p_profile_id) then
        return row (1, 'unknown_profile', null, null)::public.ledger_verdict;
      end if;`;

const RESERVED = [
  ...['profile_id', 'trade_id', 'order_quantity', 'reserved_for_orders', 'position_quantity', 'reserved_for_positions'],
  'changed_sequence',
];

const USED_KEY = `left join public.ledger_entries k on ${isKey('k', 'c.profile_id', 'c.key')}`;
const RESERVATION = 'left join public.reservations r on r.profile_id = c.profile_id and r.trade_id = c.trade_id';

// All that a command must know, in one statement after the lock.
const ALWAYS = `clock_timestamp(), ${FINGERPRINT}`;

const LOOK_UP = `select ${ALWAYS}, k.fingerprint into v_now, v_fingerprint, v_print from (select 1) one ${USED_KEY};`;

const LOOK_UP_FOR_TRADE = `select ${ALWAYS}, k.fingerprint, ${RESERVED.map((column) => `r.${column}`).join(', ')}
        into v_now, v_fingerprint, v_print, ${RESERVED.map((column) => `t.${column}`).join(', ')}
        from (select 1) one ${USED_KEY} ${RESERVATION};`;

const LOOK_UP_FOR_RESERVE = `select ${ALWAYS}, k.fingerprint, r.trade_id, (${HALT}), n.order_notional_max, n.open_positions_max,
             n.daily_loss_max
        into v_now, v_fingerprint, v_print, t.trade_id, v_halt, m.order_notional_max, m.open_positions_max, m.daily_loss_max
        from (select 1) one ${USED_KEY} ${RESERVATION}
        left join public.profile_limits n on n.profile_id = c.profile_id;`;

const NEW_RESERVATION = 'insert into public.reservations values (t.*)';

const OLD_RESERVATION = `update public.reservations k
         set order_quantity = t.order_quantity, reserved_for_orders = t.reserved_for_orders,
             position_quantity = t.position_quantity, reserved_for_positions = t.reserved_for_positions,
             changed_sequence = t.changed_sequence
       where k.profile_id = t.profile_id and k.trade_id = t.trade_id`;

/** A command that moves once changes little of its ledger row. */
const SAVED_BY = {
  reserve: ['reserved_for_orders', 'open_trades', 'last_sequence', 'last_hash'],
  release: ['reserved_for_orders', 'open_trades', 'last_sequence', 'last_hash', 'breached_at'],
  deposit: ['allocated_capital', 'last_sequence', 'last_hash', 'breached_at'],
  withdraw: ['allocated_capital', 'last_sequence', 'last_hash'],
} as const satisfies Record<keyof typeof ONE_MOVE, readonly string[]>;

function saveLedger(columns: readonly string[]): string {
  return `update public.capital_ledger k
         set ${columns.map((column) => `${column} = l.${column}`).join(', ')} where k.profile_id = l.profile_id;`;
}
