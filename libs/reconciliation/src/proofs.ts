import type { CallOptions, Fill, Lookup, Venue } from '#libs/venues';
import type { Claim } from './claim.js';
import { isGap, type Proof } from './judge.js';

/** The venue's own answers contradict each other, so that none of them is to be acted on. */
export class PartialReport extends Error {
  constructor(
    readonly venue: string,
    readonly orderId: string,
  ) {
    super(`Venue ${venue} left the open order ${orderId} out of its list of open orders; the list is not whole.`);
    this.name = 'PartialReport';
  }
}

/** Venues stamp a fill before or after its order by a little. */
const STAMP_SLACK_MS = 1_000;

/**
 * Asks the venue about each claim alone, because one look is not enough to act on: the order by its ids, and its fills
 * from before it was created. Fills are one list for all claims. An order that the venue is silent about stays unproved;
 * a list that it does not give, or that has a gap, ends the sweep.
 */
export async function proveClaims(
  venue: Venue,
  claims: readonly Claim[],
  options: CallOptions,
): Promise<Map<Claim, Proof>> {
  const lookups = new Map<string, Lookup>();
  for (const claim of claims) {
    const { orderId, clientOrderId, symbol } = subjectOf(claim);
    if (lookups.has(orderId)) continue;
    options.signal?.throwIfAborted();
    const byVenueId = await venue.findByVenueOrderId({ venueOrderId: orderId, symbol }, options);
    const lookup =
      byVenueId.outcome === 'not-found' && clientOrderId !== ''
        ? await venue.findByClientOrderId({ clientOrderId, symbol }, options)
        : byVenueId;
    if (isGap(claim, lookup)) throw new PartialReport(venue.id, orderId);
    lookups.set(orderId, lookup);
  }
  const fills = await readFills(venue, claims, options);
  const proofs = new Map<Claim, Proof>();
  for (const claim of claims) {
    const { orderId } = subjectOf(claim);
    const lookup = lookups.get(orderId);
    if (lookup) proofs.set(claim, { lookup, fills: fills.get(orderId) ?? [] });
  }
  return proofs;
}

/** Whether the order moved so lately that the stream and the poll have the first go, whatever the lists said of it. */
export function isSettling({ lookup, fills }: Proof, { now, settleMs }: { now: Date; settleMs: number }): boolean {
  const isYoung = (at: Date): boolean => Math.abs(now.getTime() - at.getTime()) < settleMs;
  if (lookup.outcome === 'found' && isYoung(lookup.order.updatedAt)) return true;
  return fills.some(({ happenedAt }) => isYoung(happenedAt));
}

async function readFills(
  venue: Venue,
  claims: readonly Claim[],
  options: CallOptions,
): Promise<Map<string, readonly Fill[]>> {
  const subjects = claims.map(subjectOf);
  if (subjects.length === 0) return new Map();
  const earliest = subjects.reduce((least, { createdAt }) => Math.min(least, createdAt.getTime()), Infinity);
  const symbols = [...new Set(subjects.map(({ symbol }) => symbol))];
  const since = new Date(earliest - STAMP_SLACK_MS);
  const { fills } = await venue.fills({ symbols, start: { since } }, options);
  return Map.groupBy(fills, ({ venueOrderId }) => venueOrderId);
}

interface Subject {
  readonly orderId: string;
  readonly clientOrderId: string;
  readonly symbol: string;
  readonly createdAt: Date;
}

function subjectOf(claim: Claim): Subject {
  switch (claim.what) {
    case 'unrecorded':
    case 'stray': {
      const { venueOrderId: orderId, clientOrderId, symbol, createdAt } = claim.reported;
      return { orderId, clientOrderId, symbol, createdAt };
    }
    case 'unlisted':
    case 'differs':
    case 'fill-differs':
    case 'fill-unlisted':
      return claim.order;
  }
}
