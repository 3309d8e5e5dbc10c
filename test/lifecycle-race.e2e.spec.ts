import { expect, it } from 'vitest';
import type { Outcome } from '#libs/lifecycle';
import { paperVenueOfFile } from './harness/paper-venue.js';
import { buy, finish, setupTrading, type Adapter, type Trader, type Trading } from './harness/trading.js';

const IS_WHOLE = process.env['FLOTILLA_CRASH'] === 'all';
const ROUNDS = IS_WHOLE ? 20 : 4;
/** Of one signal, over all processes. */
const REPETITIONS = 1_000;
const paper = paperVenueOfFile();

/** So many processes, all of them ready to go. */
async function setup(adapter: Adapter, count: number) {
  const trading = await setupTrading(paper(), { adapter, seed: 4 });
  const traders = Array.from({ length: count }, () => trading.startTrader());
  await Promise.all(traders.map(({ process }) => process.says(/^ready\n/m)));
  return { trading, traders };
}

/** What each process was told of the same wish; whoever came too late knows the trade, or that another is at it. */
function expectOneSubmission(outcomes: readonly Outcome[]): void {
  const words = outcomes.map(({ outcome, reason }) => (reason === undefined ? outcome : `${outcome}: ${reason}`));
  expect(words, words.join()).toContain('submitted');
  const others = new Set(words.filter((word) => word !== 'submitted'));
  expect(['unknown: pending', 'skipped: locked']).toEqual(expect.arrayContaining([...others]));
}

const ofSignal = (trading: Trading, signalId: string): Trading => ({
  ...trading,
  signal: { ...trading.signal, signalId },
});

const submissionsOf = async ({ record }: Trading): Promise<number> => (await record()).submissions.length;

async function finishAll(trading: Trading, [trader]: readonly Trader[]): Promise<void> {
  if (!trader) throw new Error('Expected a trader.');
  await finish(trading, trader);
  expect(await trading.broken()).toEqual([]);
}

it.each([
  { count: 2, adapter: 'ccxt' },
  { count: 10, adapter: 'alpaca' },
] as const)('$count processes that race for the same wish send one order (invariants 1, 4, 7)', async (given) => {
  const { trading, traders } = await setup(given.adapter, given.count);
  for (let round = 1; round <= ROUNDS; round += 1) {
    const story = ofSignal(trading, `s${round}`);
    const before = await submissionsOf(trading);
    const entries = traders.map((trader) => trader.tell<Outcome>({ do: 'enter', signal: story.signal }));
    expectOneSubmission(await Promise.all(entries));
    expect((await submissionsOf(trading)) - before).toBe(1);

    const exit = await buy(story, traders[0] as Trader);
    expectOneSubmission(await Promise.all(traders.map((trader) => trader.tell<Outcome>(exit))));
    expect((await submissionsOf(trading)) - before).toBe(2);
    await finishAll(story, traders);
  }

  const many = ofSignal(trading, 'many');
  const before = await submissionsOf(trading);
  const times = REPETITIONS / given.count;
  const told = traders.map((trader) => trader.tell<Outcome[]>({ do: 'enter', signal: many.signal, times }));
  const outcomes = (await Promise.all(told)).flat();
  expect(outcomes).toHaveLength(REPETITIONS);
  expectOneSubmission(outcomes);
  expect((await submissionsOf(trading)) - before).toBe(1);
  await finishAll(many, traders);

  for (let round = 1; round <= ROUNDS; round += 1) await raceOfSignals(trading, traders, round);
});

/** Invariant 4: of different wishes for one symbol of one profile, one is granted, and the others hear why not. */
async function raceOfSignals(trading: Trading, traders: readonly Trader[], round: number): Promise<void> {
  const before = await submissionsOf(trading);
  const signals = traders.map((_, index) => ({ ...trading.signal, signalId: `r${round}-${index}` }));
  const told = traders.map((trader, index) =>
    trader.tell<Outcome>({ do: 'enter', signal: signals[index] ?? trading.signal }),
  );
  const outcomes = await Promise.all(told);
  const winners = outcomes.flatMap(({ outcome }, index) => (outcome === 'submitted' ? [index] : []));
  expect(winners).toHaveLength(1);
  const losers = outcomes.filter(({ outcome }) => outcome !== 'submitted');
  for (const { outcome, reason } of losers) {
    expect([`${outcome}: locked`, `${outcome}: active_entry`]).toContain(`skipped: ${reason ?? ''}`);
  }
  expect((await submissionsOf(trading)) - before).toBe(1);
  await finishAll(ofSignal(trading, signals[winners[0] ?? 0]?.signalId ?? ''), traders);
}
