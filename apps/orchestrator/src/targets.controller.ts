import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { z } from 'zod';
import { FleetKeeper } from './fleet-keeper.js';
import { redisAnswer } from './redis-answer.js';

const Targets = z.array(
  z.strictObject({
    targets: z.array(z.string()).meta({ examples: [['127.0.0.1:41234']] }),
    labels: z.record(z.string(), z.string()).meta({ examples: [{ worker: 'BTC-USD', kind: 'pair' }] }),
  }),
);

@ApiTags('internal')
@Controller('internal/targets')
export class TargetsController {
  constructor(private readonly keeper: FleetKeeper) {}

  @Get()
  @ApiOperation({
    summary: 'Where every living worker serves its metrics, for the HTTP service discovery of Prometheus',
  })
  @ApiOkResponse({ standardSchema: Targets })
  async list(): Promise<z.infer<typeof Targets>> {
    const ids = this.keeper.fleet.list().map(({ id }) => id);
    const reports = await redisAnswer(this.keeper.board.report(ids));
    return [...reports].flatMap(([id, { state, heartbeatAt }]) =>
      state && heartbeatAt !== undefined
        ? [{ targets: [`127.0.0.1:${state.healthPort}`], labels: { worker: id, kind: state.kind } }]
        : [],
    );
  }
}
