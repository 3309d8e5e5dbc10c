import { Body, Controller, Get, Param, Post, Query, UseInterceptors } from '@nestjs/common';
import { ApiBearerAuth, ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { z } from 'zod';
import { Database, type Tx } from '#libs/database';
import { CallerOf } from '#libs/http';
import { deposit, findLedger, listEntries, withdraw, type Ledger } from '#libs/ledger';
import { Decimal } from '#libs/money';
import { actorOf, asPrincipal, recordAct, type Principal } from '#libs/tenancy';
import { Amount } from './amount.js';
import { ApiProblems } from './api-problems.js';
import { CreatedOrOk, type Made } from './created-or-ok.js';
import { entryAnswer, EntryAnswer, ledgerAnswer, LedgerAnswer } from './ledger-answer.js';
import { page, pageQuery, pageSchema, Sequence } from './page.js';
import { assertMoved, getProfile, REFUSALS_OF_MOVES } from './profile-problems.js';

const MoveBody = z.strictObject({
  amount: Amount,
  key: z
    .string()
    .regex(/^[A-Za-z0-9._:/+=@-]{1,100}$/, { error: 'expected 1 to 100 letters, digits or ._:/+=@-' })
    .describe('chosen by the caller, unique within the profile; the same request again is done once')
    .meta({ examples: ['bank-transfer-2041'] }),
});
type MoveBody = z.infer<typeof MoveBody>;
const MoveAnswer = z.strictObject({
  outcome: z.enum(['applied', 'duplicate']),
  sequence: z.int().describe('of its first entry in the journal'),
  ledger: LedgerAnswer,
});
type MoveAnswer = z.infer<typeof MoveAnswer>;
const EntryQuery = pageQuery(Sequence);
const EntryPage = pageSchema(EntryAnswer);

const MOVES = { deposit, withdraw };

@ApiTags('ledger')
@ApiBearerAuth()
@Controller('api/profiles/:id/ledger')
export class LedgerController {
  constructor(private readonly database: Database) {}

  @Get()
  @ApiOperation({ summary: "A profile's capital, and the proof that it adds up" })
  @ApiOkResponse({ standardSchema: LedgerAnswer })
  @ApiProblems({ 404: REFUSALS_OF_MOVES[404] })
  read(@CallerOf() principal: Principal, @Param('id') id: string): Promise<LedgerAnswer> {
    return asPrincipal(this.database, principal, async (tx) => ledgerAnswer(await getLedger(tx, id)));
  }

  @Get('entries')
  @ApiOperation({ summary: 'The journal, oldest first: every movement of capital, who caused it and when' })
  @ApiOkResponse({ standardSchema: EntryPage })
  @ApiProblems({ 404: REFUSALS_OF_MOVES[404] })
  entries(
    @CallerOf() principal: Principal,
    @Param('id') id: string,
    @Query({ schema: EntryQuery }) { after, limit }: z.infer<typeof EntryQuery>,
  ): Promise<z.infer<typeof EntryPage>> {
    return asPrincipal(this.database, principal, async (tx) => {
      const { id: profileId } = await getProfile(tx, id);
      const from = after === undefined ? undefined : BigInt(after);
      return page(limit, (count) => listEntries(tx, { profileId, after: from, limit: count }), {
        cursor: ({ sequence }) => String(sequence),
        item: entryAnswer,
      });
    });
  }

  @Post('deposits')
  @ApiOperation({ summary: 'Adds capital' })
  @ApiCreatedResponse({ standardSchema: MoveAnswer })
  @ApiOkResponse({ standardSchema: MoveAnswer, description: 'the same request was done before' })
  @ApiProblems({ ...REFUSALS_OF_MOVES, 409: '`key_reused`: the key belongs to another command' })
  @UseInterceptors(CreatedOrOk)
  deposit(
    @CallerOf() principal: Principal,
    @Param('id') id: string,
    @Body({ schema: MoveBody }) body: MoveBody,
  ): Promise<Made<MoveAnswer>> {
    return this.move('deposit', principal, { id, ...body });
  }

  @Post('withdrawals')
  @ApiOperation({ summary: 'Takes out capital, as much as is available' })
  @ApiCreatedResponse({ standardSchema: MoveAnswer })
  @ApiOkResponse({ standardSchema: MoveAnswer, description: 'the same request was done before' })
  @ApiProblems(REFUSALS_OF_MOVES)
  @UseInterceptors(CreatedOrOk)
  withdraw(
    @CallerOf() principal: Principal,
    @Param('id') id: string,
    @Body({ schema: MoveBody }) body: MoveBody,
  ): Promise<Made<MoveAnswer>> {
    return this.move('withdraw', principal, { id, ...body });
  }

  private move(
    kind: keyof typeof MOVES,
    principal: Principal,
    { id, key, amount }: MoveBody & { id: string },
  ): Promise<Made<MoveAnswer>> {
    return asPrincipal(this.database, principal, async (tx) => {
      const { id: profileId } = await getProfile(tx, id);
      const actor = actorOf(principal);
      const verdict = await MOVES[kind](tx, { profileId, key, actor, amount: Decimal.parse(amount) });
      assertMoved(verdict, id);
      const sequence = Number(verdict.sequence);
      if (verdict.outcome === 'applied') {
        const detail = { amount: Decimal.parse(amount).toString(), key, sequence };
        await recordAct(tx, { actor, action: `ledger.${kind}`, profileId, subject: profileId, detail });
      }
      const ledger = ledgerAnswer(await getLedger(tx, profileId));
      return { answer: { outcome: verdict.outcome, sequence, ledger }, isNew: verdict.outcome === 'applied' };
    });
  }
}

async function getLedger(tx: Tx, id: string): Promise<Ledger> {
  const profile = await getProfile(tx, id);
  const ledger = await findLedger(tx, profile.id);
  if (!ledger) throw new Error(`Invariant: a profile has a ledger, but ${profile.id} has none.`);
  return ledger;
}
