import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Fill, Lookup, Order } from '#libs/venues';
import { compareAccount, type AccountView } from './claim.js';
import { isGap, judge } from './judge.js';
import { isSettling } from './proofs.js';
import { d, ourFill, ourOrder, owner, theirFill, theirOrder } from './testing/samples.js';

const SWEEPS = 3_000;
const PATIENCE = { submitWindowMs: 2_000, settleMs: 1_000 };
const LOOKBACK_MS = 20_000;
const BEGINNING = Date.UTC(2026, 5, 1);

/** What becomes of an order, in ms of a minute, and how late we learn of each. */
interface Life {
  readonly bornAt: number;
  readonly answeredAfter: number;
  readonly parts: readonly { readonly after: number; readonly toldAfter: number }[];
  readonly end: 'cancelled' | 'expired' | 'none';
  readonly endAfter: number;
  readonly endToldAfter: number;
}

const toldAfter = fc.integer({ min: 0, max: PATIENCE.settleMs - 1 });
const life: fc.Arbitrary<Life> = fc.record({
  ...{ bornAt: fc.nat(60_000), answeredAfter: fc.nat(PATIENCE.submitWindowMs - 1), endToldAfter: toldAfter },
  parts: fc.array(fc.record({ after: fc.nat(8_000), toldAfter }), { maxLength: 4 }),
  ...{ end: fc.constantFrom('cancelled', 'expired', 'none'), endAfter: fc.nat(9_000) },
});
/** When each list is read after the one before; ours after the venue's, and the second look last. */
const pauses = fc.tuple(fc.nat(900), fc.nat(900), fc.nat(900), fc.nat(900));
const at = (ms: number): Date => new Date(BEGINNING + ms);
const QUARTER = d('2.5');

function fillsOf({ parts, bornAt, endAfter, end }: Life, id: string): { fill: Fill; toldAt: number }[] {
  let from = bornAt;
  return parts.flatMap(({ after, toldAfter: late }, index) => {
    from += after + 1;
    if (end !== 'none' && from >= bornAt + endAfter) return [];
    const fill = theirFill({ fillId: `${id}-${index}`, venueOrderId: id, quantity: QUARTER, happenedAt: at(from) });
    return [{ fill, toldAt: from + late }];
  });
}

/** As the venue has it at a time. */
function orderAt(each: Life, id: string, now: number): Order | undefined {
  if (now < each.bornAt) return undefined;
  const filled = fillsOf(each, id).filter(({ fill }) => fill.happenedAt <= at(now));
  const endedAt = each.bornAt + each.endAfter;
  const isOver = each.end !== 'none' && endedAt <= now && filled.length < 4;
  const last = filled.at(-1)?.fill.happenedAt ?? at(each.bornAt);
  const working = filled.length === 4 ? 'filled' : filled.length > 0 ? 'partially-filled' : 'open';
  return theirOrder({
    ...{ venueOrderId: id, clientOrderId: `test-${id}`, createdAt: at(each.bornAt) },
    ...{ filledQuantity: sum(filled.length), status: isOver ? each.end : working },
    updatedAt: isOver ? at(endedAt) : last,
  });
}

const sum = (parts: number) => QUARTER.times(d(String(parts)));

/** As we have it at a time: what we were told by then, and the end only once it was. */
function recordedAt(each: Life, id: string, now: number) {
  const bookedAt = each.bornAt + each.answeredAfter;
  if (now < bookedAt) return undefined;
  const told = fillsOf(each, id).map((one) => ({ ...one, toldAt: Math.max(one.toldAt, bookedAt) }));
  const booked = told.filter(({ toldAt }) => toldAt <= now);
  const endToldAt = Math.max(each.bornAt + each.endAfter + each.endToldAfter, bookedAt);
  const isOver = each.end !== 'none' && endToldAt <= now && told.length < 4;
  // The order's own word tells of every fill before it; it is settled when those are booked.
  const filled = isOver ? told.length : booked.length;
  const isSettled = (isOver || filled === 4) && booked.length === filled;
  const working = filled === 4 ? 'filled' : filled > 0 ? 'partially-filled' : 'open';
  const settledAt = Math.max(isOver ? endToldAt : 0, ...booked.map(({ toldAt }) => toldAt));
  const order = ourOrder({
    ...{ orderId: id, clientOrderId: `test-${id}`, createdAt: at(each.bornAt), recordedAt: at(bookedAt), isSettled },
    ...{ filledQuantity: sum(filled), bookedQuantity: sum(booked.length) },
    ...{ status: isOver ? each.end : working, ...(isSettled && { settledAt: at(settledAt) }) },
  });
  const fills = booked.map(({ fill, toldAt }) =>
    ourFill({
      orderId: id,
      fillId: fill.fillId,
      quantity: QUARTER,
      happenedAt: fill.happenedAt,
      recordedAt: at(toldAt),
    }),
  );
  return { order, fills };
}

it(`${SWEEPS} sweeps at any moment of any trading find nothing, as long as we are told in time`, () => {
  let compared = 0;
  const property = fc.property(fc.array(life, { maxLength: 8 }), fc.nat(80_000), pauses, (lives, begin, waits) => {
    const [openAt, closedAt, filledAt, oursAt] = waits.reduce<number[]>(
      (times, wait) => [...times, (times.at(-1) ?? 0) + wait],
      [begin],
    );
    const provedAt = (oursAt ?? 0) + 50;
    const all = lives.map((each, index) => ({ each, id: `v${index}` }));
    const listed = (now = 0, isEnded = false) =>
      all.flatMap(({ each, id }) => {
        const order = orderAt(each, id, now);
        const isOver = order !== undefined && ['filled', 'cancelled', 'expired'].includes(order.status);
        if (!order || isOver !== isEnded || (isEnded && order.createdAt < at(begin - LOOKBACK_MS))) return [];
        return [order];
      });
    const fills = (now = 0) =>
      all
        .flatMap(({ each, id }) => fillsOf(each, id).map(({ fill }) => fill))
        .filter(({ happenedAt }) => happenedAt <= at(now));
    const ours = all.flatMap(({ each, id }) => recordedAt(each, id, oursAt ?? 0) ?? []);
    const known = new Set(ours.map(({ order }) => order.orderId));
    const view: AccountView = {
      readAt: at(begin),
      venueOrders: [...listed(openAt), ...listed(closedAt, true)],
      venueFills: fills(filledAt).filter(({ happenedAt }) => happenedAt >= at(begin - LOOKBACK_MS)),
      listedFills: { since: at(begin - LOOKBACK_MS), symbols: new Set(['BTC/USD']) },
      orders: new Map(ours.map(({ order }) => [order.orderId, order])),
      fills: ours.flatMap((each) => each.fills),
      owners: new Map(
        all
          .filter(({ id }) => !known.has(id))
          .map(({ each, id }) => [
            `test-${id}`,
            owner({ clientOrderId: `test-${id}`, ageMs: (oursAt ?? 0) - each.bornAt }),
          ]),
      ),
      hasOurMark: (id) => id.startsWith('test-'),
    };
    compared += view.venueOrders.length;
    const { claims, foreign } = compareAccount(view, PATIENCE);
    expect(foreign).toEqual([]);
    for (const claim of claims) {
      const id = 'order' in claim ? claim.order.orderId : claim.reported.venueOrderId;
      const order = all.map((one) => (one.id === id ? orderAt(one.each, id, provedAt) : undefined)).find((one) => one);
      const lookup: Lookup = order ? { outcome: 'found', order } : { outcome: 'not-found' };
      const proof = { lookup, fills: fills(provedAt).filter(({ venueOrderId }) => venueOrderId === id) };
      expect(isGap(claim, lookup)).toBe(false);
      if (isSettling(proof, { now: at(provedAt), settleMs: PATIENCE.settleMs })) continue;
      expect(judge(claim, proof, { venue: 'paper', ownerOf: () => undefined })).toBe('nothing');
    }
  });
  fc.assert(property, { numRuns: SWEEPS });
  expect(compared).toBeGreaterThan(SWEEPS);
});
