/**
 * What a sweep costs when nothing differs, as ratios against fetching and parsing the same pages alone, and whether the
 * cost of an order stays the same from a thousand open orders to a hundred thousand.
 *
 *   npm run bench:reconcile                      1,000, 10,000 and 100,000 open orders
 *   npm run bench:reconcile -- --orders 10000    the same, up to ten thousand
 */
import { SystemClock } from '#libs/clock';
import { howFar } from './how-far.ts';
import { withReconcileStage, type ReconcileStage } from './reconcile/stage.ts';
import { median } from './statistics.ts';

const SIZES = [1_000, 10_000, 100_000];
const ROUNDS = 5;
const RATIO_MAX = 1.5;
const MIB = 2 ** 20;
const LOOK_EVERY_MS = 20;
const clock = new SystemClock();

const orders = howFar('reconcile', { name: 'orders', means: 'how many open orders at most', usual: 100_000 });

function print(what: string, value: string): void {
  process.stdout.write(`${what.padEnd(64)} ${value}\n`);
}

/** The same lists as a sweep reads, and nothing else. */
async function fetchAlone({ venue }: ReconcileStage): Promise<void> {
  const since = new Date(clock.now() - 3_600_000);
  const symbols = [...new Set((await venue.openOrders()).map(({ symbol }) => symbol))];
  await venue.closedOrders({ since, symbols });
  await venue.positions();
  await venue.balances();
  await venue.fills({ symbols, start: { since } });
}

interface Cost {
  readonly ms: number;
  /** The most that the heap held while it ran, above what it held before. */
  readonly heapBytes: number;
}

async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  let most = before;
  const over = new AbortController();
  const watching = (async () => {
    while (!over.signal.aborted) {
      most = Math.max(most, process.memoryUsage().heapUsed);
      await clock.sleep(LOOK_EVERY_MS, over.signal);
    }
  })();
  const startedAt = clock.monotonic();
  await work();
  const ms = clock.monotonic() - startedAt;
  over.abort();
  await watching;
  return { ms, heapBytes: most - before };
}

/** Whatever writes takes a number; nobody else is at work in this Postgres. */
async function writesSoFar({ admin }: ReconcileStage): Promise<number> {
  const { rows } = await admin.query<{ next: string }>('select pg_snapshot_xmax(pg_current_snapshot()) as next');
  return Number(rows[0]?.next);
}

await withReconcileStage(async (stage) => {
  const perOrder: number[] = [];
  const sizes = SIZES.filter((size) => size <= orders);
  for (const size of sizes) {
    process.stderr.write(`Submitting orders until ${size} are open\n`);
    await stage.grow(size);
    // The first one notes what the account holds.
    await stage.sweep();
    const before = await writesSoFar(stage);
    const [alone, sweeps]: [Cost[], Cost[]] = [[], []];
    // In turns, so that whatever else the machine does falls on both alike.
    for (let round = 0; round < ROUNDS; round += 1) {
      alone.push(await costOf(() => fetchAlone(stage)));
      sweeps.push(await costOf(() => stage.sweep()));
    }
    const written = (await writesSoFar(stage)) - before;
    const [fetchMs, sweepMs] = [alone, sweeps].map((costs) => median(costs.map(({ ms }) => ms)));
    const ratio = (sweepMs ?? Number.NaN) / (fetchMs ?? Number.NaN);
    const heap = Math.max(...sweeps.map(({ heapBytes }) => heapBytes));
    perOrder.push((sweepMs ?? Number.NaN) / size);
    const verdict = ratio <= RATIO_MAX ? 'ok' : 'TOO SLOW';
    print(
      `${size} open orders: a sweep / its pages alone (at most ${RATIO_MAX})`,
      `${ratio.toFixed(2)} ${verdict}; ms: ${sweepMs?.toFixed(0)}, ${fetchMs?.toFixed(0)}`,
    );
    print(
      `${size} open orders: writing transactions of ${ROUNDS} sweeps (none)`,
      `${written} ${written === 0 ? 'ok' : 'WRITES'}`,
    );
    print(
      `${size} open orders: heap of a sweep`,
      `${(heap / MIB).toFixed(0)} MiB, ${(heap / size).toFixed(0)} B an order`,
    );
    if (ratio > RATIO_MAX || written > 0) process.exitCode = 1;
  }
  const [few = Number.NaN] = perOrder;
  for (const [index, size] of sizes.entries()) {
    if (index > 0) {
      const growth = (perOrder[index] ?? Number.NaN) / few;
      print(`cost of an order among ${size} / among ${sizes[0]} (flat)`, growth.toFixed(2));
    }
  }
});
