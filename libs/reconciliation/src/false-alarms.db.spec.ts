import { expect, it } from 'vitest';
import { d, setupReconciliation, VENUE } from './testing/setup.js';

const IS_WHOLE = process.env['FLOTILLA_CRASH'] === 'all';
const SWEEPS = IS_WHOLE ? 2_000 : 60;
const TRADERS = 4;
/** How late the stream tells, at most; what a sweep has patience for is many times that, for busy machines. */
const DELAY_MS_MAX = 30;
const PATIENCE_MS = 4_000;

/**
 * Profiles that enter, are filled in parts, told late and in any order, and leave again, all the while sweep follows
 * sweep. Between two trades each leaves an order alone for long enough to be looked at.
 */
it('sweeps raise no correction while everything goes well, however busy it is', async () => {
  const world = await setupReconciliation({ settings: { submitWindowMs: PATIENCE_MS, settleMs: PATIENCE_MS } });
  const { account, clock, lifecycle, newProfile, enter, exit, trade, sweep, corrections, contradictions } = world;
  const profiles = await Promise.all(Array.from({ length: TRADERS }, () => newProfile()));
  let [isOver, dice, serial] = [false, 1, 0];
  const random = (below: number): number => (dice = (dice * 48_271) % 2_147_483_647) % below;
  const late = (): Promise<void> => clock.sleep(random(DELAY_MS_MAX));

  /** Fills an order in parts; each part is told by itself, late, and now and then twice. */
  const fillAndTell = async (orderId: string, parts: number): Promise<void> => {
    const tellings: Promise<unknown>[] = [];
    const part = account.get(orderId).quantity.dividedBy(d(String(parts)), { scale: 3, rounding: 'down' });
    for (let index = 1; index <= parts; index += 1) {
      const { symbol, side, quantity, filledQuantity } = account.get(orderId);
      const happenedAt = new Date(clock.now());
      const fill = {
        ...{ fillId: `f${(serial += 1)}`, venueOrderId: orderId, symbol, side, price: d('100'), happenedAt },
        quantity: index === parts ? quantity.minus(filledQuantity) : part,
      };
      account.fill(fill, { updatedAt: happenedAt });
      const order = account.get(orderId);
      const tell = (report: Parameters<typeof lifecycle.apply>[1]) =>
        late().then(() => lifecycle.apply({ venue: VENUE, source: 'stream' }, report));
      tellings.push(tell({ fills: [fill] }), tell({ order }));
      if (random(3) === 0) tellings.push(tell({ order, fills: [fill] }));
      await late();
    }
    await Promise.all(tellings);
  };
  const keepTrading = async (profileId: string): Promise<number> => {
    let trades = 0;
    for (; !isOver; trades += 1) {
      const { tradeId, orderId } = await enter(profileId, String(1 + random(9)), `s${trades}`);
      if (random(4) === 0) {
        account.change(orderId, { status: 'cancelled', updatedAt: new Date(clock.now()) });
        await late();
        await lifecycle.apply({ venue: VENUE, source: 'stream' }, { order: account.get(orderId) });
        continue;
      }
      await fillAndTell(orderId, 1 + random(4));
      expect(await trade(profileId, tradeId)).toMatchObject({ state: 'open' });
      await fillAndTell((await exit({ profileId, tradeId })).orderId, 1 + random(3));
    }
    return trades;
  };
  const trading = profiles.map(keepTrading);
  // One that rests all the time, and one that holds.
  const [resting, holding] = [await newProfile(), await newProfile()];
  await enter(resting);
  await fillAndTell((await enter(holding)).orderId, 3);
  const outcomes = new Map<string, number>();
  let seen = 0;
  for (let count = 0; count < SWEEPS; count += 1) {
    const { outcome, figures } = await sweep();
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    seen = Math.max(seen, figures.orders);
    expect(figures.foreignOrders).toBe(0);
  }
  isOver = true;
  const trades = await Promise.all(trading);
  expect([...outcomes]).toEqual([['clean', SWEEPS]]);
  expect(await corrections()).toEqual([]);
  expect(Math.min(...trades)).toBeGreaterThan(2);
  expect(seen).toBeGreaterThan(TRADERS);
  for (const profileId of [...profiles, resting, holding]) expect(await contradictions(profileId)).toEqual([]);
}, 3_600_000);
