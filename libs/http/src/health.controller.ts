import { Controller, Get, Header, HttpException, Inject, Res } from '@nestjs/common';
import { HealthCheckService, HealthIndicatorService, type HealthCheckResult } from '@nestjs/terminus';
import type { FastifyReply } from 'fastify';
import { Drain } from './drain.js';
import type { HealthProbe } from './health-probe.js';

export const HEALTH_PROBES = Symbol('HEALTH_PROBES');
export const HEALTH_FIGURES = Symbol('HEALTH_FIGURES');

/** A dependency that hangs is as bad as one that is gone, and a probe must answer before its asker gives up. */
const PROBE_TIMEOUT_MS = 2_000;

@Controller('internal')
export class HealthController {
  constructor(
    private readonly checks: HealthCheckService,
    private readonly indicators: HealthIndicatorService,
    @Inject(HEALTH_PROBES) private readonly probes: readonly HealthProbe[],
    @Inject(HEALTH_FIGURES) private readonly figures: () => Record<string, unknown>,
    private readonly drain: Drain,
  ) {}

  /** Liveness: the process answers. It touches nothing, or a sick database would have healthy processes killed. */
  @Get('live')
  @Header('cache-control', 'no-store')
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  /** Readiness: 200 when everything this process needs works, else 503; both say what is up and what is down. */
  @Get('health')
  @Header('cache-control', 'no-store')
  async health(@Res({ passthrough: true }) reply: FastifyReply): Promise<HealthCheckResult> {
    const result = { ...(await this.check()), ...this.figures() };
    const isReady = result.status === 'ok' || result.status === 'degraded';
    if (isReady && !this.drain.hasBegun) return result;
    void reply.status(503);
    return this.drain.hasBegun ? { ...result, status: 'shutting_down' } : result;
  }

  private async check(): Promise<HealthCheckResult> {
    const attempts = this.probes.map((probe) =>
      this.indicators
        .check(probe.name)
        .attempt(() => probe.check())
        .withTimeout(PROBE_TIMEOUT_MS),
    );
    try {
      return await this.checks.check(attempts);
    } catch (error) {
      if (error instanceof HttpException) return error.getResponse() as HealthCheckResult;
      throw error;
    }
  }
}
