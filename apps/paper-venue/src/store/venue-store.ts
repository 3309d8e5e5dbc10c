import { randomBytes } from 'node:crypto';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { Decimal } from '#libs/money';
import type { Balance } from '../engine/balances.js';
import { USUAL_FEES, type FeeSchedule } from '../engine/fees.js';
import type { Counters } from '../engine/matching-engine.js';
import type { EngineEvent, Fill, Order, OrderRequest } from '../engine/order.js';
import type { Instrument } from '../market/instruments.js';
import type { Pin } from '../market/market.js';
import { orNull, toBalance, toOrder, toPin, type BalanceRow, type OrderRow, type PinRow } from './rows.js';

/** What the account starts with. */
const STARTING_USD = '1000000';

export interface VenueState {
  readonly identity: string;
  readonly next: Counters;
  readonly isMatching: boolean;
  readonly fees: FeeSchedule;
  readonly balances: ReadonlyMap<string, Balance>;
  readonly openOrders: readonly Order[];
  readonly pins: ReadonlyMap<string, Pin>;
}

interface VenueRow {
  readonly identity: string;
  readonly next_order: number;
  readonly next_fill: number;
  readonly next_event: number;
  readonly is_matching: number;
  readonly fees: string;
}

/** Writes what happened, inside a transaction that its caller opened. Reading back is the archive's part. */
export class VenueStore {
  private readonly statements: ReturnType<typeof prepare>;

  constructor(private readonly database: DatabaseSync) {
    this.statements = prepare(database);
  }

  /** What the venue was when it ended, or a new one. */
  load(): VenueState {
    this.createIfAbsent();
    const venue = this.database.prepare('select * from venue').get() as unknown as VenueRow;
    const balances = this.database.prepare('select * from balances').all() as unknown as BalanceRow[];
    const pins = this.database.prepare('select * from pins').all() as unknown as PinRow[];
    const orders = this.database
      .prepare(`select * from orders where status in ('new', 'partially_filled') order by seq`)
      .all() as unknown as OrderRow[];
    return {
      identity: venue.identity,
      next: { order: venue.next_order, fill: venue.next_fill, event: venue.next_event },
      isMatching: venue.is_matching === 1,
      fees: parseFees(venue.fees),
      balances: new Map(balances.map((row) => [row.asset, toBalance(row)])),
      openOrders: orders.map(toOrder),
      pins: new Map(pins.map((row) => [row.instrument, toPin(row)])),
    };
  }

  saveEvents(events: readonly EngineEvent[], next: Counters): void {
    for (const event of events) {
      if (event.kind === 'new') this.insertOrder(event.order);
      else this.updateOrder(event.order);
      if (event.kind === 'fill') this.insertFill(event.fill);
    }
    this.statements.counters.run(next.order, next.fill, next.event);
  }

  saveBalances(balances: readonly [string, Balance][]): void {
    for (const [asset, { free, locked, cost }] of balances) {
      this.statements.balance.run(asset, free.toString(), locked.toString(), cost.toString());
    }
  }

  recordSubmission(
    request: OrderRequest,
    submission: { symbol: string; at: number; refusal?: string | undefined; orderSeq?: number | undefined },
  ): void {
    this.statements.submission.run(
      submission.at,
      request.protocol,
      request.clientOrderId,
      submission.symbol,
      request.side,
      request.type,
      orNull(request.quantity ?? request.notional),
      submission.refusal ?? null,
      submission.orderSeq ?? null,
    );
  }

  saveMode(isMatching: boolean): void {
    this.database.prepare('update venue set is_matching = ?').run(isMatching ? 1 : 0);
  }

  saveFees(fees: FeeSchedule): void {
    this.database.prepare('update venue set fees = ?').run(JSON.stringify(fees));
  }

  savePin({ id }: Instrument, pin: Pin | undefined): void {
    this.database.prepare('delete from pins where instrument = ?').run(id);
    if (!pin) return;
    this.database
      .prepare('insert into pins (instrument, bid, ask, bid_size, ask_size) values (?, ?, ?, ?, ?)')
      .run(id, pin.bid.toString(), pin.ask.toString(), orNull(pin.bidSize), orNull(pin.askSize));
  }

  /** Makes the venue forget orders that ended before then, and says how many. */
  purge(endedBefore: number, at: number): number {
    const sql = `update orders set purged_at = ?
      where purged_at is null and updated_at < ? and status not in ('new', 'partially_filled')`;
    return Number(this.database.prepare(sql).run(at, endedBefore).changes);
  }

  private createIfAbsent(): void {
    if (this.database.prepare('select 1 from venue').get()) return;
    this.database.exec('begin immediate');
    this.database
      .prepare(
        `insert into venue (id, identity, next_order, next_fill, next_event, is_matching, fees)
         values (1, ?, 1, 1, 1, 1, ?)`,
      )
      .run(randomBytes(10).toString('hex'), JSON.stringify(USUAL_FEES));
    this.statements.balance.run('USD', STARTING_USD, '0', '0');
    this.database.exec('commit');
  }

  private insertOrder(order: Order): void {
    this.statements.order.run(
      order.seq,
      order.protocol,
      order.clientOrderId,
      order.instrument.id,
      order.side,
      order.type,
      order.timeInForce,
      order.quantity.toString(),
      orNull(order.notional),
      orNull(order.limitPrice),
      orNull(order.stopPrice),
      order.lockPrice.toString(),
      order.filledQuantity.toString(),
      order.filledNotional.toString(),
      order.status,
      order.isTriggered ? 1 : 0,
      order.createdAt,
      order.updatedAt,
    );
  }

  private updateOrder(order: Order): void {
    this.statements.progress.run(
      order.filledQuantity.toString(),
      order.filledNotional.toString(),
      order.status,
      order.isTriggered ? 1 : 0,
      order.updatedAt,
      order.seq,
    );
  }

  private insertFill(fill: Fill): void {
    this.statements.fill.run(
      fill.seq,
      fill.orderSeq,
      fill.instrument.id,
      fill.side,
      fill.price.toString(),
      fill.quantity.toString(),
      fill.fee.toString(),
      fill.feeAsset,
      fill.isMaker ? 1 : 0,
      fill.at,
    );
  }
}

function prepare(
  database: DatabaseSync,
): Record<'order' | 'progress' | 'fill' | 'balance' | 'counters' | 'submission', StatementSync> {
  return {
    order: database.prepare(
      `insert into orders (seq, protocol, client_order_id, instrument, side, type, time_in_force, quantity, notional,
         limit_price, stop_price, lock_price, filled_quantity, filled_notional, status, is_triggered, created_at,
         updated_at)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    progress: database.prepare(
      `update orders set filled_quantity = ?, filled_notional = ?, status = ?, is_triggered = ?, updated_at = ?
       where seq = ?`,
    ),
    fill: database.prepare(
      `insert into fills (seq, order_seq, instrument, side, price, quantity, fee, fee_asset, is_maker, at)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    balance: database.prepare(
      `insert into balances (asset, free, locked, cost) values (?, ?, ?, ?)
       on conflict (asset) do update set free = excluded.free, locked = excluded.locked, cost = excluded.cost`,
    ),
    counters: database.prepare('update venue set next_order = ?, next_fill = ?, next_event = ?'),
    submission: database.prepare(
      `insert into submissions (at, protocol, client_order_id, symbol, side, type, quantity, refusal, order_seq)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
  };
}

function parseFees(text: string): FeeSchedule {
  const stored = JSON.parse(text) as Record<keyof FeeSchedule, Record<'makerBps' | 'takerBps', string>>;
  const rates = ({ makerBps, takerBps }: { makerBps: string; takerBps: string }): FeeSchedule['alpaca'] => ({
    makerBps: Decimal.parse(makerBps),
    takerBps: Decimal.parse(takerBps),
  });
  return { alpaca: rates(stored.alpaca), binance: rates(stored.binance) };
}
