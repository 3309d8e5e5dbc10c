import type { Database, Tx } from '#libs/database';
import {
  findAccountOrders,
  findIntentOwners,
  listAccountFills,
  listUnsettledOrders,
  type AccountFill,
  type AccountOrder,
  type IntentOwner,
} from '#libs/lifecycle';
import type { VenueAccount } from './venue-account.js';

/** What our tables say of one account. */
export interface OurAccount {
  readonly orders: ReadonlyMap<string, AccountOrder>;
  readonly fills: readonly AccountFill[];
  readonly owners: ReadonlyMap<string, IntentOwner>;
}

const PAGE_SIZE = 10_000;

/**
 * Read after the venue was, so that what we did meanwhile is not taken for a difference. Whatever is unsettled, and
 * whatever the venue speaks of.
 */
export async function readOurAccount(database: Database, venue: string, theirs: VenueAccount): Promise<OurAccount> {
  const orders = new Map<string, AccountOrder>();
  const keep = (found: readonly AccountOrder[]): void => {
    for (const order of found) orders.set(order.orderId, order);
  };
  const read = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => database.statement(work);
  for (let after: string | undefined; ;) {
    const page = await read((tx) => listUnsettledOrders(tx, { venue, after, limit: PAGE_SIZE }));
    keep(page);
    after = page.at(-1)?.orderId;
    if (page.length < PAGE_SIZE) break;
  }
  const filled = [...new Set(theirs.fills.map(({ venueOrderId }) => venueOrderId))];
  const fills = await read((tx) => listAccountFills(tx, { venue, recordedSince: theirs.since, orderIds: filled }));
  const spokenOf = [
    ...[...theirs.openOrders, ...theirs.closedOrders].map(({ venueOrderId }) => venueOrderId),
    ...filled,
    ...fills.map(({ orderId }) => orderId),
  ];
  for (const orderIds of pagesOf(missingIn(orders, spokenOf))) {
    keep(await read((tx) => findAccountOrders(tx, { venue, orderIds })));
  }
  const owners = new Map<string, IntentOwner>();
  const unknown = [...theirs.openOrders, ...theirs.closedOrders]
    .filter(({ venueOrderId, clientOrderId }) => clientOrderId !== '' && !orders.has(venueOrderId))
    .map(({ clientOrderId }) => clientOrderId);
  for (const clientOrderIds of pagesOf(unknown)) {
    for (const owner of await read((tx) => findIntentOwners(tx, { venue, clientOrderIds }))) {
      owners.set(owner.clientOrderId, owner);
    }
  }
  return { orders, fills, owners };
}

function missingIn(orders: ReadonlyMap<string, AccountOrder>, orderIds: readonly string[]): string[] {
  return [...new Set(orderIds.filter((orderId) => !orders.has(orderId)))];
}

function* pagesOf(ids: readonly string[]): Generator<string[]> {
  for (let from = 0; from < ids.length; from += PAGE_SIZE) yield ids.slice(from, from + PAGE_SIZE);
}
