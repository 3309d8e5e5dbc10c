import type { AccountFill, AccountOrder, Report } from '#libs/lifecycle';
import { Decimal } from '#libs/money';
import { isTerminal, type Fill, type Lookup, type Order, type OrderOwner } from '#libs/venues';
import { differs, isSameOrder, type Claim } from './claim.js';
import { correctionOf, type Correction, type Evidence, type Finding } from './correction.js';
import { isSameFill, type FillClaim } from './fill-claims.js';
import { RULES } from './rules.js';

/** What the venue said when it was asked about one claim alone. */
export interface Proof {
  /** By its venue's id, and where the venue does not know that, by its client order id. */
  readonly lookup: Lookup;
  /** All fills that the venue lists of the order. */
  readonly fills: readonly Fill[];
}

/** nothing: the second look showed no difference. unproved: the venue did not answer. */
export type Verdict = Correction | 'nothing' | 'unproved';

/**
 * Whether the venue has an open order that its list of open orders lacks: then the list is not whole, and nothing that
 * it does not show proves anything.
 */
export function isGap(claim: Claim, lookup: Lookup): boolean {
  if (claim.what !== 'unlisted' || lookup.outcome !== 'found') return false;
  return lookup.order.venueOrderId === claim.order.orderId && !isTerminal(lookup.order);
}

/** Decides about a claim by its proof alone. Pure. */
export function judge(
  claim: Claim,
  proof: Proof,
  { venue, ownerOf }: { readonly venue: string; readonly ownerOf: (id: string) => OrderOwner | undefined },
): Verdict {
  const { lookup, fills } = proof;
  if (lookup.outcome === 'unknown') return 'unproved';
  const reported = lookup.outcome === 'found' ? lookup.order : undefined;
  switch (claim.what) {
    case 'unlisted':
    case 'differs':
      return reported ? judgeOrder(venue, claim.order, { reported, fills }) : judgeVanished(venue, claim.order, fills);
    case 'unrecorded': {
      if (!reported) return 'nothing';
      const { profileId, tradeId, symbol } = claim.owner;
      return correctionOf({
        ...{ venue, kind: 'log-order', profileId, tradeId, symbol, orderId: reported.venueOrderId },
        ...{ recorded: null, reported: evidenceOf(reported), report: { order: reported, fills } },
      });
    }
    case 'stray': {
      if (!reported) return 'nothing';
      const { profileId, tradeId } = claim.owner ?? ownerOf(reported.clientOrderId) ?? {};
      const owner = { ...(profileId !== undefined && { profileId }), ...(tradeId !== undefined && { tradeId }) };
      const { symbol, venueOrderId: orderId } = reported;
      const about = { venue, kind: 'stray-order', ...owner, symbol, orderId } as const;
      const recorded = claim.owner ? { clientOrderId: claim.owner.clientOrderId, intent: claim.owner.state } : null;
      return correctionOf({ ...about, recorded, reported: evidenceOf(reported) });
    }
    case 'fill-differs':
    case 'fill-unlisted':
      return judgeFill(venue, claim, proof);
  }
}

function judgeOrder(
  venue: string,
  order: AccountOrder,
  { reported, fills }: { readonly reported: Order; readonly fills: readonly Fill[] },
): Verdict {
  if (!differs(order, reported)) return 'nothing';
  const kind = kindOf(order, reported);
  const isApplied = RULES[kind].action === 'apply';
  const report = isApplied ? { report: { order: reported, fills } } : {};
  return finding(venue, order, { kind, reported: evidenceOf(reported), ...report });
}

function kindOf(order: AccountOrder, reported: Order): Finding['kind'] {
  if (!isSameOrder(order, reported)) return 'order-differs';
  const { filledQuantity } = reported;
  if (filledQuantity.compare(order.bookedQuantity) < 0 || filledQuantity.compare(order.filledQuantity) < 0) {
    return 'overstated';
  }
  if (order.isSettled && !isTerminal(reported)) return 'reopened';
  if (filledQuantity.compare(order.bookedQuantity) > 0) return order.purpose === 'entry' ? 'entry-fill' : 'exit-fill';
  return isTerminal(reported) ? 'cancel' : 'status';
}

/** The venue knows neither id. What it lists as filled is a proof; that it lists no more is one as well. */
function judgeVanished(venue: string, order: AccountOrder, fills: readonly Fill[]): Verdict {
  const filled = fills.reduce((sum, { quantity }) => sum.plus(quantity), Decimal.zero);
  const reported = { status: 'not found', filledQuantity: filled.toString() };
  if (filled.compare(order.bookedQuantity) > 0) {
    if (order.purpose === 'entry') {
      return finding(venue, order, { kind: 'entry-fill', reported, report: { order: endedAs(order, filled), fills } });
    }
    const [first, ...rest] = fills;
    return first
      ? finding(venue, order, { kind: 'exit-fill', reported, report: { fills: [first, ...rest] } })
      : 'nothing';
  }
  if (filled.compare(order.bookedQuantity) < 0 || order.filledQuantity.compare(order.bookedQuantity) > 0) {
    return finding(venue, order, { kind: 'overstated', reported });
  }
  if (order.isSettled) return 'nothing';
  if (order.purpose === 'exit') return finding(venue, order, { kind: 'vanished-exit', reported });
  return finding(venue, order, { kind: 'vanished-entry', reported, report: { order: endedAs(order, filled) } });
}

function judgeFill(venue: string, claim: FillClaim, { lookup, fills }: Proof): Verdict {
  const { order, fill } = claim;
  // A fill that came after all shows in the quantity of its order too, which has rules of its own.
  if (lookup.outcome === 'found' && differs(order, lookup.order)) {
    return judgeOrder(venue, order, { reported: lookup.order, fills });
  }
  if (lookup.outcome === 'not-found' && !fill && isMoreThan(order.bookedQuantity, fills)) {
    return judgeVanished(venue, order, fills);
  }
  const fillId = claim.what === 'fill-differs' ? claim.reported.fillId : claim.fill.fillId;
  const reported = fills.find((each) => each.fillId === fillId);
  if (reported && fill && isSameFill(fill, reported)) return 'nothing';
  if (!reported && !fill) return 'nothing';
  const kind = reported ? 'fill-differs' : 'extra-fill';
  return correctionOf({
    ...{
      venue,
      kind,
      profileId: order.profileId,
      tradeId: order.tradeId,
      symbol: order.symbol,
      orderId: order.orderId,
    },
    recorded: fill ? fillEvidence(fillId, { ...fill, fee: { amount: fill.feeAmount, asset: fill.feeAsset } }) : null,
    reported: reported ? fillEvidence(fillId, reported) : null,
  });
}

function isMoreThan(booked: Decimal, fills: readonly Fill[]): boolean {
  return fills.reduce((sum, { quantity }) => sum.plus(quantity), Decimal.zero).compare(booked) > 0;
}

function finding(
  venue: string,
  order: AccountOrder,
  what: { readonly kind: Finding['kind']; readonly reported: Evidence; readonly report?: Report },
): Correction {
  const { profileId, tradeId, symbol, orderId } = order;
  return correctionOf({ venue, profileId, tradeId, symbol, orderId, recorded: evidenceOfOurs(order), ...what });
}

/** How the lifecycle is told that an order is over. */
function endedAs(order: AccountOrder, filledQuantity: Decimal): Order {
  const isFilled = filledQuantity.compare(order.quantity) >= 0;
  return {
    ...{ venueOrderId: order.orderId, clientOrderId: order.clientOrderId, symbol: order.symbol, side: order.side },
    ...{ type: order.limitPrice ? 'limit' : 'market', quantity: order.quantity },
    ...{
      status: isFilled ? 'filled' : 'cancelled',
      filledQuantity,
      createdAt: order.createdAt,
      updatedAt: order.recordedAt,
    },
  };
}

function evidenceOfOurs(order: AccountOrder): Evidence {
  const { orderId, clientOrderId, symbol, side, status, quantity, limitPrice, filledQuantity, bookedQuantity } = order;
  return {
    ...{ orderId, clientOrderId, symbol, side, status: order.isSettled ? `${status}, settled` : status },
    ...{ quantity: quantity.toString(), limitPrice: limitPrice?.toString() ?? null },
    ...{ filledQuantity: filledQuantity.toString(), bookedQuantity: bookedQuantity.toString() },
  };
}

function evidenceOf(order: Order): Evidence {
  const { venueOrderId: orderId, clientOrderId, symbol, side, status, quantity, limitPrice, filledQuantity } = order;
  return {
    ...{ orderId, clientOrderId, symbol, side, status },
    ...{ quantity: quantity.toString(), limitPrice: limitPrice?.toString() ?? null },
    filledQuantity: filledQuantity.toString(),
  };
}

function fillEvidence(
  fillId: string,
  {
    quantity,
    price,
    fee,
  }: Pick<AccountFill, 'quantity' | 'price'> & {
    readonly fee?: { readonly amount: AccountFill['feeAmount']; readonly asset: string | undefined };
  },
): Evidence {
  return {
    ...{ fillId, quantity: quantity.toString(), price: price.toString() },
    ...{ feeAmount: fee?.amount.toString() ?? null, feeAsset: fee?.asset ?? null },
  };
}
