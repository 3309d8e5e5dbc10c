import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Fill, Order } from '#libs/venues';
import { brokenInvariants } from '../../../test/harness/lifecycle-invariants.js';
import { RULES } from './rules.js';
import { d, setupReconciliation, VENUE } from './testing/setup.js';

const IS_WHOLE = process.env['FLOTILLA_CRASH'] === 'all';
const RUNS = IS_WHOLE ? 500 : 34;
const TRADES = 3;
const SWEEPS_MAX = 3;

/** What becomes of an order at the venue, and how much of that we hear. */
interface Tale {
  readonly fills: readonly number[];
  readonly end: 'none' | 'cancelled' | 'expired';
  readonly fee: 'none' | 'BTC' | 'USD';
  /** In the order in which it reaches us: what was true after which event. */
  readonly told: readonly { readonly at: number; readonly what: 'order' | 'fills' | 'both' }[];
}

interface History {
  readonly quantity: number;
  readonly entry: Tale;
  readonly isForgotten: boolean;
  readonly isSweptBetween: boolean;
  readonly exit: Tale;
}

const tale: fc.Arbitrary<Tale> = fc.record({
  fills: fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 4 }),
  end: fc.constantFrom('none', 'none', 'cancelled', 'expired'),
  fee: fc.constantFrom('none', 'BTC', 'USD'),
  told: fc.array(fc.record({ at: fc.nat(5), what: fc.constantFrom('order', 'fills', 'both') }), { maxLength: 5 }),
});
const history: fc.Arbitrary<History> = fc.record({
  ...{ quantity: fc.integer({ min: 1, max: 12 }), entry: tale, exit: tale },
  isForgotten: fc.integer({ max: 5, min: 0 }).map((dice) => dice === 0),
  isSweptBetween: fc.boolean(),
});

it('whatever happens and however little we hear of it, a few sweeps later both sides say the same', async () => {
  const world = await setupReconciliation();
  const { newProfile, sweep, sweepQuietly, corrections, contradictions } = world;
  const mayHappen = new Set(Object.keys(RULES).filter((kind) => RULES[kind as keyof typeof RULES].action === 'apply'));
  let serial = 0;

  const play = async (orderId: string, { fills, end, fee, told }: Tale): Promise<void> => {
    const { account, clock, lifecycle } = world;
    const moments: { readonly order: Order; readonly fills: readonly Fill[] }[] = [];
    const remember = (): void => {
      const own = account.fills.filter(({ venueOrderId }) => venueOrderId === orderId);
      moments.push({ order: account.get(orderId), fills: own });
    };
    remember();
    for (const wanted of fills) {
      const { quantity, filledQuantity, symbol, side } = account.get(orderId);
      const left = quantity.minus(filledQuantity);
      const part = left.compare(d(String(wanted))) < 0 ? left : d(String(wanted));
      if (!part.isPositive()) break;
      const [price, rate] = [d(String(97 + (serial % 4))), d('0.001')];
      const amount = fee === 'BTC' ? part.times(rate) : part.times(price).times(rate);
      account.fill({
        ...{ fillId: `f${(serial += 1)}`, venueOrderId: orderId, symbol, side, quantity: part, price },
        ...(fee !== 'none' && (fee === 'USD' || side === 'buy') && { fee: { amount, asset: fee } }),
        happenedAt: new Date(clock.now()),
      });
      remember();
    }
    if (end !== 'none' && account.get(orderId).status !== 'filled') account.change(orderId, { status: end });
    remember();
    for (const { at, what } of told) {
      const moment = moments[at % moments.length];
      const [first, ...rest] = moment?.fills ?? [];
      const from = { venue: VENUE, source: 'stream' } as const;
      if (what === 'fills' && first) await lifecycle.apply(from, { fills: [first, ...rest] });
      if (what !== 'fills' && moment) await lifecycle.apply(from, what === 'both' ? moment : { order: moment.order });
    }
  };
  const live = async (profileId: string, { quantity, entry, exit, isForgotten, isSweptBetween }: History) => {
    const { tradeId, orderId } = await world.enter(profileId, String(quantity));
    await play(orderId, entry);
    if (isForgotten) world.account.purged.add(orderId);
    return async () => {
      if (isSweptBetween) await sweep();
      const trade = await world.trade(profileId, tradeId);
      if (trade?.state !== 'open') return;
      await play((await world.exit({ profileId, tradeId })).orderId, exit);
    };
  };
  /** What the account says, in the words of the invariants' test. */
  const record = () => ({
    submissions: [],
    orders: [...world.account.orders.values()].map((order, seq) => {
      const own = world.account.fills.filter(({ venueOrderId }) => venueOrderId === order.venueOrderId);
      const filledNotional = own.reduce((sum, { quantity, price }) => sum.plus(quantity.times(price)), d('0'));
      const texts = { quantity: String(order.quantity), filledNotional: String(filledNotional), seq };
      const filledQuantity = String(order.filledQuantity);
      return { ...order, ...texts, id: order.venueOrderId, filledQuantity };
    }),
  });
  /** Orders that are not as far as the account says. */
  const unlike = async (): Promise<string[]> => {
    const { rows } = await world.admin.query<{ order_id: string; status: string; is_settled: boolean }>(
      'select order_id, status, settled_at is not null as is_settled from orders',
    );
    return rows.flatMap(({ order_id: id, status, is_settled: isSettled }) => {
      const theirs = world.account.purged.has(id) ? undefined : world.account.get(id).status;
      const isEnded = theirs === undefined || ['filled', 'cancelled', 'expired'].includes(theirs);
      const isSame = (theirs ?? status) === status && isSettled === isEnded;
      return isSame ? [] : [`order ${id} is ${status}, and the venue says ${theirs ?? 'nothing'}`];
    });
  };

  const property = fc.asyncProperty(fc.array(history, { minLength: TRADES, maxLength: TRADES }), async (histories) => {
    const profiles = await Promise.all(histories.map(() => newProfile()));
    const exits = [];
    for (const [index, each] of histories.entries()) exits.push(await live(profiles[index] ?? '', each));
    for (const leave of exits) await leave();
    for (let count = 0; count < SWEEPS_MAX; count += 1) expect((await sweep()).outcome).not.toBe('failed');
    expect([await unlike(), await brokenInvariants(world.admin, record())]).toEqual([[], []]);
    for (const profileId of profiles) expect(await contradictions(profileId)).toEqual([]);
    expect(await sweepQuietly()).toMatchObject({ outcome: 'clean', figures: { mismatches: 0, leftAlone: 0 } });
    expect((await corrections()).filter(({ kind }) => !mayHappen.has(kind))).toEqual([]);
  });
  await fc.assert(property, { numRuns: RUNS, endOnFailure: true });
  const { rows } = await world.admin.query('select distinct kind from reconciliation_corrections order by kind');
  expect(rows.map(({ kind }) => kind as string)).toEqual(['cancel', 'entry-fill', 'exit-fill', 'vanished-entry']);
}, 3_600_000);
