import type { Database, GatheredStatement, Tx } from '#libs/database';
import { Decimal } from '#libs/money';
import type { Side } from '#libs/venues';

/** pending, unknown and rejected: there is an intent only. The others: the venue confirmed the entry. */
export type TradeState =
  'pending' | 'unknown' | 'rejected' | 'entering' | 'open' | 'exiting' | 'closed' | 'cancelled' | 'disputed';

export interface Trade {
  readonly profileId: string;
  readonly tradeId: string;
  readonly venue: string;
  readonly symbol: string;
  readonly side: 'long' | 'short';
  readonly strategy: string;
  readonly signalId: string;
  readonly state: TradeState;
  /** Why it was rejected, or why nobody knows. */
  readonly reason?: string;
  readonly clientOrderId: string;
  readonly quantity: Decimal;
  readonly amount: Decimal;
  readonly positionQuantity: Decimal;
  readonly realizedPnl: Decimal;
  readonly exitGeneration: number;
  readonly createdAt: Date;
  readonly endedAt?: Date;
}

/** Names a trade. */
export interface TradeRef {
  readonly profileId: string;
  readonly tradeId: string;
}

export async function findTrade(tx: Tx, { profileId, tradeId }: TradeRef): Promise<Trade | undefined> {
  const [row] = await tx.query<TradeRow[]>(
    `select ${TRADE_COLUMNS} from ${TRADE_TABLES} where e.profile_id = $1::uuid and e.trade_id = $2::uuid`,
    [profileId, tradeId],
  );
  return row && tradeOf(row);
}

/** The same by itself, for many that ask at the same moment. */
export async function lookUpTrade(database: Database, { profileId, tradeId }: TradeRef): Promise<Trade | undefined> {
  const row = await database.gather<TradeRow | { readonly trade_id: null }>(FIND_TRADE, [profileId, tradeId]);
  return row.trade_id === null ? undefined : tradeOf(row);
}

/** Newest first. The cursor is the one before it, as listed. */
export async function listTrades(
  tx: Tx,
  page: { readonly profileId: string; readonly after?: string | undefined; readonly limit: number },
): Promise<Trade[]> {
  const rows = await tx.query<TradeRow[]>(
    `select ${TRADE_COLUMNS} from ${TRADE_TABLES}
      where e.profile_id = $1::uuid and ($2::uuid is null or (e.created_at, e.trade_id) < (
        select k.created_at, k.trade_id from entry_intents k where k.profile_id = $1::uuid and k.trade_id = $2::uuid))
      order by e.created_at desc, e.trade_id desc limit $3::integer`,
    [page.profileId, page.after ?? null, page.limit],
  );
  return rows.map(tradeOf);
}

/** The one trade of a profile that is active in a symbol, disputed or not. */
export async function findActiveTrade(
  tx: Tx,
  of: { readonly profileId: string; readonly symbol: string },
): Promise<Trade | undefined> {
  const [row] = await tx.query<TradeRow[]>(
    `select ${TRADE_COLUMNS} from ${TRADE_TABLES}
      where e.profile_id = $1::uuid and lower(e.symbol) = lower($2) and e.is_active`,
    [of.profileId, of.symbol],
  );
  return row && tradeOf(row);
}

const TRADE_TABLES = `entry_intents e
  left join trade_lifecycle t on t.profile_id = e.profile_id and t.trade_id = e.trade_id
  left join positions p on p.profile_id = e.profile_id and p.trade_id = e.trade_id`;

const TRADE_COLUMNS = `e.profile_id, e.trade_id, e.venue, e.symbol, e.side, e.strategy, e.signal_id,
  coalesce(t.state, e.state) as state, e.reason, e.client_order_id, e.quantity, e.amount,
  coalesce(p.quantity, 0) as position_quantity, coalesce(p.realized_pnl, 0) as realized_pnl,
  coalesce(t.exit_generation, 0) as exit_generation, e.created_at, t.ended_at`;

// The limit says that there is at most one, so that each is looked up by its index.
const FIND_TRADE: GatheredStatement = {
  name: 'find trade',
  types: ['uuid', 'uuid'],
  from: `(select ${TRADE_COLUMNS} from ${TRADE_TABLES} where e.profile_id = a.v1 and e.trade_id = a.v2 limit 1)`,
};

interface TradeRow {
  readonly profile_id: string;
  readonly trade_id: string;
  readonly venue: string;
  readonly symbol: string;
  readonly side: Side;
  readonly strategy: string;
  readonly signal_id: string;
  readonly state: TradeState;
  readonly reason: string | null;
  readonly client_order_id: string;
  readonly quantity: string;
  readonly amount: string;
  readonly position_quantity: string;
  readonly realized_pnl: string;
  readonly exit_generation: number;
  readonly created_at: Date;
  readonly ended_at: Date | null;
}

function tradeOf(row: TradeRow): Trade {
  return {
    profileId: row.profile_id,
    tradeId: row.trade_id,
    venue: row.venue,
    symbol: row.symbol,
    side: row.side === 'buy' ? 'long' : 'short',
    strategy: row.strategy,
    signalId: row.signal_id,
    state: row.state,
    ...(row.reason !== null && { reason: row.reason }),
    clientOrderId: row.client_order_id,
    quantity: Decimal.parse(row.quantity),
    amount: Decimal.parse(row.amount),
    positionQuantity: Decimal.parse(row.position_quantity),
    realizedPnl: Decimal.parse(row.realized_pnl),
    exitGeneration: row.exit_generation,
    createdAt: row.created_at,
    ...(row.ended_at !== null && { endedAt: row.ended_at }),
  };
}
