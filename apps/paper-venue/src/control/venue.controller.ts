import { Body, Controller, HttpCode, Post, UseGuards } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { z } from 'zod';
import { LimitsBody, RequestLimits } from '../limits/request-limits.js';
import { Sockets } from '../sockets/sockets.js';
import { Venue } from '../venue.js';
import { VenueClock } from '../venue-clock.js';
import { LoopbackGuard } from './loopback.guard.js';

const DAY_MS = 86_400_000;

const ClockBody = z.strictObject({ skewMs: z.number().int().min(-DAY_MS).max(DAY_MS) });
const PurgeBody = z.strictObject({ olderThanMs: z.number().int().min(0) });

@ApiTags('venue')
@Controller('paper')
@UseGuards(LoopbackGuard)
export class PaperVenueController {
  constructor(
    private readonly venue: Venue,
    private readonly clock: VenueClock,
    private readonly limits: RequestLimits,
    private readonly sockets: Sockets,
  ) {}

  @Post('clock')
  @HttpCode(200)
  @ApiOperation({ summary: "Puts the venue's clock ahead of this machine's, or behind it" })
  setClock(@Body({ schema: ClockBody }) body: z.infer<typeof ClockBody>): { skewMs: number; serverTime: number } {
    this.clock.skewMs = body.skewMs;
    return { skewMs: body.skewMs, serverTime: this.clock.now() };
  }

  @Post('purge')
  @HttpCode(200)
  @ApiOperation({ summary: 'Makes the venue forget the orders that ended longer ago than this' })
  async purge(@Body({ schema: PurgeBody }) body: z.infer<typeof PurgeBody>): Promise<{ purged: number }> {
    return { purged: await this.venue.purge(body.olderThanMs) };
  }

  @Post('limits')
  @HttpCode(200)
  @ApiOperation({ summary: 'Sets how much each protocol allows; what is left out stays, and all counts begin anew' })
  setLimits(@Body({ schema: LimitsBody }) body: z.infer<typeof LimitsBody>): object {
    return this.limits.change(body);
  }

  @Post('streams/cut')
  @HttpCode(200)
  @ApiOperation({ summary: 'Cuts every open stream' })
  cutStreams(): { cut: number } {
    return { cut: this.sockets.cutAll() };
  }
}
