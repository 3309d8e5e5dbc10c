import { SystemClock } from '#libs/clock';
import { ask, type Prepared } from './prepared.js';
import { sqlStateOf } from './sqlstate.js';
import type { Tx } from './tx.js';

/** One function, or one look-up, that many callers of a process ask at the same moment, each with values of its own. */
export interface GatheredStatement {
  readonly name: string;
  /** Of the values. The first value says whose rows a call touches: the id of a profile. */
  readonly types: readonly string[];
  /** What is asked for each call, in terms of its values a.v1, a.v2, …: at most one row. */
  readonly from: string;
}

type Value = string | number | boolean | null;
type Send = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;

interface Waiting {
  readonly values: readonly Value[];
  readonly resolve: (row: object) => void;
  readonly reject: (error: unknown) => void;
}

interface UnderWay {
  readonly answered: AbortController;
  awaited?: Promise<void>;
}

const BATCH_SIZE_MAX = 100;
/** A batch that takes longer waits for somebody's lock; who came after it does not. */
const PATIENCE_MS = 20;

/**
 * The calls of one statement in a process. One that finds none under way is sent at once; those that come meanwhile
 * gather, and travel as one statement and one transaction. So a single caller waits for nobody, and a hundred pay for one
 * round trip and one flush of the log.
 *
 * A batch has at most one call of each profile, in the order of their ids, so that batches take locks in one order. What
 * Postgres refused as a whole was undone as a whole: then each call is sent alone, and has an answer of its own.
 */
export class GatheredCalls {
  private readonly clock = new SystemClock();
  private waiting: Waiting[] = [];
  /** The batch that others wait for. */
  private underWay: UnderWay | undefined;
  private readonly one: Prepared;
  private readonly many: Prepared;

  constructor(
    { name, types, from }: GatheredStatement,
    private readonly send: Send,
  ) {
    const columns = types.map((_, index) => `v${index + 1}`).join(', ');
    const values = types.map((type, index) => `$${index + 1}::${type}`).join(', ');
    const arrays = types.map((type, index) => `$${index + 1}::${type}[]`).join(', ');
    this.one = { name, text: `select f.* from (values (${values})) a(${columns}) left join lateral ${from} f on true` };
    this.many = {
      name: `${name}, many`,
      text: `select f.*, a.call_number from unnest(${arrays}) with ordinality a(${columns}, call_number)
        left join lateral ${from} f on true`,
    };
  }

  /** A row of nulls where there is none. */
  ask(values: readonly Value[]): Promise<object> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ values, resolve, reject });
      this.sendWaiting();
    });
  }

  private sendWaiting(): void {
    if (this.waiting.length === 0) return;
    if (this.underWay) {
      this.underWay.awaited ??= this.runOutOfPatience(this.underWay);
      return;
    }
    const batch: UnderWay = { answered: new AbortController() };
    this.underWay = batch;
    void this.settle(this.takeBatch()).then(() => {
      batch.answered.abort();
      this.goOnAfter(batch);
    });
  }

  private async runOutOfPatience(batch: UnderWay): Promise<void> {
    await this.clock.sleep(PATIENCE_MS, batch.answered.signal);
    this.goOnAfter(batch);
  }

  private goOnAfter(batch: UnderWay): void {
    if (this.underWay !== batch) return;
    this.underWay = undefined;
    this.sendWaiting();
  }

  /** Whoever has waited longest comes first. */
  private takeBatch(): Waiting[] {
    const batch = new Map<string, Waiting>();
    const left: Waiting[] = [];
    for (const call of this.waiting) {
      const profile = String(call.values[0]).toLowerCase();
      if (batch.size < BATCH_SIZE_MAX && !batch.has(profile)) batch.set(profile, call);
      else left.push(call);
    }
    this.waiting = left;
    return [...batch].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, call]) => call);
  }

  private async settle(batch: readonly Waiting[]): Promise<void> {
    try {
      const rows = await this.askTogether(batch);
      for (const [index, { resolve }] of batch.entries()) resolve(rows[index] as object);
    } catch (error) {
      if (batch.length > 1 && isUndone(error)) {
        await Promise.all(batch.map((call) => this.settle([call])));
      } else {
        for (const { reject } of batch) reject(error);
      }
    }
  }

  private async askTogether(batch: readonly Waiting[]): Promise<object[]> {
    const [first] = batch;
    const [statement, values] = first && batch.length === 1 ? [this.one, first.values] : [this.many, columnsOf(batch)];
    const rows = await this.send((tx) => ask<{ call_number?: string }>(tx, statement, values));
    if (rows.length !== batch.length) {
      throw new Error(`Invariant: ${batch.length} calls of ${statement.name} get a row each, got ${rows.length}.`);
    }
    return rows.toSorted((a, b) => Number(a.call_number) - Number(b.call_number));
  }
}

function columnsOf(batch: readonly Waiting[]): Value[][] {
  const [first] = batch;
  return (first?.values ?? []).map((_, index) => batch.map(({ values }) => values[index] ?? null));
}

/** Whether it is certain that nothing of it was kept: Postgres itself said no, and not on its way out. */
function isUndone(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state !== undefined && !/^(08|57P)/.test(state);
}
