import {
  BadRequestException,
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  NotFoundException,
  Param,
  Post,
  Query,
  UseInterceptors,
} from '@nestjs/common';
import { ApiBearerAuth, ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { z } from 'zod';
import { Database } from '#libs/database';
import { CallerOf } from '#libs/http';
import { createHalt, InvalidHalt, liftHalt, listHalts, UnknownProfile, type Halt } from '#libs/ledger';
import { actorOf, isStoredAsGiven, recordAct, type Principal } from '#libs/tenancy';
import { ApiProblems } from './api-problems.js';
import { CreatedOrOk, type Made } from './created-or-ok.js';
import { page, pageQuery, pageSchema } from './page.js';
import { unknownProfile } from './profile-problems.js';
import { readableReason } from './readable-reason.js';

const Name = z.string().min(1).max(100).refine(isStoredAsGiven, { error: 'expected text without control characters' });
const Scope = z.enum(['global', 'venue', 'profile', 'symbol']);
const HaltId = z.guid();

const HaltBody = z.strictObject({
  scope: Scope.describe(
    'the narrowest of what is named; a halt of the scope "symbol" may name a venue and a profile too',
  ),
  venue: Name.optional().meta({ examples: ['paper'] }),
  profileId: z.guid().toLowerCase().optional(),
  symbol: Name.optional().meta({ examples: ['BTC/USD'] }),
  reason: readableReason('the venue sends wrong prices'),
});
const HaltAnswer = z.strictObject({
  id: z.guid(),
  scope: Scope,
  venue: z.string().nullable(),
  profileId: z.guid().nullable(),
  symbol: z.string().nullable(),
  reason: z.string(),
  createdBy: z.string(),
  createdAt: z.iso.datetime(),
});
type HaltAnswer = z.infer<typeof HaltAnswer>;
const HaltPage = pageSchema(HaltAnswer);
const HaltQuery = pageQuery(HaltId);

@ApiTags('halts')
@ApiBearerAuth()
@Controller('api/halts')
export class HaltController {
  constructor(private readonly database: Database) {}

  @Get()
  @ApiOperation({ summary: 'What is halted, oldest first' })
  @ApiOkResponse({ standardSchema: HaltPage })
  async list(
    @Query({ schema: HaltQuery }) { after, limit }: z.infer<typeof HaltQuery>,
  ): Promise<z.infer<typeof HaltPage>> {
    const halts = await this.database.transaction((tx) => listHalts(tx));
    const position = after === undefined ? -1 : halts.findIndex(({ haltId }) => haltId === after.toLowerCase());
    if (after !== undefined && position < 0) {
      throw new BadRequestException(`The halt ${after} that this page comes after was lifted. Start without "after".`);
    }
    return page(limit, async (count) => halts.slice(position + 1, position + 1 + count), {
      cursor: ({ haltId }) => haltId,
      item: haltAnswer,
    });
  }

  @Post()
  @ApiOperation({ summary: 'Refuses new entries in a scope, from the moment of the answer on' })
  @ApiCreatedResponse({ standardSchema: HaltAnswer })
  @ApiOkResponse({ standardSchema: HaltAnswer, description: 'the same halt was there before' })
  @ApiProblems({
    400: 'a field is missing, unknown or unreadable, or the scope does not fit what is named',
    404: '`unknown_profile`: there is no such profile',
  })
  @UseInterceptors(CreatedOrOk)
  async create(
    @CallerOf() principal: Principal,
    @Body({ schema: HaltBody }) body: z.infer<typeof HaltBody>,
  ): Promise<Made<HaltAnswer>> {
    const actor = actorOf(principal);
    const { halt, isNew } = await this.database
      .transaction(async (tx) => {
        const made = await createHalt(tx, { ...body, createdBy: actor });
        if (made.isNew) await recordAct(tx, actOn(made.halt, actor, 'halt.create'));
        return made;
      })
      .catch((error: unknown) => {
        if (error instanceof InvalidHalt) throw new BadRequestException(error.message);
        if (error instanceof UnknownProfile) throw unknownProfile(error.profileId);
        throw error;
      });
    return { answer: haltAnswer(halt), isNew };
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiOperation({ summary: 'Lifts a halt' })
  @ApiProblems({ 404: 'there is no such halt, or no longer' })
  async lift(@CallerOf() principal: Principal, @Param('id') id: string): Promise<void> {
    await this.database.transaction(async (tx) => {
      const halt = HaltId.safeParse(id).success ? await liftHalt(tx, id) : undefined;
      if (!halt) {
        throw new NotFoundException(`There is no halt ${JSON.stringify(id)}, or no longer. GET /api/halts lists them.`);
      }
      await recordAct(tx, actOn(halt, actorOf(principal), 'halt.lift'));
    });
  }
}

function actOn(halt: Halt, actor: string, action: string): Parameters<typeof recordAct>[1] {
  const { id, ...detail } = haltAnswer(halt);
  return { actor, action, profileId: halt.profileId, subject: id, detail };
}

function haltAnswer(halt: Halt): HaltAnswer {
  return {
    id: halt.haltId,
    scope: halt.scope,
    venue: halt.venue ?? null,
    profileId: halt.profileId ?? null,
    symbol: halt.symbol ?? null,
    reason: halt.reason,
    createdBy: halt.createdBy,
    createdAt: halt.createdAt.toISOString(),
  };
}
