import { Controller, Get, Header, Inject, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiServiceUnavailableResponse, ApiTags } from '@nestjs/swagger';
import type { HealthCheckResult } from '@nestjs/terminus';
import type { FastifyReply } from 'fastify';
import { Readiness } from './readiness.js';

export const HEALTH_FIGURES = Symbol('HEALTH_FIGURES');

@ApiTags('internal')
@Controller('internal')
export class HealthController {
  constructor(
    private readonly readiness: Readiness,
    @Inject(HEALTH_FIGURES) private readonly figures: () => Record<string, unknown>,
  ) {}

  /** Liveness: the process answers. It touches nothing, or a sick database would have healthy processes killed. */
  @Get('live')
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: 'Whether the process answers at all' })
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  /** Readiness: 200 when everything this process needs works, else 503; both say what is up and what is down. */
  @Get('health')
  @Header('cache-control', 'no-store')
  @ApiOperation({
    summary: 'Whether the process can do its work, and how its loops fare',
    description:
      'Each probe by name in `info` or, with a sentence, in `error`; beside them the fields of the loops, the counts and `degraded` with its reasons. docs/health.md explains each.',
  })
  @ApiOkResponse({ description: 'every probe is up' })
  @ApiServiceUnavailableResponse({ description: 'a probe is down, or the process is shutting down' })
  async health(@Res({ passthrough: true }) reply: FastifyReply): Promise<HealthCheckResult> {
    const { isReady, result } = await this.readiness.check();
    if (!isReady) void reply.status(503);
    return { ...result, ...this.figures() };
  }
}
