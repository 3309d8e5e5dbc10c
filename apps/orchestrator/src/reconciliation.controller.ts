import {
  BadRequestException,
  Body,
  Controller,
  Get,
  HttpCode,
  NotFoundException,
  Param,
  Post,
  Query,
} from '@nestjs/common';
import { ApiBearerAuth, ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { z } from 'zod';
import { Database } from '#libs/database';
import { CallerOf, Refusal } from '#libs/http';
import {
  findCorrection,
  findRun,
  listCorrections,
  listRuns,
  resolveCorrection,
  SweepUnderWay,
  type Sweep,
} from '#libs/reconciliation';
import { actorOf, isStoredAsGiven, recordAct, type Principal } from '#libs/tenancy';
import { ApiProblems } from './api-problems.js';
import { page, pageQuery, pageSchema } from './page.js';
import { readableReason } from './readable-reason.js';
import { CorrectionAnswer, correctionAnswer, CorrectionState, RunAnswer, runAnswer } from './reconciliation-answer.js';
import { ReconciliationKeeper } from './reconciliation-keeper.js';

const VenueName = z
  .string()
  .min(1)
  .max(100)
  .refine(isStoredAsGiven)
  .meta({ examples: ['paper'] });
const CorrectionId = z.string().regex(/^[0-9a-f]{32}$/, { error: 'expected the id of a correction' });

const RunPage = pageSchema(RunAnswer);
const RunQuery = pageQuery(z.guid()).extend({ venue: VenueName.optional() });
const RunBody = z
  .strictObject({ venue: VenueName.optional().describe('may be left out where only one is configured') })
  .optional();
const CorrectionPage = pageSchema(CorrectionAnswer);
const CorrectionQuery = pageQuery(CorrectionId).extend({
  venue: VenueName.optional(),
  profileId: z.guid().optional(),
  state: CorrectionState.optional(),
});
const ResolveBody = z.strictObject({
  reason: readableReason('sold by hand at the venue, and booked'),
});

@ApiTags('reconciliation')
@ApiBearerAuth()
@Controller('api/reconciliation')
export class ReconciliationController {
  constructor(
    private readonly database: Database,
    private readonly keeper: ReconciliationKeeper,
  ) {}

  @Get('runs')
  @ApiOperation({
    summary: 'Sweeps that found something, failed, or were asked for, newest first',
    description: 'A sweep on schedule that finds nothing writes nothing; /internal/health tells when the last one was.',
  })
  @ApiOkResponse({ standardSchema: RunPage })
  runs(
    @Query({ schema: RunQuery }) { after, limit, venue }: z.infer<typeof RunQuery>,
  ): Promise<z.infer<typeof RunPage>> {
    return this.database.transaction((tx) =>
      page(limit, (count) => listRuns(tx, { venue, after, limit: count }), {
        cursor: ({ runId }) => runId,
        item: runAnswer,
      }),
    );
  }

  @Post('runs')
  @ApiOperation({ summary: 'Sweeps a venue now, and answers when it is done' })
  @ApiCreatedResponse({ standardSchema: RunAnswer })
  @ApiProblems({
    400: 'several venues are configured and none is named',
    409: '`sweep_under_way`: it is being swept right now',
    422: '`unknown_venue`: no venue of this name is configured',
  })
  async run(
    @CallerOf() principal: Principal,
    @Body({ schema: RunBody }) body: z.infer<typeof RunBody>,
  ): Promise<z.infer<typeof RunAnswer>> {
    const venue = this.venueOf(body?.venue);
    const askedBy = actorOf(principal);
    const sweep = await this.keeper.reconciliation.sweep({ venue, askedBy }).catch((error: unknown) => {
      if (error instanceof SweepUnderWay) throw new Refusal(409, 'sweep_under_way', error.message);
      throw error;
    });
    const runId = idOf(sweep);
    const run = await this.database.transaction(async (tx) => {
      const { outcome, figures } = sweep;
      await recordAct(tx, {
        actor: askedBy,
        action: 'venue.sweep',
        subject: venue,
        detail: { runId, outcome, ...figures },
      });
      return findRun(tx, runId);
    });
    if (!run) throw new Error(`Invariant: the sweep ${runId} that was asked for is on record.`);
    return runAnswer(run);
  }

  @Get('corrections')
  @ApiOperation({ summary: 'What sweeps found, with the evidence of both sides, newest first' })
  @ApiOkResponse({ standardSchema: CorrectionPage })
  corrections(
    @Query({ schema: CorrectionQuery }) { after, limit, ...filter }: z.infer<typeof CorrectionQuery>,
  ): Promise<z.infer<typeof CorrectionPage>> {
    return this.database.transaction((tx) =>
      page(limit, (count) => listCorrections(tx, { ...filter, after, limit: count }), {
        cursor: ({ correctionId }) => correctionId,
        item: correctionAnswer,
      }),
    );
  }

  @Post('corrections/:id/resolve')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Decides a difference that waits for a person, and lifts its halt',
    description: 'Our tables stay as they are. The same difference is not asked about again; another one is.',
  })
  @ApiOkResponse({ standardSchema: CorrectionAnswer })
  @ApiProblems({
    404: 'there is no such correction',
    409: '`correction_decided`: it does not wait for anybody',
  })
  resolve(
    @CallerOf() principal: Principal,
    @Param('id') id: string,
    @Body({ schema: ResolveBody }) { reason }: z.infer<typeof ResolveBody>,
  ): Promise<z.infer<typeof CorrectionAnswer>> {
    return this.database.transaction(async (tx) => {
      const known = CorrectionId.safeParse(id).success ? await findCorrection(tx, id) : undefined;
      if (!known) {
        throw new NotFoundException(
          `There is no correction ${JSON.stringify(id)}. GET /api/reconciliation/corrections lists them.`,
        );
      }
      const resolved = await resolveCorrection(tx, {
        ...{ correctionId: id, actor: actorOf(principal), resolution: reason },
      });
      if (!resolved) {
        throw new Refusal(409, 'correction_decided', `Correction ${id} is ${known.state}; there is nothing to decide.`);
      }
      return correctionAnswer(resolved);
    });
  }

  private venueOf(named: string | undefined): string {
    const { venueIds } = this.keeper;
    if (named === undefined && venueIds.length !== 1) {
      throw new BadRequestException(`Name a venue: ${venueIds.join(', ')}.`);
    }
    const venue = named ?? venueIds[0] ?? '';
    if (!venueIds.includes(venue)) {
      throw new Refusal(
        422,
        'unknown_venue',
        `No venue ${JSON.stringify(venue)} is configured; there is ${venueIds.join(', ')}.`,
      );
    }
    return venue;
  }
}

function idOf({ runId }: Sweep): string {
  if (runId === undefined)
    throw new Error('Expected a database that takes down what the sweep found; it did not answer.');
  return runId;
}
