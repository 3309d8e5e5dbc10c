import type { AccountFill, AccountOrder } from '#libs/lifecycle';
import type { Fill } from '#libs/venues';

export interface FillsView {
  readonly venueFills: readonly Fill[];
  /** The venue lists every fill of these symbols since this time. */
  readonly listedFills: { readonly since: Date; readonly symbols: ReadonlySet<string> };
  /** All of ours that are not settled, and those of the venue's that we know. */
  readonly orders: ReadonlyMap<string, AccountOrder>;
  readonly fills: readonly AccountFill[];
}

export type FillClaim =
  /** The venue lists a fill that is not booked, or booked otherwise, although the quantity of its order is. */
  | {
      readonly what: 'fill-differs';
      readonly order: AccountOrder;
      readonly fill?: AccountFill;
      readonly reported: Fill;
    }
  | { readonly what: 'fill-unlisted'; readonly order: AccountOrder; readonly fill: AccountFill };

/**
 * Fills of our orders that one side has and the other has not, or has otherwise. A fill that is only missing shows in the
 * quantities of its order as well; here are those that quantities do not tell of.
 */
export function fillClaims({ venueFills, fills, orders, listedFills }: FillsView): FillClaim[] {
  const booked = new Map(fills.map((fill) => [nameOf(fill.orderId, fill.fillId), fill]));
  const listed = new Set<string>();
  const claims: FillClaim[] = [];
  for (const reported of venueFills) {
    const name = nameOf(reported.venueOrderId, reported.fillId);
    listed.add(name);
    const order = orders.get(reported.venueOrderId);
    const fill = booked.get(name);
    if (!order || (fill && isSameFill(fill, reported))) continue;
    claims.push({ what: 'fill-differs', order, ...(fill && { fill }), reported });
  }
  for (const fill of fills) {
    const order = orders.get(fill.orderId);
    if (!order || !isExpected(fill, listedFills) || listed.has(nameOf(fill.orderId, fill.fillId))) continue;
    claims.push({ what: 'fill-unlisted', order, fill });
  }
  return claims;
}

function isExpected(fill: AccountFill, { since, symbols }: FillsView['listedFills']): boolean {
  return fill.happenedAt >= since && symbols.has(fill.symbol);
}

/** A fee that the venue does not tell with its fills cannot differ from ours. */
export function isSameFill(fill: AccountFill, reported: Fill): boolean {
  const { fee } = reported;
  const isSameFee =
    fee === undefined ||
    (fill.feeAmount.equals(fee.amount) && (fill.feeAmount.isZero() || fill.feeAsset === fee.asset));
  return isSameFee && fill.quantity.equals(reported.quantity) && fill.price.equals(reported.price);
}

function nameOf(orderId: string, fillId: string): string {
  return `${orderId} ${fillId}`;
}
