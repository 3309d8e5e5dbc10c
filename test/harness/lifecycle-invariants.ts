import type { Client, Pool } from 'pg';
import { Decimal } from '#libs/money';
import type { PaperOrder, PaperVenue } from './paper-venue.js';

type Queries = Pick<Client, 'query'> | Pick<Pool, 'query'>;

/** What the matching engine took down. */
export interface VenueRecord {
  readonly orders: readonly (PaperOrder & { readonly seq: number })[];
  readonly submissions: readonly { readonly seq: number; readonly clientOrderId: string }[];
}

export async function readVenueRecord(
  paper: PaperVenue,
  after: { readonly order: number; readonly submission: number } = { order: 0, submission: 0 },
): Promise<VenueRecord> {
  type Items<Key extends keyof VenueRecord> = { items: VenueRecord[Key] };
  const [orders, submissions] = await Promise.all([
    paper.control<Items<'orders'>>('GET', `/paper/orders?after=${after.order}`),
    paper.control<Items<'submissions'>>('GET', `/paper/submissions?after=${after.submission}`),
  ]);
  return { orders: orders.items, submissions: submissions.items };
}

/**
 * What is wrong, by the numbers of the invariants; nothing once everything that happened was reported. All orders of the
 * record must be of this database.
 */
export async function brokenInvariants(admin: Queries, venue: VenueRecord): Promise<string[]> {
  const found: string[] = repeatedOrders(venue);
  for (const [rule, sql] of Object.entries(BREACHES)) {
    const { rows } = await admin.query<{ what: string }>(sql);
    found.push(...rows.map(({ what }) => `${rule}: ${what}`));
  }
  const known = await readKnownOrders(admin);
  found.push(...unlikeVenue(known, venue));
  return found;
}

/** Invariant 1, by the venue's own record: not even a second attempt that the venue refused. */
function repeatedOrders({ orders, submissions }: VenueRecord): string[] {
  return [
    ...repeated(orders).map((id) => `1: the venue has more than one order ${id}`),
    ...repeated(submissions).map((id) => `1: ${id} was sent more than once`),
  ];
}

function repeated(items: readonly { readonly clientOrderId: string }[]): string[] {
  const ids = items.map(({ clientOrderId }) => clientOrderId);
  return [...new Set(ids.filter((id, index) => ids.indexOf(id) !== index))];
}

/** Each names what must not be. */
const BREACHES = {
  '2': `select 'trade ' || t.trade_id || ' has no order' as what from trade_lifecycle t where not exists (
          select from orders o where (o.profile_id, o.trade_id, o.purpose) = (t.profile_id, t.trade_id, 'entry'))`,
  '3': `select 'available capital is ' || available_capital as what from capital_ledger where available_capital < 0`,
  '4': `select count(*) || ' active entries in ' || lower(symbol) as what from entry_intents where is_active
         group by profile_id, lower(symbol) having count(*) > 1`,
  '4, of trades': `select count(*) || ' active trades in ' || lower(symbol) as what from trade_lifecycle
         where state in ('entering', 'open', 'exiting') group by profile_id, lower(symbol) having count(*) > 1`,
  '6': `select 'the ledger of trade ' || x.trade_id || ' differs from its orders and fills' as what
          from profiles p cross join lateral fn_lifecycle_truth(p.profile_id) x where not x.is_same`,
  '8': `select v.problem as what from fn_ledger_verify() v where v.problem is not null`,
  '10': `select 'order ' || o.order_id || ' is booked with ' || o.booked_quantity || ', its fills are ' || f.total as what
           from orders o cross join lateral (select coalesce(sum(k.quantity), 0) as total from fills k
             where (k.venue, k.order_id) = (o.venue, o.order_id)) f where f.total <> o.booked_quantity`,
  '10, of positions': `select 'trade ' || p.trade_id || ' holds ' || p.quantity || ', the ledger ' || r.position_quantity
             as what from positions p join reservations r using (profile_id, trade_id)
            where p.quantity <> r.position_quantity`,
  'no leak': `select 'trade ' || r.trade_id || ' has ended and keeps ' || r.reserved_for_orders || ' and '
             || r.reserved_for_positions as what
        from reservations r left join entry_intents e using (profile_id, trade_id)
        left join trade_lifecycle t using (profile_id, trade_id)
       where r.reserved_for_orders + r.reserved_for_positions + r.order_quantity + r.position_quantity > 0
         and (e.trade_id is null or (t.trade_id is null and e.state = 'rejected') or t.state in ('closed', 'cancelled'))`,
  'no intent without capital': `select 'intent ' || e.trade_id || ' has no reservation' as what from entry_intents e
       left join reservations r using (profile_id, trade_id) where r.trade_id is null`,
};

interface KnownOrder {
  readonly orderId: string;
  readonly clientOrderId: string;
  readonly quantity: string;
  readonly notional: string;
}

async function readKnownOrders(admin: Queries): Promise<KnownOrder[]> {
  const { rows } = await admin.query<KnownOrder>(
    `select o.order_id as "orderId", o.client_order_id as "clientOrderId", coalesce(sum(f.quantity), 0)::text as quantity,
            coalesce(sum(f.quantity * f.price), 0)::text as notional
       from orders o left join fills f using (venue, order_id) group by o.venue, o.order_id`,
  );
  return rows;
}

/** Invariants 2 and 10: we know the venue's orders and no others, each filled as far as the venue filled it. */
function unlikeVenue(known: readonly KnownOrder[], { orders }: VenueRecord): string[] {
  const knownById = new Map(known.map((order) => [order.orderId, order]));
  const isSame = (a: string, b: string): boolean => Decimal.parse(a).equals(Decimal.parse(b));
  return [
    ...known
      .filter(({ orderId }) => !orders.some(({ id }) => id === orderId))
      .map(({ orderId }) => `2: the venue has no order ${orderId}`),
    ...orders.flatMap(({ id, clientOrderId, filledQuantity, filledNotional }) => {
      const order = knownById.get(id);
      if (order?.clientOrderId !== clientOrderId) return [`10: order ${id} of the venue is not in the tables`];
      if (isSame(order.quantity, filledQuantity) && isSame(order.notional, filledNotional)) return [];
      return [`10: order ${id} was filled with ${filledQuantity}, and ${order.quantity} is booked`];
    }),
  ];
}
