import { Decimal } from '#libs/money';
import type { Instrument, Protocol } from '../market/instruments.js';

/** Basis points of what a fill brings in, as Alpaca and Binance charge them; Alpaca trades stocks without. */
export interface FeeRates {
  readonly makerBps: Decimal;
  readonly takerBps: Decimal;
}

export type FeeSchedule = Record<Protocol, FeeRates>;

export const USUAL_FEES: FeeSchedule = {
  alpaca: { makerBps: Decimal.parse('15'), takerBps: Decimal.parse('25') },
  binance: { makerBps: Decimal.parse('10'), takerBps: Decimal.parse('10') },
};

const PER_BPS = Decimal.parse('0.0001');

/** Binance counts to eight places, and so do we. */
const FEE_SCALE = 8;

/** The fee on what a fill brings in, in the same asset. Rounded down: never more than the rate. */
export function feeOn(
  received: Decimal,
  by: { instrument: Instrument; protocol: Protocol; isMaker: boolean; fees: FeeSchedule },
): Decimal {
  if (by.instrument.kind === 'stock') return Decimal.zero;
  const { makerBps, takerBps } = by.fees[by.protocol];
  const bps = by.isMaker ? makerBps : takerBps;
  return received.times(bps).times(PER_BPS).rounded({ scale: FEE_SCALE, rounding: 'down' });
}
