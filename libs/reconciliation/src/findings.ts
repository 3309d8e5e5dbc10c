import type { Tx } from '#libs/database';
import { findAccountOrders, findIntentOwners, listAccountFills } from '#libs/lifecycle';
import { findProfile } from '#libs/tenancy';
import { parseClientOrderId, type CallOptions, type OrderOwner, type Venue } from '#libs/venues';
import { compareAccount, type AccountView, type Claim, type Comparison } from './claim.js';
import type { Correction } from './correction.js';
import { judge, type Proof, type Verdict } from './judge.js';
import { readOurAccount, type OurAccount } from './our-account.js';
import { proveClaims } from './proofs.js';
import type { ReconciliationParts } from './reconciliation-parts.js';
import { readFlows, seeHoldings, type SeenHoldings } from './seen-holdings.js';
import { readVenueAccount, type VenueAccount } from './venue-account.js';

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
  /** Working orders of ours that the venue does not have, and orders of the venue that we do not have. */
  readonly missingFromExchange: number;
  readonly missingInDb: number;
  readonly unproved: number;
}

/** Looks at both sides, and at the venue's once more for each difference. Writes nothing. */
export async function findDifferences(
  parts: ReconciliationParts,
  venue: Venue,
  wanted: { readonly since: Date; readonly symbols: readonly string[]; readonly options: CallOptions },
): Promise<Findings> {
  const { observer, settings } = parts;
  const before = await readFlows(parts, venue.id);
  const theirs = await readVenueAccount(venue, wanted, wanted.options);
  const ours = await readOurAccount(parts.database, venue.id, theirs);
  await observer.reached('sweep:read');

  const comparison = compareAccount(viewOf(parts, venue, { theirs, ours }), settings);
  const proofs = await proveClaims(venue, comparison.claims, wanted.options);
  await observer.reached('sweep:proved');
  const ownerOf = ownersIn(await knownProfiles(parts, comparison.claims), settings.clientOrderIdPrefix);
  const judged = comparison.claims.map((claim): { claim: Claim; verdict: Verdict } => {
    const proof = proofs.get(claim);
    return { claim, verdict: proof ? judge(venue.id, claim, proof, ownerOf) : 'unproved' };
  });
  for (const { claim, verdict } of judged) {
    if (verdict === 'gap' && claim.what === 'unlisted') throw new PartialReport(venue.id, claim.order.orderId);
  }
  const proved = judged.flatMap(({ claim, verdict }): Proved[] => {
    const proof = proofs.get(claim);
    return typeof verdict === 'string' || !proof ? [] : [{ claim, proof, correction: verdict }];
  });
  const holdings = await seeHoldings(parts, venue.id, { before, theirs, ours });
  const count = (...what: Claim['what'][]): number => proved.filter(({ claim }) => what.includes(claim.what)).length;
  return {
    ...{ proved, comparison, theirs, holdings },
    missingFromExchange: count('unlisted'),
    missingInDb: count('unrecorded', 'stray'),
    unproved: judged.filter(({ verdict }) => verdict === 'unproved').length,
  };
}

function viewOf(
  { clock, settings }: ReconciliationParts,
  venue: Venue,
  { theirs, ours }: { theirs: VenueAccount; ours: OurAccount },
): AccountView {
  const mark = `${settings.clientOrderIdPrefix}-`;
  return {
    now: new Date(clock.now()),
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
    return recorded.length === 0 && owners.length > 0 === (claim.what === 'unrecorded');
  }
  const orderIds = [claim.order.orderId];
  const [order] = await findAccountOrders(tx, { venue, orderIds });
  if (!order) return false;
  const verdict = judge(venue, await renewed(tx, claim, { venue, order }), proof, () => undefined);
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
