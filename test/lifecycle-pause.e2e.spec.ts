import { expect, it } from 'vitest';
import { STEPS, type Outcome, type Step } from '#libs/lifecycle';
import { paperVenueOfFile } from './harness/paper-venue.js';
import { ADAPTERS, buy, finish, rebuild, setupTrading, type Trader, type Trading } from './harness/trading.js';

const IS_WHOLE = process.env['FLOTILLA_CRASH'] === 'all';
/** Of the lock that is slept past. Long enough for a busy machine to come to the step. */
const TTL_MS = 2_500;
const paper = paperVenueOfFile();

const PAUSES = STEPS.filter((step) => /^(entry|exit):/.test(step)).flatMap((step, index) =>
  ADAPTERS.filter((_, which) => IS_WHOLE || which === index % 2).map((adapter) => ({ step, adapter })),
);

it.each(PAUSES)(
  'whoever sleeps past its lock at $step over $adapter neither submits nor writes when it wakes (invariant 7)',
  async ({ step, adapter }) => {
    const trading = await setupTrading(paper(), { adapter, seed: 4 });
    const { signal, symbol, endLocks, until } = trading;
    const successor = trading.startTrader();
    const sleeper = trading.startTrader({ entryLockTtlMs: TTL_MS });
    const isExit = step.startsWith('exit:');
    // By the successor, so that no lock of the sleeper's is in its own way.
    const command = isExit ? await buy(trading, successor) : ({ do: 'enter', signal } as const);
    const { number } = await sleeper.tellUntil(step, command);
    sleeper.process.child.kill('SIGSTOP');
    // Told while it is stopped: the first thing that it reads when it wakes.
    sleeper.goOn();
    await until('(select expires_at <= clock_timestamp() from entry_locks)');

    await rebuild(trading, successor);
    await successor.tell({ do: 'resolve', symbol });
    const another = isExit ? undefined : await takePlace(trading, successor, step);
    const [rows, sent] = [await rowsOf(trading), (await trading.record()).submissions.length];
    sleeper.process.child.kill('SIGCONT');
    const outcome = await sleeper.answerOf(number);
    expect(`${outcome.outcome}: ${outcome.reason ?? ''}`).toMatch(SAID[step] ?? /never/);
    expect(await rowsOf(trading)).toEqual(rows);
    expect((await trading.record()).submissions).toHaveLength(sent);

    await endLocks();
    if (another) await finish(another, successor);
    expect(await finish(trading, successor)).toBe(step === 'entry:begun' ? 'rejected' : 'closed');
    expect(await trading.reserved()).toBe('0');
  },
);

/** What the sleeper has to say of its own try. At the last step it had written all there was. */
const SAID: Partial<Record<Step, RegExp>> = {
  'entry:locked': /^skipped: stale_lock$/,
  'entry:begun': /^unknown: decided$/,
  'entry:answered': /^unknown: stale_lock$/,
  'entry:persisted': /^submitted: $/,
  'exit:locked': /^skipped: stale_lock$/,
  'exit:begun': /^unknown: decided$/,
  'exit:answered': /^unknown: stale_lock$/,
  'exit:persisted': /^submitted: $/,
};

/** Where the sleeper has not bought anything, the successor trades in its place and comes to an end with it. */
async function takePlace(trading: Trading, successor: Trader, step: Step): Promise<Trading | undefined> {
  if (step !== 'entry:locked' && step !== 'entry:begun') return undefined;
  const another = { ...trading, signal: { ...trading.signal, signalId: 'of the successor' } };
  await successor.tell<Outcome>({ do: 'enter', signal: another.signal });
  if (step === 'entry:locked') await finish(another, successor);
  return another;
}

/** All that is written of trades and capital. */
async function rowsOf({ admin }: Trading): Promise<unknown> {
  const tables = ['entry_intents', 'exit_intents', 'trade_lifecycle', 'orders', 'fills', 'positions', 'trade_history'];
  const all = [...tables, 'ledger_entries', 'reservations', 'capital_ledger'].map((table) =>
    admin.query(`select t::text as row from ${table} t order by 1`),
  );
  return (await Promise.all(all)).map(({ rows }) => rows as unknown[]);
}
