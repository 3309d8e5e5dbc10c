import type { Decimal } from '#libs/money';

interface Command {
  readonly profileId: string;
  /** Chosen by the caller, unique within the profile. The same command sent again with it is applied once. */
  readonly key: string;
  readonly actor: string;
  /** When it happened in the world; the moment of recording where it is not said. */
  readonly happenedAt?: Date | undefined;
}

interface TradeCommand extends Command {
  readonly tradeId: string;
}

export interface Deposit extends Command {
  readonly amount: Decimal;
}

export interface Withdrawal extends Command {
  readonly amount: Decimal;
}

export interface Reservation extends TradeCommand {
  readonly amount: Decimal;
  /** Of the order; each fill takes its share of the reserved amount. */
  readonly quantity: Decimal;
  readonly venue: string;
  readonly symbol: string;
  /** The token of the entry lock under which the caller decided. A stale one is refused. */
  readonly lockToken?: bigint | undefined;
}

export interface Release extends TradeCommand {
  /** Everything that is still reserved for orders, where it is not said. */
  readonly amount?: Decimal | undefined;
}

export interface Fill extends TradeCommand {
  readonly quantity: Decimal;
  /** What was paid for the quantity, without the fee. */
  readonly amount: Decimal;
  /** Negative for a rebate. */
  readonly fee?: Decimal | undefined;
}

export interface Close extends TradeCommand {
  readonly quantity: Decimal;
  /** Negative for a loss. */
  readonly pnl: Decimal;
  readonly fee?: Decimal | undefined;
}

export type LedgerCommand =
  | ({ readonly kind: 'deposit' } & Deposit)
  | ({ readonly kind: 'withdraw' } & Withdrawal)
  | ({ readonly kind: 'reserve' } & Reservation)
  | ({ readonly kind: 'release' } & Release)
  | ({ readonly kind: 'fill' } & Fill)
  | ({ readonly kind: 'close' } & Close);

/** The whole truth about one trade, as a venue told it. */
export interface TradeTruth {
  readonly tradeId: string;
  readonly orderAmount: Decimal;
  readonly orderQuantity: Decimal;
  readonly positionAmount: Decimal;
  readonly positionQuantity: Decimal;
}

export interface Rebuild extends Command {
  /** The last sequence of the profile's journal before the venue was asked. What changed later is left alone. */
  readonly untilSequence: bigint;
  /** Every open trade of the profile. One that is open here and not named is set to nothing. */
  readonly trades: readonly TradeTruth[];
}
