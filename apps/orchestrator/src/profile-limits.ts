import { z } from 'zod';
import { Decimal } from '#libs/money';
import type { ProfileLimits } from '#libs/ledger';
import { LimitAmount } from './amount.js';

const COUNT_MAX = 2 ** 31 - 1;

/** What is left out, or null, is not limited. */
export const LimitsBody = z.strictObject({
  orderNotionalMax: LimitAmount.nullish().describe('largest amount of one order'),
  openPositionsMax: z.int().min(0).max(COUNT_MAX).nullish().describe('trades that may hold capital at the same time'),
  dailyLossMax: LimitAmount.nullish().describe('loss of one day (UTC) that ends new entries'),
});
export type LimitsBody = z.infer<typeof LimitsBody>;

export const LimitsAnswer = z.strictObject({
  orderNotionalMax: z.string().nullable(),
  openPositionsMax: z.int().nullable(),
  dailyLossMax: z.string().nullable(),
});
export type LimitsAnswer = z.infer<typeof LimitsAnswer>;

export function limitsOf(body: LimitsBody): ProfileLimits {
  return {
    orderNotionalMax: amountOf(body.orderNotionalMax),
    openPositionsMax: body.openPositionsMax ?? undefined,
    dailyLossMax: amountOf(body.dailyLossMax),
  };
}

export function limitsAnswer(limits: ProfileLimits | undefined): LimitsAnswer {
  return {
    orderNotionalMax: limits?.orderNotionalMax?.toString() ?? null,
    openPositionsMax: limits?.openPositionsMax ?? null,
    dailyLossMax: limits?.dailyLossMax?.toString() ?? null,
  };
}

function amountOf(text: string | null | undefined): Decimal | undefined {
  return text == null ? undefined : Decimal.parse(text);
}
