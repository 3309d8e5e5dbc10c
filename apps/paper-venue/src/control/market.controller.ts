import {
  BadRequestException,
  Body,
  Controller,
  Delete,
  HttpCode,
  NotFoundException,
  Param,
  Post,
  UseGuards,
} from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { z } from 'zod';
import { findInstrumentByAnyName, INSTRUMENTS, type Instrument } from '../market/instruments.js';
import { Venue } from '../venue.js';
import { NotNegative, Positive } from './amount.js';
import { LoopbackGuard } from './loopback.guard.js';

const Symbol = z.string().meta({ description: 'in any protocol: BTC/USD, BTCUSDT, BTC-USD, AAPL' });

const PriceBody = z
  .strictObject({
    symbol: Symbol,
    bid: Positive,
    ask: Positive,
    bidSize: Positive.optional().meta({ description: 'all there is to sell into; plenty when left out' }),
    askSize: Positive.optional().meta({ description: 'all there is to buy from; plenty when left out' }),
  })
  .refine(({ bid, ask }) => bid.compare(ask) <= 0, { path: ['bid'], message: 'Expected a bid of at most the ask.' });

const ModeBody = z.strictObject({ fills: z.enum(['auto', 'manual']) });
const FeesBody = z.strictObject({ makerBps: NotNegative, takerBps: NotNegative });
const BalanceBody = z.strictObject({ asset: z.string(), free: NotNegative });

@ApiTags('market')
@Controller('paper')
@UseGuards(LoopbackGuard)
export class PaperMarketController {
  constructor(private readonly venue: Venue) {}

  @Post('prices')
  @HttpCode(200)
  @ApiOperation({ summary: 'Sets the price of a symbol and keeps it there' })
  async setPrice(@Body({ schema: PriceBody }) body: z.infer<typeof PriceBody>): Promise<object> {
    const { symbol, ...pin } = body;
    await this.venue.pin(getInstrument(symbol), pin);
    return { symbol, ...pin };
  }

  @Delete('prices/:symbol')
  @HttpCode(204)
  @ApiOperation({ summary: 'Lets the price of a symbol walk again' })
  async releasePrice(@Param('symbol') symbol: string): Promise<void> {
    await this.venue.pin(getInstrument(symbol), undefined);
  }

  @Post('mode')
  @HttpCode(200)
  @ApiOperation({
    summary: 'manual: no order is filled but by POST /paper/orders/:id/fill; auto: the market fills them',
  })
  async setMode(@Body({ schema: ModeBody }) body: z.infer<typeof ModeBody>): Promise<object> {
    await this.venue.setMode(body.fills === 'auto');
    return body;
  }

  @Post('fees')
  @HttpCode(200)
  @ApiOperation({ summary: 'Sets the fees of both protocols, in basis points of what a fill brings in' })
  async setFees(@Body({ schema: FeesBody }) body: z.infer<typeof FeesBody>): Promise<object> {
    await this.venue.setFees({ alpaca: body, binance: body });
    return body;
  }

  @Post('balances')
  @HttpCode(200)
  @ApiOperation({ summary: 'Sets what is free of an asset' })
  async setBalance(@Body({ schema: BalanceBody }) body: z.infer<typeof BalanceBody>): Promise<object> {
    const asset = body.asset === 'USDT' ? 'USD' : body.asset;
    if (asset !== 'USD' && !INSTRUMENTS.some(({ base }) => base === asset)) {
      throw new BadRequestException(`This venue does not know the asset "${asset}"; take USD or what it trades.`);
    }
    await this.venue.setFree(asset, body.free);
    return { asset, free: body.free };
  }
}

function getInstrument(symbol: string): Instrument {
  const instrument = findInstrumentByAnyName(symbol);
  if (instrument) return instrument;
  const known = INSTRUMENTS.map(({ names }) => names.alpaca).join(', ');
  throw new NotFoundException(`This venue does not trade "${symbol}". It trades ${known}.`);
}
