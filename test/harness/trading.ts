import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { Pool } from 'pg';
import { expect, inject, onTestFinished } from 'vitest';
import { Database } from '#libs/database';
import { deposit, openLedger } from '#libs/ledger';
import type { LifecycleSettings, Outcome, Step } from '#libs/lifecycle';
import { Decimal } from '#libs/money';
import type { SweepStep } from '#libs/reconciliation';
import { createTestDatabase, withDatabase } from './database.js';
import { brokenInvariants, readVenueRecord, type VenueRecord } from './lifecycle-invariants.js';
import type { PaperVenue } from './paper-venue.js';
import { Started } from './process.js';
import type { Command, TraderSetup, TraderSignal } from './trader.js';

export type Adapter = TraderSetup['adapter'];
export const ADAPTERS: readonly Adapter[] = ['alpaca', 'ccxt'];
const SYMBOLS = { alpaca: 'BTC/USD', ccxt: 'BTC/USDT' } as const;

/**
 * Long locks, so that a busy machine does not end one; a test that needs a lock to have ended says so to Postgres. No
 * submit window: whoever might still be sending is dead.
 */
const SETTINGS: LifecycleSettings = {
  ...{ clientOrderIdPrefix: 'bytelyst', entryLockTtlMs: 60_000, submitTimeoutMs: 10_000, submitWindowMs: 0 },
  ...{ unknownAlertMs: 60_000, buffers: { marketBps: 100, feeBps: 30 } },
};

/** A trader in a process of its own. */
export class Trader {
  private count = 0;

  private constructor(readonly process: Started) {}

  static start(setup: TraderSetup): Trader {
    const child = spawn(process.execPath, [resolve('test/harness/trader.ts'), JSON.stringify(setup)], {
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    child.stdin.on('error', () => undefined);
    const started = new Started(child);
    onTestFinished(async () => void (await started.stop('SIGKILL')));
    return new Trader(started);
  }

  /** Resolves with what came of it. */
  async tell<T = unknown>(command: Command): Promise<T> {
    const number = this.send(command);
    const [, word, answer = ''] = await this.process.says(new RegExp(`^(done|failed) ${number} (.*)\n`, 'm'));
    if (word === 'failed') throw new Error(`The trader failed to ${command.do}: ${answer}`);
    return JSON.parse(answer) as T;
  }

  /** Resolves when it waits at the step. */
  async tellUntil(step: Step | SweepStep, command: Command): Promise<{ number: number }> {
    const number = this.send({ ...command, pauseAt: step });
    await this.process.says(new RegExp(`^at ${step}\n`, 'm'));
    return { number };
  }

  /** What came of a command that was sent before. */
  async answerOf<T = Outcome>(number: number): Promise<T> {
    const answer = (await this.process.says(new RegExp(`^done ${number} (.*)\n`, 'm')))[1];
    return JSON.parse(answer ?? '') as T;
  }

  send(command: Command): number {
    this.write(JSON.stringify(command));
    return (this.count += 1);
  }

  goOn(): void {
    this.write('go');
  }

  private write(line: string): void {
    this.process.child.stdin?.write(`${line}\n`);
  }
}

/** What differs between two runs of the same story: an order, and how it is filled. */
export interface Story {
  readonly quantity: string;
  readonly limitPrice: string;
  /** How much of an order is filled at first, and at what price; the rest follows at its limit. */
  readonly firstFill: { readonly quantity: string; readonly price: string };
}

/** The same for the same number. Every third is filled at once, so that nothing is left to fill. */
export function storyOf(seed: number): Story {
  const steps = 101 + ((seed * 7_919) % 800);
  const cents = 4_900_000 + ((seed * 104_729) % 1_000_000);
  const first = seed % 3 === 2 ? steps : 1 + ((seed * 31) % (steps - 1));
  const ofSteps = (count: number): string =>
    Decimal.parse('0.00001')
      .times(Decimal.fromInteger(BigInt(count)))
      .toString();
  const ofCents = (count: number): string =>
    Decimal.parse('0.01')
      .times(Decimal.fromInteger(BigInt(count)))
      .toString();
  return {
    quantity: ofSteps(steps),
    limitPrice: ofCents(cents),
    firstFill: { quantity: ofSteps(first), price: ofCents(cents - (seed % 97)) },
  };
}

/** A database and a funded profile of the test's own, on a venue that only fills when it is told. */
export async function setupTrading(
  paper: PaperVenue,
  options: {
    readonly adapter: Adapter;
    readonly seed?: number;
    readonly settings?: Partial<LifecycleSettings>;
    readonly trader?: Partial<TraderSetup>;
    readonly url?: string;
    readonly adminUrl?: string;
  },
) {
  const story = storyOf(options.seed ?? 0);
  const symbol = SYMBOLS[options.adapter];
  await paper.control('DELETE', '/paper/faults');
  await paper.control('POST', '/paper/mode', { fills: 'manual' });
  const own = options.url === undefined ? await createTestDatabase() : undefined;
  const url = options.url ?? own?.url ?? '';
  // A pool, because it connects again by itself to a server that was killed.
  const admin = new Pool({
    connectionString: options.adminUrl ?? withDatabase(inject('superuserUrl'), own?.name ?? ''),
    max: 2,
  });
  admin.on('error', () => undefined);
  onTestFinished(() => admin.end());
  const profileId = await newProfile(url);
  const before = await readVenueRecord(paper);
  const after = { order: before.orders.at(-1)?.seq ?? 0, submission: before.submissions.at(-1)?.seq ?? 0 };
  const record = (): Promise<VenueRecord> => readVenueRecord(paper, after);

  const signal: TraderSignal = {
    ...{ profileId, symbol, side: 'buy', quantity: story.quantity, limitPrice: story.limitPrice, signalId: 's1' },
  };
  const startTrader = (changes: Partial<LifecycleSettings> = {}): Trader =>
    Trader.start({
      ...{ databaseUrl: url, keyPrefix: `test-${randomUUID()}`, port: Number(new URL(paper.url).port) },
      ...{ adapter: options.adapter, queryTimeoutMs: 10_000 },
      settings: { ...SETTINGS, ...options.settings, ...changes },
      ...options.trader,
    });
  /** Resolves once Postgres says so. */
  const until = async (condition: string): Promise<void> => {
    while (!(await admin.query<{ is: boolean }>(`select ${condition} as is`)).rows[0]?.is);
  };
  /** As if the time of every lock were over. */
  const endLocks = (): Promise<unknown> => admin.query('update entry_locks set expires_at = clock_timestamp()');
  /** What became of a signal; of the only one, unless a test has several. */
  const trade = async (signalId = signal.signalId): Promise<TradeRow | undefined> =>
    (
      await admin.query<TradeRow>(
        `select trade_id as "tradeId", coalesce(t.state, e.state) as state, e.state as "intentState"
           from entry_intents e left join trade_lifecycle t using (profile_id, trade_id) where e.signal_id = $1`,
        [signalId],
      )
    ).rows[0];
  /** All that is set aside, for orders and positions. */
  const reserved = async (): Promise<string | undefined> =>
    (
      await admin.query<{ reserved: string }>(
        'select trim_scale(reserved_for_orders + reserved_for_positions) as reserved from capital_ledger',
      )
    ).rows[0]?.reserved;
  const strike = (fault: Record<string, unknown>): Promise<unknown> => paper.control('POST', '/paper/faults', fault);
  const fill = (id: string, part: { quantity?: string; price?: string } = {}): Promise<unknown> =>
    paper.control('POST', `/paper/orders/${id}/fill`, part);
  const openOrders = async () =>
    (await record()).orders.filter(({ status }) => status === 'new' || status === 'partially_filled');
  const broken = async (): Promise<string[]> => brokenInvariants(admin, await record());
  return {
    ...{ paper, admin, profileId, symbol, signal, story, url, record, startTrader, until, endLocks, trade, fill },
    ...{ openOrders, broken, reserved, strike },
  };
}

export type Trading = Awaited<ReturnType<typeof setupTrading>>;

interface TradeRow {
  readonly tradeId: string;
  readonly state: string;
  readonly intentState: string;
}

async function newProfile(url: string): Promise<string> {
  const database = await Database.open(
    {
      ...{ url, applicationName: 'tests', poolSize: 1 },
      ...{ connectTimeoutMs: 10_000, statementTimeoutMs: 30_000, lockTimeoutMs: 30_000 },
    },
    { lost: () => undefined },
  );
  try {
    const profileId = randomUUID();
    await database.transaction(async (tx) => {
      await tx.query(`insert into profiles (profile_id, name, owner_id) values ($1, 'p', 'alice')`, [profileId]);
      await openLedger(tx, profileId);
      await deposit(tx, { profileId, key: 'opening', actor: 'test', amount: Decimal.fromInteger(10_000n) });
    });
    return profileId;
  } finally {
    await database.close();
  }
}

const STAGES_MAX = 12;

/**
 * Takes the trade of a test from wherever it stands to its end, as a worker would after its start: rebuild, the signal
 * once more, fills, exit, fills. Every invariant must hold after each stage. Resolves with the state that it ended in.
 */
export async function finish(trading: Trading, trader: Trader): Promise<string> {
  const { signal, symbol, profileId, story, broken, fill, openOrders } = trading;
  await rebuild(trading, trader);
  for (let stage = 0; stage < STAGES_MAX; stage += 1) {
    const trade = await trading.trade(signal.signalId);
    if (!trade) {
      await trader.tell({ do: 'enter', signal });
      continue;
    }
    switch (trade.state) {
      case 'pending':
      case 'unknown':
        await rebuild(trading, trader);
        break;
      case 'entering':
      case 'exiting':
        for (const { id } of await openOrders()) await fill(id);
        await trader.tell({ do: 'resolve', symbol });
        await trader.tell({ do: 'report', symbol });
        expect(await broken()).toEqual([]);
        break;
      case 'open':
        await trader.tell({ do: 'exit', profileId, tradeId: trade.tradeId, limitPrice: story.limitPrice });
        break;
      default:
        // Once more, as a strategy that sees the same candle again.
        await trader.tell({ do: 'enter', signal });
        expect(await broken()).toEqual([]);
        return trade.state;
    }
  }
  throw new Error(`The trade did not end; it is ${JSON.stringify(await trading.trade(signal.signalId))}.`);
}

/** Buys in two fills, and resolves with the command that sells it all. */
export async function buy(trading: Trading, trader: Trader) {
  const { signal, symbol, story, fill, openOrders, profileId } = trading;
  await trader.tell({ do: 'enter', signal });
  for (const { id } of await openOrders()) {
    await fill(id, story.firstFill);
    if (story.firstFill.quantity !== story.quantity) await fill(id);
  }
  await trader.tell({ do: 'report', symbol });
  const tradeId = (await trading.trade(signal.signalId))?.tradeId ?? '';
  return { do: 'exit', profileId, tradeId, limitPrice: story.limitPrice } as const;
}

export async function rebuild({ symbol, profileId, broken }: Trading, trader: Trader): Promise<void> {
  // Nothing is mended: what a crash leaves behind is not wrong, it is only not finished.
  expect(await trader.tell({ do: 'rebuild', symbol, profiles: [profileId] })).toEqual([]);
  expect(await broken()).toEqual([]);
}
