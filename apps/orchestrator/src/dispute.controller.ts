import { Body, Controller, HttpCode, Param, Post } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { z } from 'zod';
import { Database } from '#libs/database';
import { CallerOf, Refusal } from '#libs/http';
import type { Settlement } from '#libs/lifecycle';
import { actorOf, asPrincipal, type Principal } from '#libs/tenancy';
import { ApiProblems } from './api-problems.js';
import { LifecycleKeeper } from './lifecycle-keeper.js';
import { readableReason } from './readable-reason.js';
import { TradeAnswer, tradeAnswer } from './trade-answer.js';
import { assertAdmin, getTrade, PROBLEMS_OF_DECISIONS, PROBLEMS_OF_TRADES } from './trade-problems.js';

const SettleBody = z.strictObject({ reason: readableReason('what was sold twice was bought back at the venue') });

@ApiTags('trades')
@ApiBearerAuth()
@Controller('api/profiles/:id/trades/:tradeId/settle')
export class DisputeController {
  constructor(
    private readonly database: Database,
    private readonly keeper: LifecycleKeeper,
  ) {}

  @Post()
  @HttpCode(200)
  @ApiOperation({
    summary: 'Ends the dispute of a trade that somebody has looked at',
    description:
      'For admins. The trade goes on as what its orders and fills say: working, open or ended. The halt of its symbol stays until it is lifted.',
  })
  @ApiOkResponse({ standardSchema: TradeAnswer })
  @ApiProblems({
    ...PROBLEMS_OF_DECISIONS,
    404: PROBLEMS_OF_TRADES[404],
    409: '`not_disputed`: there is nothing to settle · `active_entry`: another trade is active in its symbol',
  })
  async settle(
    @CallerOf() principal: Principal,
    @Param() at: { id: string; tradeId: string },
    @Body({ schema: SettleBody }) { reason }: z.infer<typeof SettleBody>,
  ): Promise<TradeAnswer> {
    const read = () =>
      asPrincipal(this.database, principal, (tx) => getTrade(tx, { profileId: at.id, tradeId: at.tradeId }));
    const trade = await read();
    assertAdmin(principal);
    assertSettled(await this.keeper.lifecycle.settleDispute(trade, { actor: actorOf(principal), reason }), trade);
    return tradeAnswer(await read());
  }
}

function assertSettled(settlement: Settlement, { tradeId, symbol }: { tradeId: string; symbol: string }): void {
  switch (settlement.outcome) {
    case 'settled':
      return;
    case 'unknown_trade':
      throw new Refusal(409, 'not_disputed', `No venue has confirmed trade ${tradeId}; there is nothing to settle.`);
    case 'not_disputed':
      throw new Refusal(409, 'not_disputed', `Trade ${tradeId} is ${settlement.state}; there is nothing to settle.`);
    case 'active_entry':
      throw new Refusal(
        409,
        'active_entry',
        `Trade ${settlement.tradeId ?? 'another'} is active in ${symbol}; leave one of the two first, then settle.`,
      );
  }
}
