import assert from 'node:assert/strict';
import type { DatabaseSync } from 'node:sqlite';
import type { Clock } from '#libs/clock';
import { Decimal } from '#libs/money';
import type { Candle } from './candle.js';
import type { Decision } from './decision.js';
import { openPairFile, transaction } from './pair-file.js';

/** How long a worker keeps candles and decisions. */
export const RETENTION_DAYS = 90;

/** About a week of minutes: bounds what one read keeps in memory. */
const READ_LIMIT_MAX = 10_000;

export interface DecisionRecord {
  /** Counts the decisions of the pair from 1 on. No number is ever given twice. */
  readonly epoch: number;
  readonly ts: number;
  readonly decision: Decision;
  readonly reason: string;
}

/**
 * The SQLite file of one pair worker: the candles it saw and the decisions it took. It helps the worker to start
 * again where it was; orders and capital are in Postgres.
 */
export class PairStore {
  private constructor(
    private readonly database: DatabaseSync,
    private readonly clock: Clock,
  ) {}

  /** The folder must exist. */
  static open(path: string, { clock }: { clock: Clock }): PairStore {
    return new PairStore(openPairFile(path), clock);
  }

  /** All or none. A candle of a minute that is known already takes the place of the earlier one. */
  saveCandles(candles: readonly Candle[]): void {
    transaction(this.database, () => {
      const upsert = this.database.prepare(
        `insert into candles (ts, open, high, low, close, volume) values (?, ?, ?, ?, ?, ?)
         on conflict (ts) do update set
           open = excluded.open, high = excluded.high, low = excluded.low, close = excluded.close,
           volume = excluded.volume`,
      );
      for (const { ts, open, high, low, close, volume } of candles) {
        upsert.run(ts, open.toString(), high.toString(), low.toString(), close.toString(), volume.toString());
      }
    });
  }

  /** Candles that start at `from` or later and before `to`, oldest first; if there are more, the newest of them. */
  readCandles({ from, to, limit }: { from: number; to: number; limit: number }): Candle[] {
    assertLimit(limit);
    const rows = this.database
      .prepare(
        `select ts, open, high, low, close, volume from candles
         where ts >= ? and ts < ? order by ts desc limit ?`,
      )
      .all(from, to, limit) as unknown as CandleRow[];
    return rows.toReversed().map(toCandle);
  }

  recordDecision({ ts, decision, reason }: Omit<DecisionRecord, 'epoch'>): { epoch: number } {
    return transaction(this.database, () => {
      this.database.prepare('update epoch_counter set latest = latest + 1').run();
      const epoch = this.latestEpoch();
      this.database
        .prepare('insert into decisions (epoch, ts, decision, reason) values (?, ?, ?, ?)')
        .run(epoch, ts, decision, reason);
      return { epoch };
    });
  }

  /** 0 before the first decision. */
  latestEpoch(): number {
    const counter = this.database.prepare('select latest from epoch_counter').get() as { latest: number } | undefined;
    assert(counter, 'Invariant: the epoch counter has its one row');
    return counter.latest;
  }

  /** Newest first. */
  readDecisions({ limit }: { limit: number }): DecisionRecord[] {
    assertLimit(limit);
    const rows = this.database
      .prepare('select epoch, ts, decision, reason from decisions order by epoch desc limit ?')
      .all(limit) as unknown as DecisionRecord[];
    return rows.map(({ epoch, ts, decision, reason }) => ({ epoch, ts, decision, reason }));
  }

  /** Removes what lies further back than this, and says how much that was. */
  prune({ olderThanMs }: { olderThanMs: number }): { candles: number; decisions: number } {
    // A negative age would remove what is yet to come, NaN nothing at all.
    if (!(olderThanMs >= 0)) throw new RangeError(`Expected olderThanMs to be 0 or more, got ${olderThanMs}.`);
    const before = this.clock.now() - olderThanMs;
    return transaction(this.database, () => ({
      candles: Number(this.database.prepare('delete from candles where ts < ?').run(before).changes),
      decisions: Number(this.database.prepare('delete from decisions where ts < ?').run(before).changes),
    }));
  }

  /** May be called twice. */
  close(): void {
    if (this.database.isOpen) this.database.close();
  }
}

/** The tables are strict, so a row cannot hold anything else. */
type CandleRow = { ts: number } & Record<'open' | 'high' | 'low' | 'close' | 'volume', string>;

function toCandle({ ts, open, high, low, close, volume }: CandleRow): Candle {
  return {
    ts,
    open: Decimal.parse(open),
    high: Decimal.parse(high),
    low: Decimal.parse(low),
    close: Decimal.parse(close),
    volume: Decimal.parse(volume),
  };
}

/** SQLite takes a negative limit for none. */
function assertLimit(limit: number): void {
  if (Number.isInteger(limit) && limit >= 1 && limit <= READ_LIMIT_MAX) return;
  throw new RangeError(`Expected a limit between 1 and ${READ_LIMIT_MAX}, got ${limit}.`);
}
