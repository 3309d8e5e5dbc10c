import { type chain, ONE_MOVE } from './0006-ledger-rules.js';

/**
 * The rules of the commands that are always one movement, in pieces: why not, and what becomes of the ledger row l and of
 * the reservation t. A batch makes statements of them, a single command the clauses of its two statements. They speak of
 * a command c, its limits m and the halt, as those of the other commands do.
 */
export interface OneMove {
  readonly refusals: readonly Refusal[];
  readonly move: Parameters<typeof chain>[0];
  /** New values, in terms of the old ones. */
  readonly ledger: Readonly<Record<string, string>>;
  readonly trade?: Readonly<Record<string, string>>;
}

export type OneMoveKind = keyof typeof ONE_MOVE;

/** In the order of asking. A condition that is null does not refuse. */
export interface Refusal {
  readonly code: string;
  readonly when: string;
  readonly detail?: string;
}

const AVAILABLE = '(l.allocated_capital - l.reserved_for_orders - l.reserved_for_positions + l.realized_pnl)';
const SHARE = 'coalesce(c.amount, t.reserved_for_orders)';

const TOO_MUCH: Refusal = {
  code: 'insufficient_capital',
  when: `c.amount > ${AVAILABLE}`,
  detail: `trim_scale(${AVAILABLE})::text`,
};

export const RULES: Readonly<Record<OneMoveKind, OneMove>> = {
  deposit: {
    refusals: [],
    move: ONE_MOVE.deposit,
    ledger: { allocated_capital: 'l.allocated_capital + c.amount' },
  },
  withdraw: {
    refusals: [TOO_MUCH],
    move: ONE_MOVE.withdraw,
    ledger: { allocated_capital: 'l.allocated_capital - c.amount' },
  },
  reserve: {
    refusals: [
      { code: 'trade_exists', when: 't.trade_id is not null' },
      { code: 'halted', when: 'v_halt is not null', detail: 'v_halt' },
      {
        code: 'stale_lock',
        when: 'c.lock_token is not null and not public.fn_holds_entry_lock(c.profile_id, c.symbol, c.lock_token)',
      },
      {
        code: 'limit_order_notional',
        when: 'c.amount > m.order_notional_max',
        detail: 'm.order_notional_max::text',
      },
      {
        code: 'limit_open_positions',
        when: 'l.open_trades >= m.open_positions_max',
        detail: 'm.open_positions_max::text',
      },
      {
        code: 'limit_daily_loss',
        when: 'l.pnl_day = v_today and l.pnl_of_day <= -m.daily_loss_max',
        detail: 'm.daily_loss_max::text',
      },
      TOO_MUCH,
    ],
    move: ONE_MOVE.reserve,
    ledger: { reserved_for_orders: 'l.reserved_for_orders + c.amount', open_trades: 'l.open_trades + 1' },
    trade: {
      order_quantity: 'c.quantity',
      reserved_for_orders: 'c.amount',
      position_quantity: '0',
      reserved_for_positions: '0',
    },
  },
  release: {
    refusals: [
      { code: 'unknown_trade', when: 't.trade_id is null' },
      { code: 'trade_closed', when: 't.reserved_for_orders = 0 and t.reserved_for_positions = 0' },
      { code: 'nothing_reserved', when: 't.reserved_for_orders = 0' },
      {
        code: 'exceeds_reservation',
        when: 'c.amount > t.reserved_for_orders',
        detail: 'trim_scale(t.reserved_for_orders)::text',
      },
    ],
    move: { ...ONE_MOVE.release, amount: `trim_scale(${SHARE})` },
    ledger: {
      reserved_for_orders: `l.reserved_for_orders - ${SHARE}`,
      open_trades: `l.open_trades - (t.reserved_for_positions = 0 and t.reserved_for_orders = ${SHARE})::integer`,
    },
    trade: {
      order_quantity: `case when t.reserved_for_orders = ${SHARE} then 0 else t.order_quantity end`,
      reserved_for_orders: `t.reserved_for_orders - ${SHARE}`,
    },
  },
};

/** Why not, as one expression: null, or the first refusal that applies. */
export function verdictOf(refusals: readonly Refusal[]): string {
  if (refusals.length === 0) return 'null';
  return `case ${refusals.map(({ code, when }) => `when ${when} then '${code}'`).join('\n')} end`;
}
