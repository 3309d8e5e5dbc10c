import type { Tx } from '#libs/database';
import { Decimal } from '#libs/money';
import type { Side } from '#libs/venues';
import type { Evidence } from './intents.js';
import type { TradeRef } from './trades.js';

/** What was written down before the venue was called, and what is known of its outcome. */
export interface TradeIntent {
  /** Of an exit; an entry has none. */
  readonly generation?: number;
  readonly clientOrderId: string;
  readonly side: Side;
  readonly type: string;
  readonly timeInForce: string;
  readonly quantity: Decimal;
  readonly limitPrice?: Decimal;
  readonly actor: string;
  readonly state: 'pending' | 'unknown' | 'confirmed' | 'rejected';
  readonly reason?: string;
  readonly evidence: readonly Evidence[];
  readonly createdAt: Date;
  readonly decidedAt?: Date;
}

/** The entry, then the exits in their order. At most one of them is undecided. */
export async function listIntentsOf(tx: Tx, { profileId, tradeId }: TradeRef): Promise<TradeIntent[]> {
  const of = 'profile_id = $1::uuid and trade_id = $2::uuid';
  const rows = await tx.query<Row[]>(
    `select null::integer as generation, ${COLUMNS} from entry_intents where ${of}
      union all select generation, ${COLUMNS} from exit_intents where ${of}
      order by generation nulls first`,
    [profileId, tradeId],
  );
  return rows.map(intentOf);
}

const COLUMNS = `client_order_id, side, type, time_in_force, quantity, limit_price, actor, state, reason, evidence,
  created_at, decided_at`;

interface Row {
  readonly generation: number | null;
  readonly client_order_id: string;
  readonly side: Side;
  readonly type: string;
  readonly time_in_force: string;
  readonly quantity: string;
  readonly limit_price: string | null;
  readonly actor: string;
  readonly state: TradeIntent['state'];
  readonly reason: string | null;
  readonly evidence: Evidence[];
  readonly created_at: Date;
  readonly decided_at: Date | null;
}

function intentOf(row: Row): TradeIntent {
  return {
    ...(row.generation !== null && { generation: row.generation }),
    clientOrderId: row.client_order_id,
    side: row.side,
    type: row.type,
    timeInForce: row.time_in_force,
    quantity: Decimal.parse(row.quantity),
    ...(row.limit_price !== null && { limitPrice: Decimal.parse(row.limit_price) }),
    actor: row.actor,
    state: row.state,
    ...(row.reason !== null && { reason: row.reason }),
    evidence: row.evidence,
    createdAt: row.created_at,
    ...(row.decided_at !== null && { decidedAt: row.decided_at }),
  };
}
