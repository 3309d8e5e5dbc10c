import { randomUUID } from 'node:crypto';
import { Controller, Delete, Get, Param, Query, UseFilters, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { findInstrument, INSTRUMENTS } from '../market/instruments.js';
import { Venue } from '../venue.js';
import { WireErrorFilter } from '../wire-error.js';
import { accountJson, assetJson, holdingsOf, positionJson } from './account-json.js';
import { alpacaError, refused } from './alpaca-error.js';
import { AlpacaGuard } from './alpaca.guard.js';
import { assetClass, isoTime, orderJson } from './order-json.js';

const DAY_MS = 86_400_000;

type Json = Record<string, unknown>;

@ApiExcludeController()
@Controller('alpaca/v2')
@UseGuards(AlpacaGuard)
@UseFilters(WireErrorFilter)
export class AlpacaAccountController {
  constructor(private readonly venue: Venue) {}

  @Get('account')
  async account(): Promise<Json> {
    await this.venue.parts.commit.settled();
    return accountJson(this.venue);
  }

  @Get('positions')
  async positions(): Promise<Json[]> {
    await this.venue.parts.commit.settled();
    return holdingsOf(this.venue).map((holding) => positionJson(holding, this.venue));
  }

  @Get('positions/:symbol')
  async position(@Param('symbol') symbol: string): Promise<Json> {
    await this.venue.parts.commit.settled();
    return positionJson(this.getHolding(symbol), this.venue);
  }

  /** Sells what is free of it at the market. */
  @Delete('positions/:symbol')
  async closePosition(@Param('symbol') symbol: string): Promise<Json> {
    const { instrument, balance } = this.getHolding(symbol);
    const request = {
      protocol: 'alpaca',
      clientOrderId: randomUUID(),
      instrument,
      side: 'sell',
      type: 'market',
      timeInForce: 'gtc',
      quantity: balance.free,
    } as const;
    const submitted = await this.venue.submit(request);
    if ('refusal' in submitted) throw refused(submitted.refusal, request);
    return orderJson(submitted.order, this.venue.parts.identifiers);
  }

  @Get('assets')
  assets(@Query('asset_class') wanted?: string): Json[] {
    return INSTRUMENTS.filter((instrument) => wanted === undefined || assetClass(instrument) === wanted).map(
      (instrument) => assetJson(instrument, this.venue),
    );
  }

  @Get('assets/:symbol')
  asset(@Param('symbol') symbol: string): Json {
    const instrument = findInstrument('alpaca', symbol);
    if (!instrument) throw alpacaError(404, { code: 40410000, message: `asset not found for ${symbol}` });
    return assetJson(instrument, this.venue);
  }

  /** This market never closes; only day orders notice when one day becomes the next. */
  @Get('clock')
  clock(): Json {
    const now = this.venue.parts.clock.now();
    const midnight = isoTime((Math.floor(now / DAY_MS) + 1) * DAY_MS);
    return {
      timestamp: isoTime(now).replace('Z', '+00:00'),
      is_open: true,
      next_open: midnight,
      next_close: midnight,
    };
  }

  private getHolding(symbol: string): ReturnType<typeof holdingsOf>[number] {
    const instrument = findInstrument('alpaca', symbol);
    const holding = holdingsOf(this.venue).find((candidate) => candidate.instrument === instrument);
    if (!holding) throw alpacaError(404, { code: 40410000, message: 'position does not exist' });
    return holding;
  }
}
