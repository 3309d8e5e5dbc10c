import type { Tx } from '#libs/database';
import { listAssetFlows, listNetPositions } from '#libs/lifecycle';
import { readHoldings } from './holding-records.js';
import { assetsOf, compareHoldings, totalsOf, type HoldingsComparison, type HoldingsView } from './holdings.js';
import type { OurAccount } from './our-account.js';
import type { ReconciliationParts } from './reconciliation-parts.js';
import type { VenueAccount } from './venue-account.js';

/** A comparison, and the time of Postgres from before the venue was read: what is booked after it comes on top. */
export interface SeenHoldings extends HoldingsComparison {
  readonly heldAt: Date;
  /** Whether the same is still to be said by what our tables say now. */
  readonly stillStands: (tx: Tx, correctionId: string) => Promise<boolean>;
}

/** Only what did not move from our first look on can be compared. */
export async function seeHoldings(
  { database, settings, clock }: ReconciliationParts,
  venue: string,
  { readAt, theirs, ours }: { readAt: Date; theirs: VenueAccount; ours: OurAccount },
): Promise<SeenHoldings> {
  const totals = totalsOf(theirs);
  const youngMs = Math.max(settings.submitWindowMs, settings.settleMs);
  const moving = movingAssets(theirs, ours, new Date(clock.now() - youngMs));
  const view = { venue, totals, moving, feeBps: settings.feeBps };
  const comparison = await database.statement(async (tx) => {
    const booked = await readBooked(tx, venue);
    // Asked last, so that no fill is in the positions above and not in here.
    const assets = new Set([...totals.keys(), ...booked.net.flatMap(({ symbol }) => Object.values(assetsOf(symbol)))]);
    const since = [...assets].map((asset) => ({ asset, at: readAt }));
    for (const { asset } of await listAssetFlows(tx, { venue, since })) moving.add(asset);
    return compareHoldings({ ...view, ...booked });
  });
  return {
    ...comparison,
    heldAt: readAt,
    stillStands: async (tx, correctionId) =>
      compareHoldings({ ...view, ...(await readBooked(tx, venue)) }).corrections.some(({ id }) => id === correctionId),
  };
}

/** What our trades hold, and what our fills brought in since the holdings were last noted. */
async function readBooked(tx: Tx, venue: string): Promise<Pick<HoldingsView, 'net' | 'known' | 'flows'>> {
  const net = await listNetPositions(tx, { venue });
  const { known } = await readHoldings(tx, venue);
  const since = [...known.values()].map(({ asset, heldAt }) => ({ asset, at: heldAt }));
  const flows = since.length === 0 ? [] : await listAssetFlows(tx, { venue, since });
  return { net, known, flows: new Map(flows.map((flow) => [flow.asset, flow])) };
}

/** Assets that the venue has moved by a fill of ours that we have not booked. */
function movingAssets(theirs: VenueAccount, ours: OurAccount, youngFrom: Date): Set<string> {
  const moving = new Set<string>();
  const move = (symbol: string): void => {
    const { base, quote } = assetsOf(symbol);
    moving.add(base).add(quote);
  };
  const listed = new Map([...theirs.openOrders, ...theirs.closedOrders].map((order) => [order.venueOrderId, order]));
  const booked = new Set(ours.fills.map(({ orderId, fillId }) => `${orderId} ${fillId}`));
  for (const { venueOrderId, fillId, symbol, happenedAt } of theirs.fills) {
    if (booked.has(`${venueOrderId} ${fillId}`)) continue;
    const order = listed.get(venueOrderId);
    const isOurs = ours.orders.has(venueOrderId) || (order && ours.owners.has(order.clientOrderId));
    // One that was in no list yet may be of an order that we are submitting right now.
    if (isOurs || (!order && happenedAt >= youngFrom)) move(symbol);
  }
  // The venue has said that it filled more than we know the fills of.
  for (const order of ours.orders.values()) if (!order.filledQuantity.equals(order.bookedQuantity)) move(order.symbol);
  return moving;
}
