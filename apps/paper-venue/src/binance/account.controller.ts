import { Controller, Get, UseFilters, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { assetIn } from '../market/instruments.js';
import { Venue } from '../venue.js';
import { WireErrorFilter } from '../wire-error.js';
import { amount } from './order-json.js';
import { SignedGuard } from './signed.guard.js';

@ApiExcludeController()
@Controller('binance/api/v3')
@UseGuards(SignedGuard)
@UseFilters(WireErrorFilter)
export class BinanceAccountController {
  constructor(private readonly venue: Venue) {}

  @Get('account')
  async account(): Promise<Record<string, unknown>> {
    const { engine, clock, commit } = this.venue.parts;
    await commit.settled();
    return {
      makerCommission: 10,
      takerCommission: 10,
      buyerCommission: 0,
      sellerCommission: 0,
      canTrade: true,
      canWithdraw: false,
      canDeposit: false,
      brokered: false,
      requireSelfTradePrevention: false,
      preventSor: false,
      updateTime: clock.now(),
      accountType: 'SPOT',
      balances: engine.balances.entries().map(([asset, { free, locked }]) => ({
        asset: assetIn('binance', asset),
        free: amount(free),
        locked: amount(locked),
      })),
      permissions: ['SPOT'],
      uid: 1,
    };
  }
}
