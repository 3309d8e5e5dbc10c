import { HttpException } from '@nestjs/common';
import { type HealthCheckService, type HealthIndicatorService, type HealthCheckResult } from '@nestjs/terminus';
import { type Drain } from './drain.js';
import type { HealthProbe } from './health-probe.js';

/** A dependency that hangs is as bad as one that is gone, and a probe must answer before its asker gives up. */
const PROBE_TIMEOUT_MS = 2_000;

/** Whether this process can do its work now: asks every probe, each time it is asked itself. */
export class Readiness {
  constructor(
    private readonly checks: HealthCheckService,
    private readonly indicators: HealthIndicatorService,
    private readonly probes: readonly HealthProbe[],
    private readonly drain: Drain,
  ) {}

  async check(): Promise<{ isReady: boolean; result: HealthCheckResult }> {
    const result = await this.askProbes();
    if (this.drain.hasBegun) return { isReady: false, result: { ...result, status: 'shutting_down' } };
    return { isReady: result.status === 'ok' || result.status === 'degraded', result };
  }

  private async askProbes(): Promise<HealthCheckResult> {
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
