import type { Decimal } from '#libs/money';

export const MINUTE_MS = 60_000;

/** What the price did in one minute, and how much was traded. */
export interface Candle {
  /** Unix time in milliseconds at which the minute starts. */
  readonly ts: number;
  readonly open: Decimal;
  readonly high: Decimal;
  readonly low: Decimal;
  readonly close: Decimal;
  readonly volume: Decimal;
}
