import { Controller, Get } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { z } from 'zod';
import { Clock } from '#libs/clock';
import { FleetKeeper } from './fleet-keeper.js';

const ApiHealth = z.strictObject({
  ok: z.boolean().meta({ examples: [true] }),
  uptime: z.number().meta({ description: 'seconds since the start', examples: [12.5] }),
  pairs: z.array(z.string()).meta({ description: 'ids of the configured pairs', examples: [['BTC-USD']] }),
});
type ApiHealth = z.infer<typeof ApiHealth>;

@ApiTags('orchestrator')
@ApiBearerAuth()
@Controller('api/health')
export class ApiHealthController {
  private readonly startedAt: number;

  constructor(
    private readonly clock: Clock,
    private readonly keeper: FleetKeeper,
  ) {
    this.startedAt = clock.monotonic();
  }

  @Get()
  @ApiOperation({ summary: 'Whether the token is right and the orchestrator serves' })
  @ApiOkResponse({ standardSchema: ApiHealth })
  async read(): Promise<ApiHealth> {
    const pairs = await this.keeper.configs.list();
    return { ok: true, uptime: (this.clock.monotonic() - this.startedAt) / 1000, pairs: pairs.map(({ id }) => id) };
  }
}
