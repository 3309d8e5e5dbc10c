/**
 * What an entry costs from the signal to the recorded lifecycle, as ratios against the least that could do it: the same
 * call of the same venue, and as many bare round trips to the same Postgres, of which as many write a row.
 *
 *   npm run bench:entry                       the cost, and the rate from ten thousand to a million finished trades
 *   npm run bench:entry -- --trades 100000    the same, up to a hundred thousand
 */
import { SystemClock } from '#libs/clock';
import { withEntryStage, type EntryStage } from './entry/stage.ts';
import { finishTrades } from './entry/trades.ts';
import { howFar } from './how-far.ts';
import { median, percentile } from './statistics.ts';

const clock = new SystemClock();
const ROUNDS = 9;
const ENTRIES = 192;
const CONCURRENCIES = [1, 32] as const;
const SATURATION = 64;
const MEDIAN_MAX = 1.5;
const P99_MAX = 2;
const TRADES_FEW = 10_000;

const trades = howFar('entry', { name: 'trades', means: 'how many finished trades to end with', usual: 1_000_000 });

function print(what: string, value: string): void {
  process.stdout.write(`${what.padEnd(64)} ${value}\n`);
}

interface Timing {
  /** Of each, in milliseconds. */
  readonly each: readonly number[];
  readonly perSecond: number;
}

/** So many at a time, until all are done. */
async function timed<T>(concurrency: number, items: readonly T[], work: (item: T) => Promise<void>): Promise<Timing> {
  const queue = items.values();
  const each: number[] = [];
  const startedAt = clock.monotonic();
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      for (const item of queue) {
        const begunAt = clock.monotonic();
        await work(item);
        each.push(clock.monotonic() - begunAt);
      }
    }),
  );
  return { each, perSecond: (1_000 * items.length) / (clock.monotonic() - startedAt) };
}

interface Round {
  readonly bare: Timing;
  readonly entry: Timing;
}

/** In turns, so that whatever else the machine does falls on both alike; the first round warms up. */
async function compare(stage: EntryStage, concurrency: number): Promise<Round[]> {
  const rounds: Round[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const signals = await stage.newSignals(ENTRIES);
    rounds.push({
      bare: await timed(concurrency, signals, () => stage.bare()),
      entry: await timed(concurrency, signals, (signal) => stage.enter(signal)),
    });
  }
  return rounds.slice(1);
}

function printCost(rounds: readonly Round[], concurrency: number): boolean {
  const all = (pick: (round: Round) => Timing): number[] => rounds.flatMap((round) => pick(round).each);
  const [entry, bare] = [all((round) => round.entry), all((round) => round.bare)];
  const limits = [
    { name: 'median', part: 0.5, most: MEDIAN_MAX },
    { name: '99th percentile', part: 0.99, most: P99_MAX },
  ];
  return limits
    .map(({ name, part, most }) => {
      const [ours, least] = [percentile(entry, part), percentile(bare, part)];
      const isWithin = ours / least <= most;
      print(
        `${name}, ${concurrency} at once (at most ${most.toFixed(1)})`,
        `${(ours / least).toFixed(2)} ${isWithin ? 'ok' : 'TOO SLOW'}; ms: ${ours.toFixed(2)}, ${least.toFixed(2)}`,
      );
      return isWithin;
    })
    .every(Boolean);
}

async function printGrowth(stage: EntryStage, trades: number): Promise<void> {
  const costs: number[] = [];
  for (const count of [TRADES_FEW, trades]) {
    await finishTrades(stage.admin, count, (left) => process.stderr.write(`${left} trades to go\n`));
    const rounds = await compare(stage, SATURATION);
    const rate = median(rounds.map(({ entry }) => entry.perSecond));
    costs.push(median(rounds.map(({ entry, bare }) => bare.perSecond / entry.perSecond)));
    print(
      `entries per second of one process, after ${count} trades`,
      `${rate.toFixed(0)}; ${costs.at(-1)?.toFixed(2)} times the bare minimum`,
    );
  }
  const [few = Number.NaN, many = Number.NaN] = costs;
  print(`cost after ${trades} trades / after ${TRADES_FEW} (flat)`, (many / few).toFixed(2));
}

await withEntryStage(async (stage) => {
  print('one page written and synced', `${stage.fsyncMs.toFixed(2)} ms`);
  for (const concurrency of CONCURRENCIES) {
    if (!printCost(await compare(stage, concurrency), concurrency)) process.exitCode = 1;
  }
  await printGrowth(stage, trades);
});
