import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { persistLifecycle, type IntentRef } from './intents.js';
import { d, setupLifecycle } from './testing/setup.js';
import {
  messages,
  quantityOf,
  scaledTo,
  soldWhole,
  stories,
  ToldOrder,
  type Message,
  type OrderStory,
} from './testing/venue-story.js';

const RUNS = 30;

type Lifecycle = Awaited<ReturnType<typeof setupLifecycle>>;

/** An intent whose order the venue tells of. */
interface Sent {
  readonly ref: IntentRef;
  readonly lockToken: bigint;
  readonly told: ToldOrder;
}

/** How messages reach the tables: one after the other, or all at once. */
type Delivery = (all: readonly (() => Promise<unknown>)[]) => Promise<unknown>;
const inTurn: Delivery = async (all) => {
  for (const each of all) await each();
};
const atOnce: Delivery = (all) => Promise.all(all.map((each) => each()));

/** What is told under a lock is told by whoever submitted or looked up; the rest comes in by itself. */
function deliver({ database, apply }: Lifecycle, { ref, lockToken, told }: Sent, message: Message): Promise<unknown> {
  const report = told.tell(message);
  const { source } = message;
  if (message.kind === 'fill' || (source !== 'submit' && source !== 'lookup')) return apply(report, source);
  return persistLifecycle(database, ref, { lockToken, report, source });
}

/** An entry and the exits that follow it, each with what is told of it, late news of the earlier ones among it. */
interface Life {
  readonly entry: OrderStory;
  readonly firstExit: OrderStory;
  readonly news: readonly (readonly Message[])[];
}

const lives: fc.Arbitrary<Life> = fc.record({
  entry: stories,
  firstExit: stories,
  news: fc.array(messages, { minLength: 3, maxLength: 3 }),
});

/** The news as they were drawn, and at last everything; nothing but the last, where there are none. */
async function tell(lifecycle: Lifecycle, sent: readonly Sent[], told: { news: readonly Message[]; by: Delivery }) {
  await told.by(
    told.news.map((message, index) => () => deliver(lifecycle, sent[index % sent.length] as Sent, message)),
  );
  for (const { told: order } of sent) await lifecycle.apply(order.whole(), 'sweep');
}

/** Lives a whole life in a profile of its own, and resolves with the rows that it left behind. */
async function live(lifecycle: Lifecycle, life: Life, by: Delivery): Promise<Record<string, unknown>> {
  const profileId = await lifecycle.newProfile('1000000');
  const amount = quantityOf(life.entry).times(d('111'));
  const entry = await lifecycle.begin(profileId, { quantity: quantityOf(life.entry), limitPrice: d('110'), amount });
  const { tradeId, lockToken, clientOrderId } = entry;
  const sent: Sent[] = [
    { ref: { profileId, tradeId }, lockToken, told: new ToldOrder(life.entry, clientOrderId, 'buy') },
  ];
  await tell(lifecycle, sent, { news: life.news[0] ?? [], by });
  expect(await lifecycle.contradictions(profileId)).toEqual([]);

  for (const news of life.news.slice(1)) {
    const trade = await lifecycle.trade(profileId, tradeId);
    if (trade?.state !== 'open') break;
    // The first exit may end before all is sold; the next sells the rest.
    const story =
      sent.length === 1 ? scaledTo(trade.positionQuantity, life.firstExit) : soldWhole(trade.positionQuantity);
    const exit = await lifecycle.leave(profileId, tradeId, { quantity: trade.positionQuantity.toString() });
    const ref = { profileId, tradeId, generation: exit.generation };
    sent.unshift({ ref, lockToken: exit.lockToken, told: new ToldOrder(story, exit.clientOrderId, 'sell') });
    await tell(lifecycle, sent, { news, by });
    expect(await lifecycle.contradictions(profileId)).toEqual([]);
  }
  expect(await lifecycle.trade(profileId, tradeId)).toMatchObject({ state: 'closed' });
  return rowsOf(lifecycle, profileId);
}

/** All of a trade's rows but for who brought them and when, which may differ; orders and fills by their ids. */
async function rowsOf({ admin, balances }: Lifecycle, profileId: string): Promise<Record<string, unknown>> {
  const rows: Record<string, unknown> = {};
  for (const [name, sql] of Object.entries(ROWS)) rows[name] = (await admin.query(sql, [profileId])).rows;
  return { ...rows, balances: await balances(profileId) };
}

/** 4.3 and 4.30 are the same. */
const numbers = (...columns: string[]): string =>
  columns.map((column) => `trim_scale(${column}) as ${column.replace(/^.*\./, '')}`).join(', ');

const ROWS = {
  orders: `select purpose, generation, status, updated_at, settled_at is not null as is_settled,
      ${numbers('quantity', 'filled_quantity', 'booked_quantity', 'average_price')} from orders where profile_id = $1 order by purpose, generation`,
  fills: `select o.purpose, o.generation, f.fill_id, f.fee_asset, f.happened_at,
      ${numbers('f.quantity', 'f.price', 'f.fee_amount', 'f.fee_charged', 'f.moved_quantity', 'f.moved_amount')}
     from fills f join orders o using (venue, order_id) where f.profile_id = $1 order by o.purpose, o.generation, f.fill_id`,
  positions: `select side, ${numbers('quantity', 'entry_quantity', 'entry_notional', 'exit_quantity')},
      ${numbers('exit_notional', 'fees', 'realized_pnl')}, opened_at, closed_at is not null as is_closed
     from positions where profile_id = $1`,
  trades: `select state, exit_generation, ended_at is not null as is_ended from trade_lifecycle where profile_id = $1`,
  intents: `select state, is_active from entry_intents where profile_id = $1
     union all select state, is_active from exit_intents where profile_id = $1`,
  reservations: `select ${numbers('reserved_for_orders', 'order_quantity', 'reserved_for_positions', 'position_quantity')}
     from reservations where profile_id = $1`,
  history: 'select event from trade_history where profile_id = $1 order by event',
  halts: 'select reason from halts where profile_id = $1',
};

describe('whatever is told of an entry and its exits', () => {
  it.each([
    ['in any order, twice, or not before the end', inTurn],
    ['all at once, over many connections', atOnce],
  ] as const)(
    '%s, leaves the same rows (invariants 6, 8, 10)',
    async (_, by) => {
      const lifecycle = await setupLifecycle({ poolSize: 8 });
      await fc.assert(
        fc.asyncProperty(lives, async (life) => {
          const expected = await live(lifecycle, { ...life, news: life.news.map(() => []) }, inTurn);
          expect(await live(lifecycle, life, by)).toEqual(expected);
        }),
        { numRuns: RUNS },
      );
    },
    120_000,
  );
});
