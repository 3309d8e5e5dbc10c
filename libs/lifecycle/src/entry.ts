import { explainRefusal, REFUSAL_CODES, type RefusalCode } from '#libs/ledger';
import { clientOrderIdFor, VenueUnavailable, type Instrument, type Ticker, type Venue } from '#libs/venues';
import { planEntry } from './entry-plan.js';
import { underEntryLock } from './held-lock.js';
import { beginEntry, type EntryBeginning } from './intents.js';
import type { LifecycleParts } from './lifecycle-parts.js';
import type { Outcome, Signal } from './signal.js';
import { submitOnce } from './submission.js';
import { tradeIdOf } from './trade-id.js';
import { lookUpTrade, type Trade } from './trades.js';
import type { Verdict } from './verdict.js';

const TIME_IN_FORCE_DEFAULT = 'gtc' as const;

/**
 * Makes a trade of a signal: lock, reserve and write the intent in one transaction, submit, record what the venue
 * confirmed, release. The same signal again finds its trade and sends nothing, whatever became of it.
 */
export async function enter(parts: LifecycleParts, signal: Signal): Promise<Outcome> {
  const venue = parts.venueOf(signal.venue);
  const tradeId = tradeIdOf(signal);
  const clientOrderId = clientOrderIdFor(
    { profileId: signal.profileId, tradeId },
    parts.settings.clientOrderIdPrefix,
    venue.capabilities.clientOrderIds,
  );
  const trade = { tradeId, clientOrderId };
  const skipped = (reason: string, detail?: string): Outcome => {
    parts.observer.concluded('entry', 'skipped', reason);
    return { ...trade, outcome: 'skipped', reason, ...(detail !== undefined && { detail }) };
  };
  const known = await readTrade(parts, signal.profileId, tradeId);
  if (known) return outcomeOf(known);

  const market = await readMarket(venue, signal).catch(refusalOf);
  if ('refusal' in market) return skipped(market.refusal, market.detail);
  const plan = planEntry(signal, market, parts.settings.buffers);
  if ('refusal' in plan) return skipped(plan.refusal, plan.detail);

  const order = {
    ...{ clientOrderId, symbol: signal.symbol, side: signal.side, type: signal.order.type },
    timeInForce: signal.timeInForce ?? TIME_IN_FORCE_DEFAULT,
    quantity: plan.quantity,
    limitPrice: signal.order.type === 'limit' ? signal.order.limitPrice : undefined,
  } as const;
  const outcome = await underEntryLock(parts, signal, async (lock): Promise<Outcome> => {
    await parts.observer.reached('entry:locked');
    const { profileId, strategy, signalId, actor } = signal;
    const begun = await beginEntry(parts.database, {
      ...{ profileId, tradeId, strategy, signalId, actor, venue: signal.venue, lockToken: lock.token },
      ...order,
      amount: plan.amount,
    });
    if (begun.verdict === 'exists') return outcomeOf(await getTrade(parts, profileId, tradeId));
    if (begun.verdict !== 'begun') return skipped(begun.verdict, explain(begun));
    const { limitPrice, ...terms } = order;
    const request = { ...terms, ...(limitPrice && { limitPrice }), purpose: 'entry' } as const;
    return { ...trade, ...(await submitOnce(parts, { ref: { profileId, tradeId }, venue, request, lock, actor })) };
  });
  return outcome ?? skipped('locked', `Another process is entering or leaving ${signal.symbol} for this profile.`);
}

/** What became of a trade that is known already. */
export function outcomeOf({ tradeId, clientOrderId, state, reason }: Trade): Outcome {
  const why = reason === undefined ? {} : { reason };
  switch (state) {
    case 'pending':
    case 'unknown':
      return { tradeId, clientOrderId, outcome: 'unknown', reason: reason ?? 'pending' };
    case 'rejected':
      return { tradeId, clientOrderId, outcome: 'rejected', ...why };
    default:
      return { tradeId, clientOrderId, outcome: 'submitted' };
  }
}

interface Market {
  readonly instrument: Instrument;
  readonly ticker: Ticker | undefined;
}

/** Only where the price is not bounded by a limit does anybody have to ask for one. */
async function readMarket(venue: Venue, { symbol, side, order }: Signal): Promise<Market> {
  const instrument = await venue.instrument(symbol);
  const isBounded = side === 'buy' && order.type === 'limit';
  return { instrument, ticker: isBounded ? undefined : await venue.ticker(symbol) };
}

function refusalOf(error: unknown): { refusal: string; detail: string } {
  if (error instanceof VenueUnavailable) return { refusal: 'venue_unavailable', detail: error.message };
  throw error;
}

function explain({ verdict, detail }: Verdict<EntryBeginning>): string {
  if (verdict === 'active_entry') return `Trade ${detail ?? ''} of this symbol is still open.`;
  return isRefusalCode(verdict) ? explainRefusal(verdict, detail) : verdict;
}

function isRefusalCode(verdict: string): verdict is RefusalCode {
  return (REFUSAL_CODES as readonly string[]).includes(verdict);
}

function readTrade(parts: LifecycleParts, profileId: string, tradeId: string): Promise<Trade | undefined> {
  return lookUpTrade(parts.database, { profileId, tradeId });
}

async function getTrade(parts: LifecycleParts, profileId: string, tradeId: string): Promise<Trade> {
  const trade = await readTrade(parts, profileId, tradeId);
  if (!trade) throw new Error(`Invariant: trade ${tradeId} was begun and is there.`);
  return trade;
}
