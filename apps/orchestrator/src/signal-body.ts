import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Tx } from '#libs/database';
import { Refusal } from '#libs/http';
import { tradeIdOf, type Signal } from '#libs/lifecycle';
import { Decimal } from '#libs/money';
import { findFirstAct, isStoredAsGiven, recordAct } from '#libs/tenancy';
import { LimitAmount } from './amount.js';
import { LIMIT_FITS_TYPE, LimitPrice, OrderKind, termsOf } from './order-terms.js';

const STRATEGY = 'manual';
const ACTION = 'trade.enter';
const Name = z.string().min(1).max(64).refine(isStoredAsGiven, { error: 'expected text without control characters' });

export const SignalBody = z
  .strictObject({
    signalId: z
      .string()
      .regex(/^[A-Za-z0-9._:/+=@-]{1,100}$/, { error: 'expected 1 to 100 letters, digits or ._:/+=@-' })
      .describe('chosen by the caller, unique within the profile; the same signal again is traded once')
      .meta({ examples: ['breakout-2041'] }),
    venue: Name.meta({ examples: ['paper'] }),
    symbol: Name.meta({ examples: ['BTC/USD'] }),
    side: z.enum(['buy', 'sell']).describe('buy goes long, sell goes short'),
    quantity: LimitAmount.optional()
      .describe('so many pieces; this or notional')
      .meta({ examples: ['0.01'] }),
    notional: LimitAmount.optional()
      .describe('as many whole steps as so much money buys; this or quantity')
      .meta({ examples: ['500'] }),
    type: OrderKind,
    limitPrice: LimitPrice.optional(),
    timeInForce: z.enum(['day', 'gtc', 'ioc', 'fok']).default('gtc'),
  })
  .refine(({ quantity, notional }) => (quantity === undefined) !== (notional === undefined), {
    path: ['quantity'],
    error: 'expected either quantity or notional',
  })
  .refine(LIMIT_FITS_TYPE.check, LIMIT_FITS_TYPE.fault);
export type SignalBody = z.infer<typeof SignalBody>;

export function signalOf(body: SignalBody, { profileId, actor }: { profileId: string; actor: string }): Signal {
  const { signalId, venue, symbol, side, timeInForce, quantity, notional } = body;
  return {
    ...{ profileId, venue, symbol, side, timeInForce, strategy: STRATEGY, signalId, actor },
    size: notional === undefined ? { quantity: Decimal.parse(quantity ?? '') } : { notional: Decimal.parse(notional) },
    order: termsOf(body),
  };
}

/**
 * Records the signal before anything comes of it. The first request with an id says what the id means from then on,
 * also when nothing could be begun; one that says something else is refused.
 */
export async function recordSignal(tx: Tx, signal: Signal): Promise<void> {
  const { profileId, signalId, actor } = signal;
  // Of two requests with one id at once, the second waits for what the first says.
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`signal ${profileId} ${signalId}`]);
  const detail = wordsOf(signal);
  const first = await findFirstAct(tx, { profileId, action: ACTION, detail: { signalId } });
  if (!first) return recordAct(tx, { actor, action: ACTION, profileId, subject: tradeIdOf(signal), detail });
  if (isDeepStrictEqual(first.detail, detail)) return;
  throw new Refusal(
    409,
    'signal_reused',
    `The signal ${signalId} was sent before with another content, as trade ${first.subject}. Choose another signalId.`,
  );
}

function wordsOf({ signalId, venue, symbol, side, size, order, timeInForce }: Signal): Record<string, unknown> {
  return {
    ...{ signalId, venue, symbol, side, timeInForce, type: order.type },
    ...('quantity' in size ? { quantity: size.quantity.toString() } : { notional: size.notional.toString() }),
    ...(order.type === 'limit' && { limitPrice: order.limitPrice.toString() }),
  };
}
