import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import pino from 'pino';
import { Registry } from 'prom-client';
import { expect, inject, onTestFinished } from 'vitest';
import { SystemClock } from '#libs/clock';
import { Database } from '#libs/database';
import { deposit, findLedger, openLedger, verifyLedger } from '#libs/ledger';
import { findTrade, Lifecycle, type ExitRequest, type Outcome, type Step, type Trade } from '#libs/lifecycle';
import { EntryLocks, ReconciliationLocks } from '#libs/locks';
import { Decimal } from '#libs/money';
import { openRedis, type Redis } from '#libs/redis';
import type { Fill } from '#libs/venues';
import { createTestDatabase, withDatabase } from '../../../../test/harness/database.js';
import { listCorrections, type CorrectionRecord } from '../correction-records.js';
import type { ReconciliationObserver, ReconciliationParts, SweepStep } from '../reconciliation-parts.js';
import { ReconciliationReport } from '../reconciliation-report.js';
import { Reconciliation } from '../reconciliation.js';
import { SweepTurns } from '../sweep-turns.js';
import { AccountAtVenue } from './account.js';

export const VENUE = 'paper';
export const SYMBOL = 'BTC/USD';
export const d = (text: string): Decimal => Decimal.parse(text);
const LIMIT_PRICE = d('100');
const LOCK_TTL_MS = 600_000;
const silent = (): void => undefined;

/** A database, a venue that may hide what it knows, and a lifecycle and a reconciliation over both. */
export async function setupReconciliation(
  options: { readonly lockTtlMs?: number; readonly settings?: Partial<ReconciliationParts['settings']> } = {},
) {
  const { url, name } = await createTestDatabase();
  const database = await Database.open(
    {
      ...{ url, applicationName: name, poolSize: 8, connectTimeoutMs: 10_000 },
      ...{ statementTimeoutMs: 60_000, lockTimeoutMs: 60_000 },
    },
    { lost: silent },
  );
  onTestFinished(() => database.close());
  const admin = new Client({ connectionString: withDatabase(inject('superuserUrl'), name) });
  await admin.connect();
  onTestFinished(() => admin.end());
  const redis = await openRedis(inject('redisUrl'), { lost: silent, restored: silent });
  onTestFinished(() => redis.disconnect());

  const clock = new SystemClock();
  const account = new AccountAtVenue();
  const venue = account.asVenue(VENUE, { now: () => new Date(clock.now()) });
  let atTradeStep: (step: Step) => void | Promise<void> = silent;
  const lifecycle = new Lifecycle({
    ...{ database, clock, venueOf: () => venue },
    locks: new EntryLocks(database, { ttlMs: LOCK_TTL_MS }),
    settings: {
      ...{ clientOrderIdPrefix: 'test', entryLockTtlMs: LOCK_TTL_MS, submitTimeoutMs: 10_000, submitWindowMs: 0 },
      ...{ unknownAlertMs: 60_000, buffers: { marketBps: 0, feeBps: 50 } },
    },
    observer: {
      ...{
        reached: (step) => atTradeStep(step),
        concluded: silent,
        applied: silent,
        resolved: silent,
        overdue: silent,
        undecided: silent,
      },
      failed: silent,
    },
  });
  let atStep: (step: SweepStep) => void | Promise<void> = silent;
  const lockTtlMs = options.lockTtlMs ?? LOCK_TTL_MS;
  const newReconciliation = (own: { redis?: Redis; keyPrefix?: string } = {}) => {
    const report = new ReconciliationReport(pino({ level: 'silent' }), [VENUE], new Registry());
    const observer: ReconciliationObserver = Object.assign(report, { reached: (step: SweepStep) => atStep(step) });
    const locks = new ReconciliationLocks(database, { ttlMs: lockTtlMs, contended: () => report.contended() });
    const reconciliation = new Reconciliation({
      ...{ database, clock, observer, venueOf: () => venue },
      locks,
      turns: new SweepTurns({
        ...{ redis: own.redis ?? redis, clock, lockTtlMs: LOCK_TTL_MS },
        keyPrefix: own.keyPrefix ?? `test-${randomUUID()}`,
      }),
      settings: {
        ...{ clientOrderIdPrefix: 'test', submitWindowMs: 0, settleMs: 0, lookbackMs: 3_600_000 },
        ...{ intervalMs: 0, feeBps: 50 },
        ...options.settings,
      },
    });
    return { reconciliation, report, locks };
  };
  const { reconciliation, report } = newReconciliation();
  const sweep = async () => {
    const swept = await reconciliation.sweepIfDue({ venue: VENUE });
    if (!swept) throw new Error('Expected a sweep that is due.');
    return swept;
  };

  /** A digest of every row version of every table: any write shows in it. */
  const written = async (): Promise<string> => {
    const tables = await admin.query<{ name: string }>(
      `select relname as name from pg_stat_user_tables where schemaname = 'public' order by relname`,
    );
    const digest = ({ name }: { name: string }): string =>
      `select '${name} ' || md5(coalesce(string_agg(ctid || ' ' || xmin, ',' order by ctid), '')) as digest from ${name}`;
    const { rows } = await admin.query<{ digest: string }>(tables.rows.map(digest).join(' union all '));
    // Postgres may read large tables side by side, and says them in any order.
    return rows
      .map((row) => row.digest)
      .toSorted()
      .join('\n');
  };
  /** Sweeps once more, and expects that nothing at all is written. */
  const sweepQuietly = async () => {
    const before = await written();
    const swept = await sweep();
    expect(await written()).toBe(before);
    return swept;
  };

  const newProfile = async (capital = '10000', owner = 'alice'): Promise<string> => {
    const profileId = randomUUID();
    await database.transaction(async (tx) => {
      await tx.query(`insert into profiles (profile_id, name, owner_id) values ($1, 'p', $2)`, [profileId, owner]);
      await openLedger(tx, profileId);
      await deposit(tx, { profileId, key: 'opening', actor: 'test', amount: d(capital) });
    });
    return profileId;
  };
  const tryEnter = (profileId: string, quantity = '10', signalId = 's1'): Promise<Outcome> => {
    const signal = { profileId, venue: VENUE, symbol: SYMBOL, side: 'buy', strategy: 'test', signalId } as const;
    return lifecycle.enter({
      ...{ ...signal, actor: 'test', size: { quantity: d(quantity) } },
      order: { type: 'limit', limitPrice: LIMIT_PRICE },
    });
  };
  const enter = async (profileId: string, quantity = '10', signalId = 's1') => {
    const { tradeId, outcome, clientOrderId } = await tryEnter(profileId, quantity, signalId);
    expect(outcome).toBe('submitted');
    return { tradeId, ...orderOf(clientOrderId) };
  };
  /** A trade that holds what it bought. */
  const buy = async (profileId: string, quantity = '10', signalId = 's1') => {
    const entered = await enter(profileId, quantity, signalId);
    fillUnseen(entered.orderId, `f-${entered.orderId}`, quantity);
    await tell(entered.orderId);
    return entered;
  };
  const exit = async (request: Pick<ExitRequest, 'profileId' | 'tradeId'>) => {
    const order = { type: 'limit', limitPrice: LIMIT_PRICE } as const;
    const { clientOrderId, outcome } = await lifecycle.exit({ ...request, order, actor: 'test' });
    expect(outcome).toBe('submitted');
    return orderOf(clientOrderId);
  };
  const orderOf = (clientOrderId: string) => {
    const order = [...account.orders.values()].find((each) => each.clientOrderId === clientOrderId);
    if (!order) throw new Error(`Expected the venue to have ${clientOrderId}.`);
    return { orderId: order.venueOrderId };
  };
  /** The venue fills, and we are not told. */
  const fillUnseen = (orderId: string, fillId: string, quantity: string, changes: Partial<Fill> = {}): Fill => {
    const { symbol, side, clientOrderId } = account.get(orderId);
    const fill: Fill = {
      ...{ fillId, venueOrderId: orderId, clientOrderId, symbol, side, quantity: d(quantity), price: LIMIT_PRICE },
      ...{ happenedAt: new Date(clock.now()), ...changes },
    };
    account.fill(fill);
    return fill;
  };
  /** Everything that the venue knows of an order is told, as the stream and the poll would. */
  const tell = async (orderId: string): Promise<void> => {
    const fills = account.fills.filter(({ venueOrderId }) => venueOrderId === orderId);
    await lifecycle.apply({ venue: VENUE, source: 'stream' }, { order: account.get(orderId), fills });
  };
  const trade = async (profileId: string, tradeId: string): Promise<Trade | undefined> =>
    database.statement((tx) => findTrade(tx, { profileId, tradeId }));
  const corrections = (): Promise<CorrectionRecord[]> =>
    database.statement((tx) => listCorrections(tx, { limit: 100 }));
  /** orders, positions, pnl, available */
  const balances = async (profileId: string): Promise<string[]> => {
    const row = await database.statement((tx) => findLedger(tx, profileId));
    return [row?.reservedForOrders, row?.reservedForPositions, row?.realizedPnl, row?.availableCapital].map(String);
  };
  /** Invariants 6 and 8. */
  const contradictions = async (profileId: string): Promise<unknown[]> => {
    const proofs = await database.transaction((tx) => verifyLedger(tx, profileId));
    const { rows } = await admin.query('select * from fn_lifecycle_truth($1) where not is_same', [profileId]);
    return [...proofs.filter(({ problem }) => problem !== undefined), ...(rows as unknown[])];
  };
  const halts = async (): Promise<string[]> =>
    (await admin.query<{ at: string }>(`select concat_ws(' ', scope, venue, symbol) as at from halts`)).rows.map(
      ({ at }) => at,
    );
  return {
    ...{
      account,
      admin,
      database,
      lifecycle,
      reconciliation,
      newReconciliation,
      report,
      sweep,
      newProfile,
      tryEnter,
      enter,
      buy,
      exit,
    },
    ...{ clock, redis, url, written, sweepQuietly },
    ...{ fillUnseen, tell, trade, corrections, balances, contradictions, halts },
    /** Called at each step of a sweep, and waited for. */
    onStep: (watch: typeof atStep) => void (atStep = watch),
    onTradeStep: (watch: typeof atTradeStep) => void (atTradeStep = watch),
  };
}
