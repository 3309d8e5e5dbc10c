import type { Tx } from '#libs/database';
import { findAccountOrders, findIntentOwners, listAccountFills } from '#libs/lifecycle';
import { findProfile } from '#libs/tenancy';
import { parseClientOrderId, type CallOptions, type OrderOwner, type Venue } from '#libs/venues';
import { compareAccount, type AccountView, type Claim, type Comparison } from './claim.js';
import type { Correction } from './correction.js';
import { readHoldings } from './holding-records.js';
import { judge, type Proof } from './judge.js';
import { readOurAccount, type OurAccount } from './our-account.js';
import { isSettling, proveClaims } from './proofs.js';
import type { ReconciliationParts } from './reconciliation-parts.js';
import { seeHoldings, type SeenHoldings } from './seen-holdings.js';
import { readVenueAccount, type VenueAccount } from './venue-account.js';

/** A correction with what it was judged by, so that it can be judged again before it is made. */
export interface Proved {
  readonly correction: Correction;
  readonly claim: Claim;
  readonly proof: Proof;
}

export interface Findings {
  readonly proved: readonly Proved[];
  readonly comparison: Comparison;
  readonly theirs: VenueAccount;
  readonly holdings: SeenHoldings;
  /** Differences that the venue was silent about, or that moved too lately. */
  readonly unproved: number;
  /** Working orders of ours that the venue does not have, and orders of the venue that we do not have. */
  readonly missingFromExchange: number;
  readonly missingInDb: number;
}

/** Looks at both sides, and at the venue's once more for each difference. Writes nothing. */
export async function findDifferences(
  parts: ReconciliationParts,
  venue: Venue,
  wanted: { readonly since: Date; readonly symbols: readonly string[]; readonly options: CallOptions },
): Promise<Findings> {
  const { observer, settings, database, clock } = parts;
  const { at: readAt } = await database.statement((tx) => readHoldings(tx, venue.id));
  const theirs = await readVenueAccount(venue, wanted, wanted.options);
  const ours = await readOurAccount(database, venue.id, theirs);
  await observer.reached('sweep:read');

  const comparison = compareAccount(viewOf(parts, venue, { readAt, theirs, ours }), settings);
  const proofs = await proveClaims(venue, comparison.claims, wanted.options);
  await observer.reached('sweep:proved');
  const ownerOf = ownersIn(await knownProfiles(parts, comparison.claims), settings.clientOrderIdPrefix);
  const { settleMs } = settings;
  const proved = new Map<string, Proved>();
  let unproved = 0;
  for (const claim of comparison.claims) {
    const proof = proofs.get(claim);
    const isDecided = proof !== undefined && !isSettling(proof, { now: new Date(clock.now()), settleMs });
    const verdict = isDecided ? judge(claim, proof, { venue: venue.id, ownerOf }) : 'unproved';
    if (verdict === 'unproved') unproved += 1;
    // Several claims may come from one difference.
    else if (verdict !== 'nothing' && proof) proved.set(verdict.id, { claim, proof, correction: verdict });
  }
  const holdings = await seeHoldings(parts, venue.id, { readAt, theirs, ours });
  const all = [...proved.values()];
  const count = (...what: Claim['what'][]): number => all.filter(({ claim }) => what.includes(claim.what)).length;
  return {
    ...{ proved: all, comparison, theirs, holdings, unproved },
    missingFromExchange: count('unlisted'),
    missingInDb: count('unrecorded', 'stray'),
  };
}

function viewOf(
  { settings }: ReconciliationParts,
  venue: Venue,
  { readAt, theirs, ours }: { readAt: Date; theirs: VenueAccount; ours: OurAccount },
): AccountView {
  const mark = `${settings.clientOrderIdPrefix}-`;
  return {
    readAt,
    venueOrders: [...theirs.openOrders, ...theirs.closedOrders],
    venueFills: theirs.fills,
    listedFills: { since: theirs.since, symbols: theirs.symbols },
    ...ours,
    hasOurMark: (clientOrderId) =>
      clientOrderId.startsWith(venue.capabilities.clientOrderIds.alphabet.test('-') ? mark : mark.slice(0, -1)),
  };
}

/** Ids in the long form name a profile; that it exists is another matter, after a restored backup for example. */
async function knownProfiles(parts: ReconciliationParts, claims: readonly Claim[]): Promise<ReadonlySet<string>> {
  const known = new Set<string>();
  for (const claim of claims) {
    if (claim.what !== 'stray') continue;
    const owner = parseClientOrderId(claim.reported.clientOrderId, parts.settings.clientOrderIdPrefix);
    if (!owner || known.has(owner.profileId)) continue;
    if (await parts.database.statement((tx) => findProfile(tx, owner.profileId))) known.add(owner.profileId);
  }
  return known;
}

function ownersIn(profiles: ReadonlySet<string>, prefix: string): (id: string) => OrderOwner | undefined {
  return (clientOrderId) => {
    const owner = parseClientOrderId(clientOrderId, prefix);
    return owner && profiles.has(owner.profileId) ? owner : undefined;
  };
}

/**
 * Whether the same is still to be said by what our tables say now: the stream or another process may have been quicker.
 */
export async function stillStands(tx: Tx, { correction, claim, proof }: Proved): Promise<boolean> {
  const { venue } = correction;
  if (claim.what === 'unrecorded' || claim.what === 'stray') {
    const { venueOrderId, clientOrderId } = claim.reported;
    const recorded = await findAccountOrders(tx, { venue, orderIds: [venueOrderId] });
    const owners = await findIntentOwners(tx, { venue, clientOrderIds: [clientOrderId] });
    const isUnrecorded = owners.some(({ state }) => state !== 'confirmed');
    return recorded.length === 0 && isUnrecorded === (claim.what === 'unrecorded');
  }
  const orderIds = [claim.order.orderId];
  const [order] = await findAccountOrders(tx, { venue, orderIds });
  if (!order) return false;
  const verdict = judge(await renewed(tx, claim, { venue, order }), proof, { venue, ownerOf: () => undefined });
  return typeof verdict !== 'string' && verdict.id === correction.id;
}

type ClaimOfOrder = Exclude<Claim, { what: 'unrecorded' | 'stray' }>;

async function renewed(
  tx: Tx,
  claim: ClaimOfOrder,
  now: { readonly venue: string; readonly order: ClaimOfOrder['order'] },
): Promise<Claim> {
  const { venue, order } = now;
  if (claim.what === 'unlisted' || claim.what === 'differs') return { ...claim, order };
  const fillId = claim.what === 'fill-differs' ? claim.reported.fillId : claim.fill.fillId;
  const booked = await listAccountFills(tx, { venue, recordedSince: FAR_AWAY, orderIds: [order.orderId] });
  const fill = booked.find((each) => each.fillId === fillId);
  if (claim.what === 'fill-unlisted') return fill ? { ...claim, order, fill } : claim;
  return { what: claim.what, reported: claim.reported, order, ...(fill && { fill }) };
}

/** Later than any fill: those of the orders only. */
const FAR_AWAY = new Date(8_640_000_000_000);
