import { randomUUID } from 'node:crypto';
import { Client, Pool } from 'pg';
import { inject, onTestFinished } from 'vitest';
import { Database } from '#libs/database';
import { deposit, findLedger, openLedger, verifyLedger } from '#libs/ledger';
import { EntryLocks } from '#libs/locks';
import { Decimal } from '#libs/money';
import type { Fill, Order } from '#libs/venues';
import { createTestDatabase, withDatabase } from '../../../../test/harness/database.js';
import { beginEntry, beginExit, persistLifecycle, rejectIntent, type EntryIntent } from '../intents.js';
import { applyReport, type Report, type ReportSource } from '../report.js';
import { findTrade } from '../trades.js';

export const d = (text: string): Decimal => Decimal.parse(text);
export const VENUE = 'paper';
export const SYMBOL = 'BTC/USD';
const CREATED = new Date('2026-01-01T00:00:00Z');
const LOCK_TTL_MS = 600_000;

/** What a venue says of an order, by its client order id. */
export function orderOf(clientOrderId: string, changes: Partial<Order> = {}): Order {
  return {
    venueOrderId: `v-${clientOrderId}`,
    clientOrderId,
    symbol: SYMBOL,
    side: 'buy',
    type: 'limit',
    quantity: d('10'),
    filledQuantity: d('0'),
    status: 'open',
    createdAt: CREATED,
    updatedAt: CREATED,
    ...changes,
  };
}

export function fillOf(clientOrderId: string, fillId: string, changes: Partial<Fill> = {}): Fill {
  return {
    fillId,
    venueOrderId: `v-${clientOrderId}`,
    clientOrderId,
    symbol: SYMBOL,
    side: 'buy',
    quantity: d('1'),
    price: d('100'),
    happenedAt: CREATED,
    ...changes,
  };
}

/** A database of the test's own, a funded profile, and the lifecycle's functions as a worker would call them. */
export async function setupLifecycle(options: { capital?: string; poolSize?: number } = {}) {
  const { url, name } = await createTestDatabase();
  const connection = { url, applicationName: name, poolSize: options.poolSize ?? 4, connectTimeoutMs: 10_000 };
  const database = await Database.open(
    { ...connection, statementTimeoutMs: 60_000, lockTimeoutMs: 60_000 },
    { lost: () => undefined },
  );
  onTestFinished(() => database.close());
  const admin = new Client({ connectionString: withDatabase(inject('superuserUrl'), name) });
  await admin.connect();
  onTestFinished(() => admin.end());
  /** For what trades that live side by side ask at the same moment. */
  const superusers = new Pool({ connectionString: withDatabase(inject('superuserUrl'), name), max: 2 });
  onTestFinished(() => superusers.end());
  const locks = new EntryLocks(database, { ttlMs: LOCK_TTL_MS });

  const newProfile = async (capital = options.capital ?? '10000'): Promise<string> => {
    const profileId = randomUUID();
    await superusers.query('insert into profiles (profile_id, name, owner_id) values ($1, $2, $3)', [
      profileId,
      'p',
      'alice',
    ]);
    await database.transaction(async (tx) => {
      await openLedger(tx, profileId);
      await deposit(tx, { profileId, key: 'opening', actor: 'test', amount: d(capital) });
    });
    return profileId;
  };

  /** The token of a lock on the symbol, which another holding of it makes stale. */
  const lockToken = async (profileId: string, symbol = SYMBOL): Promise<bigint> => {
    await superusers.query(`update entry_locks set expires_at = now() where profile_id = $1 and symbol = lower($2)`, [
      profileId,
      symbol,
    ]);
    const lock = await locks.tryAcquire({ profileId, symbol });
    if (!lock) throw new Error('Expected a lock that nobody holds.');
    return lock.token;
  };

  const begin = async (profileId: string, changes: Partial<EntryIntent> = {}) => {
    const tradeId = changes.tradeId ?? randomUUID();
    const symbol = changes.symbol ?? SYMBOL;
    const intent: EntryIntent = {
      ...{ profileId, tradeId, symbol, venue: VENUE, strategy: 'example', signalId: 's', actor: 'test' },
      ...{ amount: d('1005'), side: 'buy', type: 'limit', timeInForce: 'gtc', quantity: d('10') },
      ...{ limitPrice: d('100'), clientOrderId: `c-${tradeId}` },
      ...changes,
      lockToken: changes.lockToken ?? (await lockToken(profileId, symbol)),
    };
    return { ...intent, ...(await beginEntry(database, intent)) };
  };

  /** A trade whose entry the venue confirmed. */
  const enter = async (profileId: string, changes: Partial<EntryIntent> = {}, order: Partial<Order> = {}) => {
    const intent = await begin(profileId, changes);
    const report = { order: orderOf(intent.clientOrderId, { quantity: intent.quantity, ...order }) };
    const proof = { lockToken: intent.lockToken, report, source: 'submit' } as const;
    const { verdict } = await persistLifecycle(database, intent, proof);
    if (verdict !== 'persisted') throw new Error(`Expected a lifecycle, got ${verdict}.`);
    return intent;
  };

  const leave = async (profileId: string, tradeId: string, exit: { quantity: string; leftBehind?: string }) => {
    const trade = await database.statement((tx) => findTrade(tx, { profileId, tradeId }));
    const generation = trade?.exitGeneration ?? 0;
    const token = await lockToken(profileId, trade?.symbol);
    const clientOrderId = `x${generation}-${tradeId}`;
    const { verdict } = await beginExit(database, {
      ...{ profileId, tradeId, generation, lockToken: token, type: 'market', timeInForce: 'gtc' },
      ...{ quantity: d(exit.quantity), leftBehind: d(exit.leftBehind ?? '0'), limitPrice: undefined },
      ...{ clientOrderId, actor: 'test' },
    });
    return { verdict, clientOrderId, generation, lockToken: token };
  };

  const apply = (report: Report, source: ReportSource = 'stream') =>
    applyReport(database, { venue: VENUE, source }, report);

  const trade = (profileId: string, tradeId: string) =>
    database.statement((tx) => findTrade(tx, { profileId, tradeId }));

  /** allocated, orders, positions, pnl, available */
  const balances = async (profileId: string): Promise<string[]> => {
    const row = await database.transaction((tx) => findLedger(tx, profileId));
    if (!row) throw new Error('Expected a ledger.');
    return [
      ...[row.allocatedCapital, row.reservedForOrders, row.reservedForPositions, row.realizedPnl],
      row.availableCapital,
    ].map(String);
  };

  /** Invariants 6 and 8: the ledger is the fold of its journal, and what orders and fills say it must be. */
  const contradictions = async (profileId: string): Promise<unknown[]> => {
    const proofs = await database.transaction((tx) => verifyLedger(tx, profileId));
    const { rows } = await admin.query('select * from fn_lifecycle_truth($1) where not is_same', [profileId]);
    return [...proofs.filter(({ problem }) => problem !== undefined), ...(rows as unknown[])];
  };

  const halts = async (): Promise<string[]> =>
    (await admin.query<{ reason: string }>('select reason from halts order by reason')).rows.map(
      ({ reason }) => reason,
    );

  return {
    ...{ database, admin, locks, newProfile, lockToken, begin, enter, leave, apply, trade, balances },
    ...{ contradictions, halts },
    reject: rejectIntent.bind(undefined, database),
  };
}
