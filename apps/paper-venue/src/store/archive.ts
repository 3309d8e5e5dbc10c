import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Fill, Order } from '../engine/order.js';
import type { Instrument, Protocol } from '../market/instruments.js';
import { toFill, toOrder, type FillRow, type OrderRow } from './rows.js';

/** An order as it lies in the store, also one that the venue's answers no longer know. */
export interface FiledOrder {
  readonly order: Order;
  readonly isPurged: boolean;
}

export interface Submission {
  readonly seq: number;
  readonly at: number;
  readonly protocol: Protocol;
  readonly clientOrderId: string;
  readonly symbol: string;
  readonly side: Order['side'];
  readonly type: Order['type'];
  readonly quantity: string | null;
  readonly refusal: string | null;
  readonly orderSeq: number | null;
}

export interface OrderQuery {
  readonly status: 'open' | 'closed' | 'all';
  readonly instruments?: readonly Instrument[] | undefined;
  readonly side?: Order['side'] | undefined;
  readonly createdAfter?: number | undefined;
  readonly createdBefore?: number | undefined;
  readonly afterSeq?: number | undefined;
  readonly beforeSeq?: number | undefined;
  readonly newestFirst: boolean;
  readonly limit: number;
}

export interface FillQuery {
  readonly instrument?: Instrument | undefined;
  readonly orderSeq?: number | undefined;
  readonly afterSeq?: number | undefined;
  readonly beforeSeq?: number | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly newestFirst: boolean;
  readonly limit: number;
}

type Value = string | number;

/** Reads what the venue did, from the first day on. */
export class Archive {
  /** Asked with every submission, so it is prepared once. */
  private readonly usedId: StatementSync;

  constructor(private readonly database: DatabaseSync) {
    this.usedId = database.prepare('select 1 from orders where client_order_id = ? and protocol = ? limit 1');
  }

  findOrder(seq: number): FiledOrder | undefined {
    return this.read('where seq = ?', [seq])[0];
  }

  /** The newest with this client order id. */
  findByClientOrderId(clientOrderId: string, instrument?: Instrument): FiledOrder | undefined {
    const where = `where client_order_id = ? ${instrument ? 'and instrument = ?' : ''} order by seq desc limit 1`;
    return this.read(where, instrument ? [clientOrderId, instrument.id] : [clientOrderId])[0];
  }

  /** Whether an order of this protocol ever bore it. */
  isClientOrderIdUsed(protocol: Protocol, clientOrderId: string): boolean {
    return this.usedId.get(clientOrderId, protocol) !== undefined;
  }

  listOrders(query: OrderQuery): Order[] {
    const conditions: [string, Value[]][] = [['purged_at is null', []]];
    const open = `status in ('new', 'partially_filled')`;
    if (query.status !== 'all') conditions.push([query.status === 'open' ? open : `not (${open})`, []]);
    if (query.instruments) {
      const ids = query.instruments.map(({ id }) => id);
      conditions.push([`instrument in (${ids.map(() => '?').join(', ')})`, ids]);
    }
    if (query.side) conditions.push(['side = ?', [query.side]]);
    if (query.createdAfter !== undefined) conditions.push(since('orders', 'created_at', query.createdAfter + 1));
    if (query.createdBefore !== undefined) conditions.push(['created_at <= ?', [query.createdBefore]]);
    if (query.afterSeq !== undefined) conditions.push(['seq > ?', [query.afterSeq]]);
    if (query.beforeSeq !== undefined) conditions.push(['seq < ?', [query.beforeSeq]]);
    const { where, values } = joined(conditions);
    const order = `order by seq ${query.newestFirst ? 'desc' : 'asc'} limit ?`;
    return this.read(`${where} ${order}`, [...values, query.limit]).map((filed) => filed.order);
  }

  listFills(query: FillQuery): Fill[] {
    const conditions: [string, Value[]][] = [];
    if (query.instrument) conditions.push(['instrument = ?', [query.instrument.id]]);
    if (query.orderSeq !== undefined) conditions.push(['order_seq = ?', [query.orderSeq]]);
    if (query.afterSeq !== undefined) conditions.push(['seq > ?', [query.afterSeq]]);
    if (query.beforeSeq !== undefined) conditions.push(['seq < ?', [query.beforeSeq]]);
    if (query.from !== undefined) conditions.push(since('fills', 'at', query.from));
    if (query.to !== undefined) conditions.push(['at <= ?', [query.to]]);
    const { where, values } = joined(conditions);
    const sql = `select * from fills ${where} order by seq ${query.newestFirst ? 'desc' : 'asc'} limit ?`;
    const rows = this.database.prepare(sql).all(...values, query.limit) as unknown as FillRow[];
    return rows.map(toFill);
  }

  /** Every order that was ever accepted, oldest first, also those that were purged. */
  listAccepted(page: { afterSeq: number; limit: number }): FiledOrder[] {
    return this.read('where seq > ? order by seq limit ?', [page.afterSeq, page.limit]);
  }

  listSubmissions(page: { afterSeq: number; limit: number }): Submission[] {
    return this.database
      .prepare(
        `select seq, at, protocol, client_order_id as clientOrderId, symbol, side, type, quantity, refusal,
           order_seq as orderSeq
         from submissions where seq > ? order by seq limit ?`,
      )
      .all(page.afterSeq, page.limit) as unknown as Submission[];
  }

  private read(rest: string, values: readonly Value[]): FiledOrder[] {
    const rows = this.database.prepare(`select * from orders ${rest}`).all(...values) as unknown as OrderRow[];
    return rows.map((row) => ({ order: toOrder(row), isPurged: row.purged_at !== null }));
  }
}

/** Numbers grow with time, so the index on the time finds where to begin, however long the history is. */
function since(table: 'orders' | 'fills', column: 'created_at' | 'at', from: number): [string, Value[]] {
  const first = `select seq from ${table} where ${column} >= ? order by ${column} limit 1`;
  return [`seq >= coalesce((${first}), 9e18) and ${column} >= ?`, [from, from]];
}

function joined(conditions: readonly [string, Value[]][]): { where: string; values: Value[] } {
  return {
    where: conditions.length > 0 ? `where ${conditions.map(([sql]) => sql).join(' and ')}` : '',
    values: conditions.flatMap(([, values]) => values),
  };
}
