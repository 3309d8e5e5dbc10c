import { Decimal } from '#libs/money';
import type { LedgerCommand, ProfileLimits, RefusalCode, Verdict } from '../../index.js';

const ZERO = Decimal.zero;

interface Trade {
  orderQuantity: Decimal;
  orders: Decimal;
  positionQuantity: Decimal;
  positions: Decimal;
}

interface Move {
  readonly allocated?: Decimal;
  readonly orders?: Decimal;
  readonly positions?: Decimal;
  readonly pnl?: Decimal;
}

type Decision = { moves: Move[]; trade?: Trade } | { code: RefusalCode; detail?: string };

/** What the ledger of one profile must do, said once more and plainly: no batches, no locks, no database. */
export class LedgerModel {
  allocated = ZERO;
  orders = ZERO;
  positions = ZERO;
  pnl = ZERO;
  sequence = 0n;
  limits: ProfileLimits = {};
  /** Which of several refuses a reservation is not said. */
  halts: { scope: 'profile' | 'symbol'; symbol?: string; reason: string }[] = [];
  readonly trades = new Map<string, Trade>();
  private readonly keys = new Map<string, { body: string; sequence: bigint }>();

  get available(): Decimal {
    return this.allocated.minus(this.orders).minus(this.positions).plus(this.pnl);
  }

  get openTrades(): number {
    return [...this.trades.values()].filter(isOpen).length;
  }

  apply(command: LedgerCommand): Verdict {
    const wrong = fieldNotPositive(command);
    if (wrong) return { outcome: 'refused', code: 'amount_not_positive', detail: wrong };
    const body = bodyOf(command);
    const used = this.keys.get(command.key);
    if (used?.body === body) return { outcome: 'duplicate', sequence: used.sequence };
    if (used) return { outcome: 'refused', code: 'key_reused' };
    const decision = this.decide(command);
    if ('code' in decision) return { outcome: 'refused', ...decision };
    return this.record(command, body, decision);
  }

  private record(command: LedgerCommand, body: string, decision: Extract<Decision, { moves: Move[] }>): Verdict {
    const wasBreached = this.available.isNegative();
    const sequence = this.sequence + 1n;
    for (const move of decision.moves) {
      this.allocated = this.allocated.plus(move.allocated ?? ZERO);
      this.orders = this.orders.plus(move.orders ?? ZERO);
      this.positions = this.positions.plus(move.positions ?? ZERO);
      this.pnl = this.pnl.plus(move.pnl ?? ZERO);
      this.sequence += 1n;
    }
    if (decision.trade && 'tradeId' in command) this.trades.set(command.tradeId, decision.trade);
    this.keys.set(command.key, { body, sequence });
    const reason = 'available capital is below zero';
    if (!wasBreached && this.available.isNegative() && !this.halts.some((halt) => halt.reason === reason)) {
      this.halts.push({ scope: 'profile', reason });
    }
    return { outcome: 'applied', sequence };
  }

  private decide(command: LedgerCommand): Decision {
    switch (command.kind) {
      case 'deposit':
        return { moves: [{ allocated: command.amount }] };
      case 'withdraw':
        return this.tooMuch(command.amount) ?? { moves: [{ allocated: command.amount.negated() }] };
      case 'reserve':
        return this.decideReserve(command);
      default: {
        const trade = this.trades.get(command.tradeId);
        if (!trade) return { code: 'unknown_trade' };
        if (command.kind === 'release') return decideRelease(command, trade);
        return command.kind === 'fill' ? decideFill(command, trade) : decideClose(command, trade);
      }
    }
  }

  private decideReserve(command: Extract<LedgerCommand, { kind: 'reserve' }>): Decision {
    const { amount, quantity, symbol, tradeId } = command;
    const { orderNotionalMax, openPositionsMax } = this.limits;
    const halt = this.halts.find((each) => each.symbol === undefined || each.symbol === symbol.toLowerCase());
    if (this.trades.has(tradeId)) return { code: 'trade_exists' };
    if (halt) return { code: 'halted' };
    if (orderNotionalMax && amount.compare(orderNotionalMax) > 0) {
      return { code: 'limit_order_notional', detail: String(orderNotionalMax) };
    }
    if (openPositionsMax !== undefined && this.openTrades >= openPositionsMax) {
      return { code: 'limit_open_positions', detail: String(openPositionsMax) };
    }
    const trade = { orderQuantity: quantity, orders: amount, positionQuantity: ZERO, positions: ZERO };
    return this.tooMuch(amount) ?? { moves: [{ orders: amount }], trade };
  }

  private tooMuch(amount: Decimal): Decision | undefined {
    if (amount.compare(this.available) <= 0) return undefined;
    return { code: 'insufficient_capital', detail: String(this.available) };
  }
}

function decideRelease(command: Extract<LedgerCommand, { kind: 'release' }>, trade: Trade): Decision {
  if (!isOpen(trade)) return { code: 'trade_closed' };
  if (trade.orders.isZero()) return { code: 'nothing_reserved' };
  const amount = command.amount ?? trade.orders;
  if (amount.compare(trade.orders) > 0) return { code: 'exceeds_reservation', detail: String(trade.orders) };
  const orders = trade.orders.minus(amount);
  const orderQuantity = orders.isZero() ? ZERO : trade.orderQuantity;
  return { moves: [{ orders: amount.negated() }], trade: { ...trade, orders, orderQuantity } };
}

function decideFill({ quantity, amount, fee }: Extract<LedgerCommand, { kind: 'fill' }>, trade: Trade): Decision {
  const isLast = quantity.compare(trade.orderQuantity) >= 0;
  const share = isLast ? trade.orders : shareOf(trade.orders, quantity, trade.orderQuantity);
  const paid = share.compare(amount) < 0 ? share : amount;
  const moves: Move[] = [
    { orders: paid.negated(), positions: paid },
    { orders: paid.minus(share) },
    { positions: amount.minus(paid) },
    { pnl: (fee ?? ZERO).negated() },
  ];
  return {
    moves: moves.filter(movesSomething),
    trade: {
      orderQuantity: isLast ? ZERO : trade.orderQuantity.minus(quantity),
      orders: trade.orders.minus(share),
      positionQuantity: trade.positionQuantity.plus(quantity),
      positions: trade.positions.plus(amount),
    },
  };
}

function decideClose({ quantity, pnl, fee }: Extract<LedgerCommand, { kind: 'close' }>, trade: Trade): Decision {
  if (trade.positionQuantity.isZero()) return { code: isOpen(trade) ? 'nothing_filled' : 'trade_closed' };
  if (quantity.compare(trade.positionQuantity) > 0) {
    return { code: 'exceeds_position', detail: String(trade.positionQuantity) };
  }
  const isLast = quantity.equals(trade.positionQuantity);
  const share = isLast ? trade.positions : shareOf(trade.positions, quantity, trade.positionQuantity);
  const moves = [{ positions: share.negated() }, { pnl }, { pnl: (fee ?? ZERO).negated() }].filter(movesSomething);
  if (moves.length === 0) return { code: 'nothing_to_move' };
  const positionQuantity = trade.positionQuantity.minus(quantity);
  return { moves, trade: { ...trade, positionQuantity, positions: trade.positions.minus(share) } };
}

function shareOf(total: Decimal, part: Decimal, whole: Decimal): Decimal {
  return total.times(part).dividedBy(whole, { scale: 18, rounding: 'down' });
}

function movesSomething(move: Move): boolean {
  return Object.values(move).some((amount: Decimal) => !amount.isZero());
}

function isOpen(trade: Trade): boolean {
  return trade.orders.isPositive() || trade.positions.isPositive();
}

function fieldNotPositive(command: LedgerCommand): string | undefined {
  const { amount, quantity } = command as { amount?: Decimal; quantity?: Decimal };
  if (amount && !amount.isPositive()) return 'amount';
  return quantity && !quantity.isPositive() ? 'quantity' : undefined;
}

/** What two commands with one key must share to be the same. */
function bodyOf(command: LedgerCommand): string {
  const symbol = 'symbol' in command ? command.symbol.toLowerCase() : undefined;
  return JSON.stringify({ ...command, symbol, key: undefined, actor: undefined, happenedAt: undefined });
}
