import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { z } from 'zod';
import { Database } from '#libs/database';
import { CallerOf, Refusal } from '#libs/http';
import { listIntentsOf, listUndecided, type Resolution, type UndecidedIntent } from '#libs/lifecycle';
import { actorOf, asPrincipal, isStoredAsGiven, type Principal } from '#libs/tenancy';
import { ApiProblems } from './api-problems.js';
import { LifecycleKeeper } from './lifecycle-keeper.js';
import { page, pageQuery, pageSchema } from './page.js';
import { readableReason } from './readable-reason.js';
import { EvidenceAnswer } from './trade-answer.js';
import { assertAdmin, getTrade, PROBLEMS_OF_DECISIONS, PROBLEMS_OF_TRADES, withVenue } from './trade-problems.js';

const UndecidedAnswer = z.strictObject({
  profileId: z.guid(),
  tradeId: z.guid(),
  generation: z.int().nullable().describe('counts the exits of a trade from 0; null: its entry'),
  venue: z.string(),
  symbol: z.string(),
  side: z.enum(['buy', 'sell']),
  quantity: z.string().meta({ examples: ['0.25'] }),
  clientOrderId: z.string().describe('what to look for at the venue'),
  state: z.enum(['pending', 'unknown']),
  reason: z.string().nullable(),
  evidence: z.array(EvidenceAnswer).describe('the first word, which is of the submission, and the latest ones'),
  lookupsInVain: z.int().describe('how often the venue said that it has no such order'),
  createdAt: z.iso.datetime(),
  ageMs: z.int(),
});
const UndecidedPage = pageSchema(UndecidedAnswer);
const UndecidedQuery = pageQuery(z.string().min(1).max(128).refine(isStoredAsGiven));

const RejectBody = z.strictObject({
  reason: readableReason('the venue confirmed by telephone that it has no such order'),
});
const RejectAnswer = z.strictObject({
  tradeId: z.guid(),
  clientOrderId: z.string(),
  resolution: z.literal('rejected'),
});

@ApiTags('trades')
@ApiBearerAuth()
@Controller('api')
export class IntentController {
  constructor(
    private readonly database: Database,
    private readonly keeper: LifecycleKeeper,
  ) {}

  @Get('intents')
  @ApiOperation({ summary: 'What no venue has proved or disproved yet, oldest first, with the evidence so far' })
  @ApiOkResponse({ standardSchema: UndecidedPage })
  list(
    @Query({ schema: UndecidedQuery }) { after, limit }: z.infer<typeof UndecidedQuery>,
  ): Promise<z.infer<typeof UndecidedPage>> {
    return this.database.transaction((tx) =>
      page(limit, (count) => listUndecided(tx, { after, limit: count }), {
        cursor: ({ clientOrderId }) => clientOrderId,
        item: undecidedAnswer,
      }),
    );
  }

  @Post('profiles/:id/trades/:tradeId/reject')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Decides that the venue never had the order of a trade, where the venue cannot tell',
    description:
      'For admins. The venue is asked once more. The capital of an entry is given back; a trade whose exit is rejected is open again.',
  })
  @ApiOkResponse({ standardSchema: RejectAnswer })
  @ApiProblems({
    ...PROBLEMS_OF_DECISIONS,
    409: '`trade_decided`: what became of it is known · `order_found`: the venue has the order after all · `changed_since`: somebody else is at work on it',
    ...PROBLEMS_OF_TRADES,
  })
  async reject(
    @CallerOf() principal: Principal,
    @Param() at: { id: string; tradeId: string },
    @Body({ schema: RejectBody }) { reason }: z.infer<typeof RejectBody>,
  ): Promise<z.infer<typeof RejectAnswer>> {
    const { trade, intents } = await asPrincipal(this.database, principal, async (tx) => {
      const found = await getTrade(tx, { profileId: at.id, tradeId: at.tradeId });
      return { trade: found, intents: await listIntentsOf(tx, found) };
    });
    assertAdmin(principal);
    const { profileId, tradeId } = trade;
    const undecided = intents.find(({ state }) => state === 'pending' || state === 'unknown');
    if (!undecided) {
      throw new Refusal(409, 'trade_decided', `Nothing of trade ${tradeId} is unknown; it is ${trade.state}.`);
    }
    const { generation, clientOrderId } = undecided;
    const ref = { profileId, tradeId, ...(generation !== undefined && { generation }) };
    const by = { actor: actorOf(principal), reason };
    assertRejected(await withVenue(() => this.keeper.lifecycle.rejectIntent(ref, by)), clientOrderId);
    return { tradeId, clientOrderId, resolution: 'rejected' };
  }
}

function assertRejected(resolution: Resolution, clientOrderId: string): void {
  switch (resolution) {
    case 'rejected':
      return;
    case 'confirmed':
      throw new Refusal(409, 'order_found', `The venue has order ${clientOrderId} after all, and it was recorded.`);
    case 'open':
    case 'locked':
      throw new Refusal(
        409,
        'changed_since',
        `Somebody else is at work on order ${clientOrderId}; look at the trade, and try again.`,
      );
  }
}

function undecidedAnswer(intent: UndecidedIntent): z.infer<typeof UndecidedAnswer> {
  const { profileId, tradeId, venue, symbol, side, clientOrderId, state, lookupsInVain, ageMs } = intent;
  return {
    ...{ profileId, tradeId, venue, symbol, side, clientOrderId, state, lookupsInVain, ageMs },
    generation: intent.generation ?? null,
    quantity: intent.quantity.toString(),
    reason: intent.reason ?? null,
    evidence: [...intent.evidence],
    createdAt: intent.createdAt.toISOString(),
  };
}
