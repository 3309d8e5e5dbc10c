import { Controller, Get, NotFoundException, Param } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { z } from 'zod';
import { Pair, PairId, WorkerState } from '#libs/fleet';
import { FleetKeeper } from './fleet-keeper.js';
import { redisAnswer } from './redis-answer.js';

/** A pair with what its worker last said; without a living worker those fields are null. */
const PairOverview = Pair.extend({
  alive: z.boolean(),
  status: WorkerState.shape.status.nullable(),
  epoch: z.int().nullable(),
  lastDecision: z.string().nullable(),
  lastDecisionTs: z.iso.datetime().nullable(),
  currentApr: z.number().nullable(),
  optimalApr: z.number().nullable(),
});
const PairOverviews = z.strictObject({ items: z.array(PairOverview) });

@ApiTags('pairs')
@ApiBearerAuth()
@Controller('api/pairs')
export class PairController {
  constructor(private readonly keeper: FleetKeeper) {}

  @Get()
  @ApiOperation({ summary: 'Every pair with the last decision of its worker' })
  @ApiOkResponse({ standardSchema: PairOverviews })
  async list(): Promise<z.infer<typeof PairOverviews>> {
    const pairs = await this.keeper.configs.list();
    const reports = await redisAnswer(this.keeper.board.report(pairs.map(({ id }) => id)));
    return {
      items: pairs.map((pair) => {
        const report = reports.get(pair.id);
        const state = report?.state;
        return {
          ...pair,
          alive: report?.heartbeatAt !== undefined,
          status: state?.status ?? null,
          epoch: state?.epoch ?? null,
          lastDecision: state?.lastDecision ?? null,
          lastDecisionTs: state?.lastDecisionTs ?? null,
          currentApr: state?.currentApr ?? null,
          optimalApr: state?.optimalApr ?? null,
        };
      }),
    };
  }

  @Get(':id/status')
  @ApiOperation({ summary: 'What the worker of a pair last published' })
  @ApiOkResponse({ standardSchema: WorkerState })
  async status(@Param('id', { schema: PairId }) id: string): Promise<WorkerState> {
    const state = (await redisAnswer(this.keeper.board.report([id]))).get(id)?.state;
    if (!state)
      throw new NotFoundException(`Pair "${id}" has published no state. GET /api/orchestrator/status tells why.`);
    return state;
  }
}
