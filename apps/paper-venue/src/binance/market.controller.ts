import { Controller, Get, UseFilters } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { INSTRUMENTS, type Instrument } from '../market/instruments.js';
import { Venue } from '../venue.js';
import { WireErrorFilter } from '../wire-error.js';
import { invalidParameter } from './binance-error.js';
import {
  bookTickerJson,
  dayTickerJson,
  depthJson,
  exchangeJson,
  INTERVALS_MS,
  klineJson,
  tradeJson,
} from './market-json.js';
import { BinanceParameters, Parameters } from './parameters.js';

const TRADED = INSTRUMENTS.filter(({ names }) => names.binance !== undefined);
const LIST_DEFAULT = 500;
const LIST_MAX = 1_000;
const SECOND_MS = 1_000;

type Json = Record<string, unknown>;

@ApiExcludeController()
@Controller('binance/api/v3')
@UseFilters(WireErrorFilter)
export class BinanceMarketController {
  constructor(private readonly venue: Venue) {}

  @Get('ping')
  ping(): Json {
    return {};
  }

  @Get('time')
  time(): Json {
    return { serverTime: this.venue.parts.clock.now() };
  }

  @Get('exchangeInfo')
  exchangeInfo(@BinanceParameters() parameters: Parameters): Json {
    const instrument = parameters.findInstrument();
    return exchangeJson(instrument ? [instrument] : TRADED, this.venue.parts.clock.now());
  }

  @Get('klines')
  klines(@BinanceParameters() parameters: Parameters): unknown[][] {
    const instrument = parameters.getInstrument();
    const intervalMs = INTERVALS_MS.get(parameters.get('interval'));
    if (intervalMs === undefined) throw invalidParameter(-1120, 'Invalid interval.');
    const now = this.venue.parts.clock.now();
    const limit = Math.min(parameters.findInteger('limit') ?? LIST_DEFAULT, LIST_MAX);
    const to = parameters.findInteger('endTime') ?? now;
    const start = parameters.findInteger('startTime');
    // Without a start they are the newest up to the end.
    const from = start ?? (Math.floor(to / intervalMs) - limit + 1) * intervalMs;
    const candles = this.venue.parts.market.candles(instrument, { from, to: to + 1, intervalMs, now, limit });
    return candles.map((candle) => klineJson(candle, intervalMs));
  }

  @Get('ticker/24hr')
  dayTicker(@BinanceParameters() parameters: Parameters): Json | Json[] {
    return this.forSymbols(parameters, (instrument) => dayTickerJson(this.venue, instrument));
  }

  @Get('ticker/price')
  price(@BinanceParameters() parameters: Parameters): Json | Json[] {
    return this.forSymbols(parameters, (instrument) => ({
      symbol: instrument.names.binance,
      price: this.venue.quote(instrument).last.toString(),
    }));
  }

  @Get('ticker/bookTicker')
  bookTicker(@BinanceParameters() parameters: Parameters): Json | Json[] {
    return this.forSymbols(parameters, (instrument) => bookTickerJson(this.venue, instrument));
  }

  @Get('depth')
  depth(@BinanceParameters() parameters: Parameters): Json {
    return depthJson(this.venue, parameters.getInstrument(), parameters.findInteger('limit') ?? 100);
  }

  @Get('trades')
  trades(@BinanceParameters() parameters: Parameters): Json[] {
    const instrument = parameters.getInstrument();
    const limit = Math.min(parameters.findInteger('limit') ?? LIST_DEFAULT, LIST_MAX);
    const now = this.venue.parts.clock.now();
    return Array.from({ length: limit }, (_, index) => {
      const at = now - (limit - 1 - index) * SECOND_MS;
      return tradeJson(this.venue.parts.market.tradeAt(instrument, at));
    });
  }

  private forSymbols(parameters: Parameters, answer: (instrument: Instrument) => Json): Json | Json[] {
    const instrument = parameters.findInstrument();
    return instrument ? answer(instrument) : TRADED.map(answer);
  }
}
