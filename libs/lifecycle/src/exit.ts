import { Decimal } from '#libs/money';
import { clientOrderIdFor, VenueUnavailable, type Instrument, type Venue } from '#libs/venues';
import { cancelTrade } from './cancel.js';
import { wholeStepsOf, type Buffers } from './entry-plan.js';
import { underEntryLock } from './held-lock.js';
import { beginExit, findUndecided } from './intents.js';
import type { LifecycleParts } from './lifecycle-parts.js';
import type { ExitRequest, Outcome } from './signal.js';
import { submitOnce } from './submission.js';
import { findTrade, type Trade, type TradeRef } from './trades.js';

const TIME_IN_FORCE = 'gtc' as const;
const BPS = Decimal.fromInteger(10_000n);

/** There is no such trade, or not in this profile. */
export class UnknownTrade extends Error {
  constructor(readonly ref: TradeRef) {
    super(`Profile ${ref.profileId} has no trade ${ref.tradeId}.`);
    this.name = 'UnknownTrade';
  }
}

/**
 * Leaves a trade with all that it holds. An entry order that still works is cancelled first, because what it brought in
 * later would be left over. Each attempt has a generation of its own: a venue may refuse the id of a cancelled exit.
 */
export async function exitTrade(parts: LifecycleParts, request: ExitRequest): Promise<Outcome> {
  let trade = await getTrade(parts, request);
  if (trade.state === 'entering') {
    await cancelTrade(parts, request);
    trade = await getTrade(parts, request);
  }
  const venue = parts.venueOf(trade.venue);
  const clientOrderId = exitIdOf(parts, venue, trade);
  const skipped = (reason: string, detail: string): Outcome => {
    parts.observer.concluded('exit', 'skipped', reason);
    return { tradeId: trade.tradeId, clientOrderId, outcome: 'skipped', reason, detail };
  };
  const obstacle = obstacleOf(trade);
  if (obstacle) return skipped(...obstacle);
  if (trade.state === 'exiting') return exitUnderWay(parts, trade, clientOrderId);

  const plan = await planExit(parts, venue, trade);
  if ('refusal' in plan) {
    // An exit that another began meanwhile has taken from the account what is missing there.
    const now = await getTrade(parts, request);
    if (now.state === 'exiting') return exitUnderWay(parts, now, exitIdOf(parts, venue, now));
    const ended = obstacleOf(now);
    return ended ? skipped(...ended) : skipped(plan.refusal, plan.detail);
  }
  const outcome = await underEntryLock(parts, trade, async (lock): Promise<Outcome> => {
    await parts.observer.reached('exit:locked');
    const { profileId, tradeId, exitGeneration: generation, symbol } = trade;
    const limitPrice = request.order.type === 'limit' ? request.order.limitPrice : undefined;
    const terms = { type: request.order.type, timeInForce: TIME_IN_FORCE, clientOrderId } as const;
    const { actor } = request;
    const { verdict } = await beginExit(parts.database, {
      ...{ profileId, tradeId, generation, lockToken: lock.token, limitPrice, actor },
      ...terms,
      ...plan,
    });
    if (verdict === 'exists') return exitUnderWay(parts, trade, clientOrderId);
    if (verdict !== 'begun') return skipped(verdict, 'The trade changed meanwhile; look at it again.');
    const side = trade.side === 'long' ? 'sell' : 'buy';
    const order = { ...terms, symbol, side, quantity: plan.quantity, ...(limitPrice && { limitPrice }) } as const;
    const ref = { profileId, tradeId, generation };
    const submission = { ref, venue, request: { ...order, purpose: 'exit' }, lock, actor } as const;
    return { tradeId, clientOrderId, ...(await submitOnce(parts, submission)) };
  });
  return outcome ?? skipped('locked', `Another process is entering or leaving ${trade.symbol} for this profile.`);
}

function obstacleOf({ state, positionQuantity }: Trade): [reason: string, detail: string] | undefined {
  switch (state) {
    case 'pending':
    case 'unknown':
      return ['entry_unknown', 'The venue has not said yet whether there is an entry to leave.'];
    case 'entering':
      return ['entry_working', 'The entry order is told to be cancelled and still works; try again.'];
    case 'rejected':
    case 'closed':
    case 'cancelled':
      return ['trade_ended', `The trade is ${state}; there is nothing to leave.`];
    case 'open':
    case 'exiting':
    case 'disputed':
      return positionQuantity.isZero() ? ['trade_ended', 'The trade holds nothing.'] : undefined;
  }
}

async function exitUnderWay(parts: LifecycleParts, trade: Trade, clientOrderId: string): Promise<Outcome> {
  const { profileId, tradeId, exitGeneration: generation } = trade;
  const undecided = await parts.database.statement((tx) => findUndecided(tx, { profileId, tradeId, generation }));
  if (!undecided) return { tradeId, clientOrderId, outcome: 'submitted' };
  return { tradeId, clientOrderId, outcome: 'unknown', reason: undecided.reason ?? 'pending' };
}

type ExitPlan =
  { readonly quantity: Decimal; readonly leftBehind: Decimal } | { readonly refusal: string; readonly detail: string };

/**
 * A venue may hold less than its fills say, because it takes its fee out of what was bought without telling, and it
 * trades in whole steps. As much as that explains is left behind; more than that is for a person to look at.
 */
async function planExit(parts: LifecycleParts, venue: Venue, trade: Trade): Promise<ExitPlan> {
  const wanted = trade.positionQuantity;
  try {
    const instrument = await venue.instrument(trade.symbol);
    const held = trade.side === 'long' ? await heldAt(venue, trade.symbol) : wanted;
    const quantity = wholeStepsOf(held.compare(wanted) < 0 ? held : wanted, instrument);
    const leftBehind = wanted.minus(quantity);
    if (leftBehind.compare(leftBehindMax(wanted, instrument, parts.settings.buffers)) > 0) {
      const detail = `The trade holds ${wanted.toString()}, and the venue ${held.toString()} in all; compare them.`;
      return { refusal: 'venue_holds_less', detail };
    }
    if (!quantity.isPositive()) return { refusal: 'below_minimum', detail: 'What is left is less than one step.' };
    return { quantity, leftBehind };
  } catch (error) {
    if (error instanceof VenueUnavailable) return { refusal: 'venue_unavailable', detail: error.message };
    throw error;
  }
}

function leftBehindMax(wanted: Decimal, { quantityStep }: Instrument, { feeBps }: Buffers): Decimal {
  const fee = wanted.times(Decimal.fromInteger(BigInt(feeBps))).dividedBy(BPS, { scale: 18, rounding: 'up' });
  return fee.plus(quantityStep);
}

async function heldAt(venue: Venue, symbol: string): Promise<Decimal> {
  if (venue.capabilities.hasPositions) {
    return (await venue.positions()).find((position) => position.symbol === symbol)?.quantity ?? Decimal.zero;
  }
  const base = symbol.split('/')[0];
  return (await venue.balances()).find(({ asset }) => asset === base)?.available ?? Decimal.zero;
}

function exitIdOf(parts: LifecycleParts, venue: Venue, { profileId, tradeId, exitGeneration }: Trade): string {
  const { clientOrderIdPrefix } = parts.settings;
  return clientOrderIdFor(
    { profileId, tradeId, exitGeneration },
    clientOrderIdPrefix,
    venue.capabilities.clientOrderIds,
  );
}

async function getTrade(parts: LifecycleParts, { profileId, tradeId }: TradeRef): Promise<Trade> {
  const trade = await parts.database.statement((tx) => findTrade(tx, { profileId, tradeId }));
  if (!trade) throw new UnknownTrade({ profileId, tradeId });
  return trade;
}
