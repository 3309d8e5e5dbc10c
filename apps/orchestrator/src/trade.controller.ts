import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { z } from 'zod';
import { Database, type Tx } from '#libs/database';
import { CallerOf } from '#libs/http';
import { listFillsOf, listIntentsOf, listOrdersOf, listTrades, type Trade, type TradeRef } from '#libs/lifecycle';
import { actorOf, asPrincipal, recordAct, type Principal } from '#libs/tenancy';
import { ApiProblems } from './api-problems.js';
import { LifecycleKeeper } from './lifecycle-keeper.js';
import { LIMIT_FITS_TYPE, LimitPrice, OrderKind, termsOf } from './order-terms.js';
import { page, pageQuery, pageSchema } from './page.js';
import { getProfile } from './profile-problems.js';
import {
  outcomeAnswer,
  OutcomeAnswer,
  tradeAnswer,
  TradeAnswer,
  wholeTradeAnswer,
  WholeTradeAnswer,
} from './trade-answer.js';
import { getTrade, PROBLEMS_OF_TRADES, withVenue } from './trade-problems.js';

const TradePage = pageSchema(TradeAnswer);
const TradeQuery = pageQuery(z.guid());
const ExitBody = z
  .strictObject({ type: OrderKind.default('market'), limitPrice: LimitPrice.optional() })
  .refine(LIMIT_FITS_TYPE.check, LIMIT_FITS_TYPE.fault)
  .prefault({});

@ApiTags('trades')
@ApiBearerAuth()
@Controller('api/profiles/:id/trades')
export class TradeController {
  constructor(
    private readonly database: Database,
    private readonly keeper: LifecycleKeeper,
  ) {}

  @Get()
  @ApiOperation({ summary: 'What became of signals, newest first' })
  @ApiOkResponse({ standardSchema: TradePage })
  @ApiProblems({ 404: PROBLEMS_OF_TRADES[404] })
  list(
    @CallerOf() principal: Principal,
    @Param('id') id: string,
    @Query({ schema: TradeQuery }) { after, limit }: z.infer<typeof TradeQuery>,
  ): Promise<z.infer<typeof TradePage>> {
    return asPrincipal(this.database, principal, async (tx) => {
      const { id: profileId } = await getProfile(tx, id);
      return page(limit, (count) => listTrades(tx, { profileId, after, limit: count }), {
        cursor: ({ tradeId }) => tradeId,
        item: tradeAnswer,
      });
    });
  }

  @Get(':tradeId')
  @ApiOperation({ summary: 'One trade with its intents and their evidence, its orders and its fills' })
  @ApiOkResponse({ standardSchema: WholeTradeAnswer })
  @ApiProblems({ 404: PROBLEMS_OF_TRADES[404] })
  read(
    @CallerOf() principal: Principal,
    @Param('id') profileId: string,
    @Param('tradeId') tradeId: string,
  ): Promise<WholeTradeAnswer> {
    return asPrincipal(this.database, principal, (tx) => readWhole(tx, { profileId, tradeId }));
  }

  @Post(':tradeId/exit')
  @HttpCode(200)
  @ApiOperation({ summary: 'Leaves the trade with all that it holds; an entry that still works is cancelled first' })
  @ApiOkResponse({ standardSchema: OutcomeAnswer })
  @ApiProblems({ 400: 'a field is unknown or unreadable: "errors" names each', ...PROBLEMS_OF_TRADES })
  async exit(
    @CallerOf() principal: Principal,
    @Param() at: { id: string; tradeId: string },
    @Body({ schema: ExitBody }) body: z.infer<typeof ExitBody>,
  ): Promise<OutcomeAnswer> {
    const act = { action: 'trade.exit', detail: body };
    const { profileId, tradeId } = await this.recordWish(principal, { profileId: at.id, tradeId: at.tradeId }, act);
    const request = { profileId, tradeId, order: termsOf(body), actor: actorOf(principal) };
    return outcomeAnswer(await withVenue(() => this.keeper.lifecycle.exit(request)));
  }

  @Post(':tradeId/cancel')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Cancels whatever of the trade still works at the venue',
    description: 'An order that is still working in the answer may yet be filled; the wish to cancel it stays.',
  })
  @ApiOkResponse({ standardSchema: WholeTradeAnswer })
  @ApiProblems(PROBLEMS_OF_TRADES)
  async cancel(
    @CallerOf() principal: Principal,
    @Param('id') id: string,
    @Param('tradeId') tradeId: string,
  ): Promise<WholeTradeAnswer> {
    const trade = await this.recordWish(principal, { profileId: id, tradeId }, { action: 'trade.cancel', detail: {} });
    await withVenue(() => this.keeper.lifecycle.cancel(trade));
    return asPrincipal(this.database, principal, (tx) => readWhole(tx, trade));
  }

  /** Before the venue is called: nothing is done that is not on record, though what was on record may fail. */
  private recordWish(
    principal: Principal,
    ref: TradeRef,
    act: { readonly action: string; readonly detail: Readonly<Record<string, unknown>> },
  ): Promise<Trade> {
    return asPrincipal(this.database, principal, async (tx) => {
      const trade = await getTrade(tx, ref);
      const { profileId, tradeId } = trade;
      await recordAct(tx, { actor: actorOf(principal), profileId, subject: tradeId, ...act });
      return trade;
    });
  }
}

async function readWhole(tx: Tx, ref: TradeRef): Promise<WholeTradeAnswer> {
  const trade = await getTrade(tx, ref);
  return wholeTradeAnswer(trade, {
    intents: await listIntentsOf(tx, trade),
    orders: await listOrdersOf(tx, trade),
    fills: await listFillsOf(tx, trade),
  });
}
