import { Controller, Get, Param, Query, UseFilters } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { z } from 'zod';
import type { Decimal } from '#libs/money';
import { CANDLES_MAX, type Candle } from '../market/candles.js';
import { findInstrument, type Instrument } from '../market/instruments.js';
import { Venue } from '../venue.js';
import { WireErrorFilter } from '../wire-error.js';
import { invalidRequest } from './alpaca-error.js';
import { isoTime } from './order-json.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const UNITS_MS: Readonly<Record<string, number>> = {
  Min: MINUTE_MS,
  T: MINUTE_MS,
  Hour: HOUR_MS,
  H: HOUR_MS,
  Day: DAY_MS,
  D: DAY_MS,
  Week: 7 * DAY_MS,
  W: 7 * DAY_MS,
};

const BarsQuery = z.object({
  symbols: z.string().optional(),
  timeframe: z.string(),
  start: z.string().optional(),
  end: z.string().optional(),
  limit: z.coerce.number().int().min(1).default(CANDLES_MAX),
  page_token: z.string().optional(),
  sort: z.enum(['asc', 'desc']).default('asc'),
});

type Json = Record<string, unknown>;

/** Bars, quotes and trades of stocks and crypto, as the market data service serves them. Open to everybody. */
@ApiExcludeController()
@Controller('alpaca')
@UseFilters(WireErrorFilter)
export class AlpacaMarketDataController {
  constructor(private readonly venue: Venue) {}

  @Get(['v2/stocks/bars', 'v1beta3/crypto/:loc/bars'])
  bars(@Query() query: unknown): Json {
    const ask = parse(query);
    const pages = instrumentsOf(ask.symbols).map((instrument) => ({ instrument, ...this.page(instrument, ask) }));
    return {
      bars: Object.fromEntries(pages.map(({ instrument, bars }) => [instrument.names.alpaca, bars])),
      next_page_token: pages.find(({ next }) => next !== null)?.next ?? null,
    };
  }

  @Get('v2/stocks/:symbol/bars')
  barsOfOne(@Param('symbol') symbol: string, @Query() query: unknown): Json {
    const { bars, next } = this.page(getInstrument(symbol), parse(query));
    return { symbol, bars, next_page_token: next };
  }

  @Get(['v2/stocks/bars/latest', 'v1beta3/crypto/:loc/latest/bars'])
  latestBars(@Query('symbols') symbols?: string): Json {
    return { bars: this.each(symbols, (instrument) => this.latestBar(instrument)) };
  }

  @Get('v2/stocks/:symbol/bars/latest')
  latestBarOfOne(@Param('symbol') symbol: string): Json {
    return { symbol, bar: this.latestBar(getInstrument(symbol)) };
  }

  @Get(['v2/stocks/quotes/latest', 'v1beta3/crypto/:loc/latest/quotes'])
  latestQuotes(@Query('symbols') symbols?: string): Json {
    return { quotes: this.each(symbols, (instrument) => this.quote(instrument)) };
  }

  @Get('v2/stocks/:symbol/quotes/latest')
  latestQuoteOfOne(@Param('symbol') symbol: string): Json {
    return { symbol, quote: this.quote(getInstrument(symbol)) };
  }

  @Get(['v2/stocks/trades/latest', 'v1beta3/crypto/:loc/latest/trades'])
  latestTrades(@Query('symbols') symbols?: string): Json {
    return { trades: this.each(symbols, (instrument) => this.trade(instrument)) };
  }

  @Get('v2/stocks/:symbol/trades/latest')
  latestTradeOfOne(@Param('symbol') symbol: string): Json {
    return { symbol, trade: this.trade(getInstrument(symbol)) };
  }

  @Get('v1beta3/crypto/:loc/snapshots')
  snapshots(@Query('symbols') symbols?: string): Json {
    return {
      snapshots: this.each(symbols, (instrument) => ({
        latestTrade: this.trade(instrument),
        latestQuote: this.quote(instrument),
        minuteBar: this.latestBar(instrument),
      })),
    };
  }

  private each(symbols: string | undefined, answer: (instrument: Instrument) => Json): Json {
    return Object.fromEntries(
      instrumentsOf(symbols).map((instrument) => [instrument.names.alpaca, answer(instrument)]),
    );
  }

  /** A page ends where its limit does; its token is the time to go on from. */
  private page(instrument: Instrument, ask: z.infer<typeof BarsQuery>): { bars: Json[]; next: string | null } {
    const intervalMs = intervalOf(ask.timeframe);
    const now = this.venue.parts.clock.now();
    const end = ask.end === undefined ? now : timeOf(ask.end);
    const start = ask.start === undefined ? Math.floor(end / DAY_MS) * DAY_MS : timeOf(ask.start);
    const limit = Math.min(ask.limit, CANDLES_MAX);
    const isForward = ask.sort === 'asc';
    const token = ask.page_token === undefined ? undefined : timeOf(ask.page_token);
    const from = isForward ? (token ?? start) : Math.max(start, ((token ?? end) / intervalMs - limit) * intervalMs);
    const to = isForward ? end + 1 : (token ?? end + 1);
    const candles = this.venue.parts.market.candles(instrument, { from, to, intervalMs, now, limit });
    const last = candles.at(isForward ? -1 : 0);
    const rest = isForward ? (last ? last.ts + intervalMs : end + 1) : (last?.ts ?? start);
    const hasMore = candles.length === limit && (isForward ? rest <= end : rest > start);
    const bars = candles.map(barJson);
    return { bars: isForward ? bars : bars.reverse(), next: hasMore ? isoTime(rest) : null };
  }

  private latestBar(instrument: Instrument): Json {
    const now = this.venue.parts.clock.now();
    const from = Math.floor(now / MINUTE_MS) * MINUTE_MS;
    const ask = { from, to: from + 1, intervalMs: MINUTE_MS, now, limit: 1 };
    const [candle] = this.venue.parts.market.candles(instrument, ask);
    return candle ? barJson(candle) : {};
  }

  private quote(instrument: Instrument): Json {
    const now = this.venue.parts.clock.now();
    const levels = this.venue.parts.market.liquidity(instrument, now);
    const [bid, ask] = [levels.against('sell')[0], levels.against('buy')[0]];
    const places = instrument.kind === 'stock' && { ax: 'V', bx: 'V', c: ['R'], z: 'C' };
    return {
      t: isoTime(now),
      bp: numberOf(bid?.price),
      bs: numberOf(bid?.quantity),
      ap: numberOf(ask?.price),
      as: numberOf(ask?.quantity),
      ...places,
    };
  }

  private trade(instrument: Instrument): Json {
    const trade = this.venue.parts.market.tradeAt(instrument, this.venue.parts.clock.now());
    const place = instrument.kind === 'stock' && { x: 'V', c: ['@'], z: 'C' };
    return {
      t: isoTime(trade.at),
      p: numberOf(trade.price),
      s: numberOf(trade.quantity),
      i: trade.id,
      tks: trade.isBuyerMaker ? 'S' : 'B',
      ...place,
    };
  }
}

function barJson({ ts, open, high, low, close, volume }: Candle): Json {
  return {
    t: isoTime(ts),
    o: numberOf(open),
    h: numberOf(high),
    l: numberOf(low),
    c: numberOf(close),
    v: numberOf(volume),
    n: 60,
    vw: numberOf(close),
  };
}

/** Market data are numbers on this wire, unlike amounts of orders. */
function numberOf(value: Decimal | undefined): number {
  return value === undefined ? 0 : Number(value.toString());
}

function parse(query: unknown): z.infer<typeof BarsQuery> {
  const parsed = BarsQuery.safeParse(query);
  if (!parsed.success) throw invalidRequest(`invalid ${parsed.error.issues[0]?.path.join('.') ?? 'query'}`);
  return parsed.data;
}

function intervalOf(timeframe: string): number {
  const [, count = '', unit = ''] = /^(\d{1,2})([A-Za-z]+)$/.exec(timeframe) ?? [];
  const unitMs = UNITS_MS[unit];
  if (unitMs === undefined || count === '0') throw invalidRequest(`invalid timeframe: ${timeframe}`);
  return Number(count) * unitMs;
}

function timeOf(text: string): number {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw invalidRequest(`invalid time: ${text}`);
  return ms;
}

function instrumentsOf(symbols: string | undefined): Instrument[] {
  if (!symbols) throw invalidRequest('symbols is required');
  return symbols.split(',').map(getInstrument);
}

function getInstrument(symbol: string): Instrument {
  const instrument = findInstrument('alpaca', symbol);
  if (!instrument) throw invalidRequest(`invalid symbol: ${symbol}`);
  return instrument;
}
