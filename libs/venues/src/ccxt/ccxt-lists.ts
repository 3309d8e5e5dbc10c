import type { Exchange } from 'ccxt';
import { z } from 'zod';
import { isTerminal, type Candle, type Fill, type Order } from '../order.js';
import { readAllByTime } from '../paging.js';
import { UnreadableAnswer } from '../venue-error.js';
import type { CandlesRequest, FillPage, FillsRequest } from '../venue.js';
import { readAs } from '../wire-value.js';
import { WireCandle, WireFill, WireOrder } from './ccxt-wire.js';
import type { CcxtVerb, Dialect } from './dialect.js';

const PAGE_SIZE = 1_000;
const CANDLES_PAGE_SIZE = 1_000;
const PAGES_MAX = 2_000;
/** After a quiet time the cursor stays this far behind, for fills that show late. */
const CURSOR_OVERLAP_MS = 60_000;
/** A list as long as a page of some exchange may have been cut there. */
const USUAL_PAGE_SIZES = new Set([20, 30, 50, 100, 200, 250, 300, 500, 1000]);
const TIMEFRAMES: Record<CandlesRequest['intervalMin'], string> = {
  1: '1m',
  5: '5m',
  15: '15m',
  60: '1h',
  240: '4h',
  1440: '1d',
};

/** One request of a list: takes its place in the budget, and throws when it fails. */
export type Request = (verb: CcxtVerb, attempt: () => Promise<unknown>) => Promise<unknown>;

export interface ListParts {
  readonly exchange: Exchange;
  readonly dialect: Dialect;
  readonly request: Request;
  /** The venue's time. */
  readonly now: Date;
}

export async function listOpenOrders({ exchange, dialect, request }: ListParts): Promise<Order[]> {
  const orders = readAs(z.array(WireOrder), await request('openOrders', () => exchange.fetchOpenOrders()));
  if (!dialect.hasWholeOpenOrders && USUAL_PAGE_SIZES.has(orders.length)) {
    throw new UnreadableAnswer(`${orders.length} open orders may be one page of more`);
  }
  return orders;
}

export async function listClosedOrders(
  parts: ListParts,
  { since, symbols }: { since: Date; symbols: readonly string[] },
): Promise<Order[]> {
  const { exchange, request } = parts;
  const lists = [];
  for (const symbol of symbols) {
    lists.push(
      await readWindows(parts, since, {
        idOf: (order: Order) => order.venueOrderId,
        timeOf: (order: Order) => order.createdAt,
        fetch: async (from, until) => {
          const page = (): Promise<unknown> => exchange.fetchOrders(symbol, from, PAGE_SIZE, { until });
          return readAs(z.array(WireOrder), await request('closedOrders', page));
        },
      }),
    );
  }
  return lists.flat().filter(isTerminal);
}

/** Each symbol is read on from where it was left; the cursor holds them all. */
export async function listFills(parts: ListParts, wanted: FillsRequest): Promise<FillPage> {
  const places = 'cursor' in wanted.start ? readAs(Cursor, parseCursor(wanted.start.cursor)) : {};
  const since = 'since' in wanted.start ? wanted.start.since.getTime() : 0;
  const fills: Fill[] = [];
  const next: Record<string, Place> = {};
  for (const symbol of wanted.symbols) {
    const place = places[symbol] ?? { since };
    const read =
      'id' in place ? await fillsAfterId(parts, symbol, place.id) : await fillsSince(parts, symbol, place.since);
    const last = read.at(-1);
    fills.push(...read);
    next[symbol] = nextPlace(parts, place, last);
  }
  return {
    fills: fills.toSorted((a, b) => a.happenedAt.getTime() - b.happenedAt.getTime()),
    cursor: JSON.stringify(next),
  };
}

export async function listCandles({ exchange, request }: ListParts, wanted: CandlesRequest): Promise<Candle[]> {
  const { symbol, intervalMin, countMax } = wanted;
  const candles: Candle[] = [];
  let from = wanted.since.getTime();
  for (let page = 0; page < PAGES_MAX && candles.length < countMax; page += 1) {
    const limit = Math.min(countMax - candles.length, CANDLES_PAGE_SIZE);
    const start = from;
    const ask = (): Promise<unknown> => exchange.fetchOHLCV(symbol, TIMEFRAMES[intervalMin], start, limit);
    const read = readAs(z.array(WireCandle), await request('candles', ask));
    candles.push(...read);
    const last = read.at(-1);
    if (!last || read.length < limit) break;
    from = last.openedAt.getTime() + intervalMin * 60_000;
  }
  return candles;
}

async function fillsSince(parts: ListParts, symbol: string, since: number): Promise<Fill[]> {
  const { exchange, request } = parts;
  return readWindows(parts, new Date(since), {
    idOf: (fill: Fill) => fill.fillId,
    timeOf: (fill: Fill) => fill.happenedAt,
    fetch: async (from, until) => {
      const page = (): Promise<unknown> => exchange.fetchMyTrades(symbol, from, PAGE_SIZE, { until });
      return readAs(z.array(WireFill), await request('fills', page));
    },
  });
}

async function fillsAfterId({ exchange, request }: ListParts, symbol: string, after: string): Promise<Fill[]> {
  const fills: Fill[] = [];
  let last = after;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const fromId = String(BigInt(last) + 1n);
    const ask = (): Promise<unknown> => exchange.fetchMyTrades(symbol, undefined, PAGE_SIZE, { fromId });
    const read = readAs(z.array(WireFill), await request('fills', ask));
    fills.push(...read);
    last = read.at(-1)?.fillId ?? last;
    if (read.length < PAGE_SIZE) return fills;
  }
  throw new UnreadableAnswer(`a list of more than ${PAGES_MAX} pages`);
}

interface Windows<T> {
  readonly idOf: (item: T) => string;
  readonly timeOf: (item: T) => Date;
  readonly fetch: (from: number, until: number) => Promise<readonly T[]>;
}

/** The exchange answers for a bounded time only, so a longer one is asked for in parts. */
async function readWindows<T>({ dialect, now }: ListParts, since: Date, windows: Windows<T>): Promise<T[]> {
  const items = new Map<string, T>();
  // What happens while we read lies after now by our reckoning; the last part therefore stays open a little.
  const end = now.getTime() + CURSOR_OVERLAP_MS;
  for (let from = since.getTime(); from <= end; from += dialect.windowMs) {
    const until = Math.min(from + dialect.windowMs - 1, end);
    const read = await readAllByTime<T>(new Date(from), {
      pageSize: PAGE_SIZE,
      idOf: windows.idOf,
      timeOf: windows.timeOf,
      fetch: (start) => windows.fetch(start.getTime(), until),
    });
    for (const item of read) items.set(windows.idOf(item), item);
  }
  return [...items.values()];
}

const Place = z.union([z.object({ id: z.string().regex(/^\d+$/) }), z.object({ since: z.number() })]);
type Place = z.infer<typeof Place>;
const Cursor = z.record(z.string(), Place);

function nextPlace({ dialect, now }: ListParts, place: Place, last: Fill | undefined): Place {
  if (last && dialect.hasFillIds) return { id: last.fillId };
  if (last) return { since: last.happenedAt.getTime() };
  return 'id' in place ? place : { since: Math.max(place.since, now.getTime() - CURSOR_OVERLAP_MS) };
}

function parseCursor(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new RangeError(`Expected a cursor that this venue gave, got ${text.slice(0, 80)}.`);
  }
}
