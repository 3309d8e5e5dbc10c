import { Body, Controller, Param, Post, UseInterceptors } from '@nestjs/common';
import { ApiBearerAuth, ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Database } from '#libs/database';
import { CallerOf } from '#libs/http';
import { findTrade, tradeIdOf, type Signal } from '#libs/lifecycle';
import { actorOf, asPrincipal, type Principal } from '#libs/tenancy';
import { ApiProblems } from './api-problems.js';
import { CreatedOrOk, type Made } from './created-or-ok.js';
import { LifecycleKeeper } from './lifecycle-keeper.js';
import { getProfile } from './profile-problems.js';
import { recordSignal, SignalBody, signalOf } from './signal-body.js';
import { outcomeAnswer, OutcomeAnswer } from './trade-answer.js';
import { PROBLEMS_OF_TRADES, withVenue } from './trade-problems.js';
import { Turns } from './turns.js';

@ApiTags('trades')
@ApiBearerAuth()
@Controller('api/profiles/:id/signals')
export class SignalController {
  private readonly turns = new Turns();

  constructor(
    private readonly database: Database,
    private readonly keeper: LifecycleKeeper,
  ) {}

  @Post()
  @ApiOperation({ summary: 'Enters the market: reserves capital and sends one order, however often it is asked for' })
  @ApiCreatedResponse({ standardSchema: OutcomeAnswer, description: 'a trade was begun' })
  @ApiOkResponse({
    standardSchema: OutcomeAnswer,
    description: 'nothing was begun: the signal became a trade before, or it was skipped, for which see the reason',
  })
  @ApiProblems({
    400: 'a field is missing, unknown or unreadable: "errors" names each',
    404: '`unknown_profile`: there is no such profile, or it is not yours',
    409: '`signal_reused`: the signalId was sent before with another content',
    422: PROBLEMS_OF_TRADES[422],
  })
  @UseInterceptors(CreatedOrOk)
  async enter(
    @CallerOf() principal: Principal,
    @Param('id') id: string,
    @Body({ schema: SignalBody }) body: SignalBody,
  ): Promise<Made<OutcomeAnswer>> {
    const signal = await asPrincipal(this.database, principal, async (tx) => {
      const { id: profileId } = await getProfile(tx, id);
      await withVenue(() => this.keeper.venueOf(body.venue));
      const wished = signalOf(body, { profileId, actor: actorOf(principal) });
      await recordSignal(tx, wished);
      return wished;
    });
    // Of the same signal twice at once, the second would find the entry lock held and be told that nothing was begun.
    return this.turns.take(`${signal.profileId} ${signal.signalId}`, () => this.begin(signal));
  }

  private async begin(signal: Signal): Promise<Made<OutcomeAnswer>> {
    const { profileId } = signal;
    const ref = { profileId, tradeId: tradeIdOf(signal) };
    const known = await this.database.statement((tx) => findTrade(tx, ref));
    const outcome = await this.keeper.lifecycle.enter(signal);
    return { answer: outcomeAnswer(outcome), isNew: !known && outcome.outcome !== 'skipped' };
  }
}
