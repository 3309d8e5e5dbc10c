import { listAssetFlows, listNetPositions, type AccountOrder, type AssetFlow } from '#libs/lifecycle';
import type { Decimal } from '#libs/money';
import { readHoldings } from './holding-records.js';
import { assetsOf, compareHoldings, totalsOf, type Holding, type HoldingsComparison } from './holdings.js';
import type { OurAccount } from './our-account.js';
import type { ReconciliationParts } from './reconciliation-parts.js';
import type { VenueAccount } from './venue-account.js';

/** What our fills brought in since the holdings were last noted. */
interface Flows {
  readonly known: ReadonlyMap<string, Holding>;
  readonly flows: ReadonlyMap<string, AssetFlow>;
  readonly at: Date;
}

export async function readFlows({ database }: ReconciliationParts, venue: string): Promise<Flows> {
  const { known, at } = await database.statement((tx) => readHoldings(tx, venue));
  const since = [...known.values()].map(({ asset, heldAt }) => ({ asset, at: heldAt }));
  const flows = since.length === 0 ? [] : await database.statement((tx) => listAssetFlows(tx, { venue, since }));
  return { known, at, flows: new Map(flows.map((flow) => [flow.asset, flow])) };
}

/** A comparison, and the time of Postgres that it is true for. */
export type SeenHoldings = HoldingsComparison & { readonly heldAt: Date };

/** Only what did not move between our first look and the venue's last list can be compared. */
export async function seeHoldings(
  parts: ReconciliationParts,
  venue: string,
  { before, theirs, ours }: { before: Flows; theirs: VenueAccount; ours: OurAccount },
): Promise<SeenHoldings> {
  const after = await readFlows(parts, venue);
  const net = await parts.database.statement((tx) => listNetPositions(tx, { venue }));
  const moving = new Set<string>();
  for (const asset of after.known.keys()) {
    if (before.flows.get(asset)?.fills !== after.flows.get(asset)?.fills) moving.add(asset);
  }
  const booked = new Set(ours.fills.map(({ orderId, fillId }) => `${orderId} ${fillId}`));
  for (const { venueOrderId, fillId, symbol } of theirs.fills) {
    if (!ours.orders.has(venueOrderId) || booked.has(`${venueOrderId} ${fillId}`)) continue;
    addAssets(moving, symbol);
  }
  for (const { recordedAt, symbol } of ours.fills) if (recordedAt > before.at) addAssets(moving, symbol);
  for (const order of ours.orders.values()) if (isOnTheMove(order)) addAssets(moving, order.symbol);
  const totals: ReadonlyMap<string, Decimal> = totalsOf(theirs.positions, theirs.balances);
  const { feeBps } = parts.settings;
  return { ...compareHoldings({ venue, totals, ...after, net, moving, feeBps }), heldAt: after.at };
}

/** The venue has said that it filled more than we know the fills of. */
function isOnTheMove(order: AccountOrder): boolean {
  return !order.filledQuantity.equals(order.bookedQuantity);
}

function addAssets(assets: Set<string>, symbol: string): void {
  const { base, quote } = assetsOf(symbol);
  assets.add(base).add(quote);
}
