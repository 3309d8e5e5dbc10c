import { z } from 'zod';
import type { Candle, Fill, Order } from '../order.js';
import { readAllByTime } from '../paging.js';
import type { CandlesRequest, FillPage, FillsRequest } from '../venue.js';
import { UnreadableAnswer } from '../venue-error.js';
import { readAs } from '../wire-value.js';
import { bodyOf, under, type AlpacaClient } from './alpaca-client.js';
import { isCrypto, WireActivity, WireBars, WireListedOrder } from './alpaca-wire.js';

const ORDERS_PAGE_SIZE = 500;
const ACTIVITIES_PAGE_SIZE = 100;
const BARS_PAGE_SIZE = 10_000;
const PAGES_MAX = 2_000;
const MINUTES: Record<CandlesRequest['intervalMin'], string> = {
  1: '1Min',
  5: '5Min',
  15: '15Min',
  60: '1Hour',
  240: '4Hour',
  1440: '1Day',
};

/** One request of a list: takes its place in the budget, and throws when it fails. */
export type Request = <T>(attempt: (signal: AbortSignal) => Promise<T>) => Promise<T>;

export async function listOrders(
  client: AlpacaClient,
  request: Request,
  filter: { status: 'open' | 'closed'; since: Date; symbols?: readonly string[] },
): Promise<Order[]> {
  const listed = await readAllByTime<z.output<typeof WireListedOrder>>(filter.since, {
    pageSize: ORDERS_PAGE_SIZE,
    idOf: ({ order }) => order.venueOrderId,
    timeOf: ({ submittedAt }) => submittedAt,
    fetch: (from) =>
      request(async (signal) => {
        const query = {
          status: filter.status,
          limit: ORDERS_PAGE_SIZE,
          direction: 'asc' as const,
          // What was submitted at this very instant is left out by the venue, and times are finer than ours.
          after: new Date(from.getTime() - 1).toISOString(),
          ...(filter.symbols && { symbols: filter.symbols.join(',') }),
        };
        return readAs(z.array(WireListedOrder), await bodyOf(client.orders.getAllOrdersRaw(query, under(signal))));
      }),
  });
  return listed.map(({ order }) => order);
}

/** Follows the ids of the activities, which are in the order of time, to the last page. */
export async function listFills(client: AlpacaClient, request: Request, wanted: FillsRequest): Promise<FillPage> {
  let cursor = 'cursor' in wanted.start ? parseCursor(wanted.start.cursor) : { since: wanted.start.since };
  const fills: Fill[] = [];
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const activities = await request(async (signal) => {
      const query = {
        activityType: 'FILL',
        direction: 'asc' as const,
        pageSize: ACTIVITIES_PAGE_SIZE,
        ...('id' in cursor ? { pageToken: cursor.id } : { after: cursor.since }),
      };
      const answer = client.activities.getAccountActivitiesByActivityTypeRaw(query, under(signal));
      return readAs(z.array(WireActivity), await bodyOf(answer));
    });
    fills.push(...activities.map(({ fill }) => fill).filter(({ symbol }) => wanted.symbols.includes(symbol)));
    const last = activities.at(-1);
    if (last) cursor = { id: last.activityId };
    if (activities.length < ACTIVITIES_PAGE_SIZE) return { fills, cursor: formatCursor(cursor) };
  }
  throw new UnreadableAnswer(`a list of more than ${PAGES_MAX} pages`);
}

export async function listCandles(client: AlpacaClient, request: Request, wanted: CandlesRequest): Promise<Candle[]> {
  const { symbol, intervalMin, since, countMax } = wanted;
  const candles: Candle[] = [];
  let pageToken: string | undefined;
  for (let page = 0; page < PAGES_MAX && candles.length < countMax; page += 1) {
    const { bars, next_page_token: next } = await request(async (signal) => {
      const query = {
        symbols: symbol,
        timeframe: MINUTES[intervalMin],
        start: since,
        limit: Math.min(countMax, BARS_PAGE_SIZE),
        sort: 'asc' as const,
        ...(pageToken !== undefined && { pageToken }),
      };
      const answer = isCrypto(symbol)
        ? client.crypto.cryptoBarsRaw({ ...query, loc: 'us' }, under(signal))
        : client.stocks.stockBarsRaw(query, under(signal));
      return readAs(WireBars, await bodyOf(answer));
    });
    candles.push(...(bars?.[symbol] ?? []));
    if (next == null) break;
    pageToken = next;
  }
  return candles.slice(0, countMax);
}

type Cursor = { readonly id: string } | { readonly since: Date };

function formatCursor(cursor: Cursor): string {
  return 'id' in cursor ? `id ${cursor.id}` : `since ${cursor.since.toISOString()}`;
}

function parseCursor(text: string): Cursor {
  const [kind, value] = text.split(' ');
  if (kind === 'id' && value) return { id: value };
  if (kind === 'since' && value) return { since: new Date(value) };
  throw new RangeError(`Expected a cursor that this venue gave, got ${text.slice(0, 80)}.`);
}
