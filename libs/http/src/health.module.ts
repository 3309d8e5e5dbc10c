import type { DynamicModule } from '@nestjs/common';
import { HealthCheckService, HealthIndicatorService, TerminusModule } from '@nestjs/terminus';
import type { Clock } from '#libs/clock';
import { Drain } from './drain.js';
import type { HealthProbe } from './health-probe.js';
import { HEALTH_FIGURES, HealthController } from './health.controller.js';
import { Readiness } from './readiness.js';

/** Serves /internal/health and /internal/live. On stop, readiness is red for drainMs before the listener closes. */
export function healthModule(options: {
  probes: readonly HealthProbe[];
  clock: Clock;
  drainMs: number;
  /** Shown beside the probes; they do not decide whether the process is ready. */
  figures?: () => Record<string, unknown>;
}): DynamicModule {
  return {
    module: class HealthModule {},
    imports: [TerminusModule.forRoot({ logger: false })],
    controllers: [HealthController],
    providers: [
      { provide: HEALTH_FIGURES, useValue: options.figures ?? (() => ({})) },
      { provide: Drain, useValue: new Drain(options.clock, options.drainMs) },
      {
        provide: Readiness,
        inject: [HealthCheckService, HealthIndicatorService, Drain],
        useFactory: (checks: HealthCheckService, indicators: HealthIndicatorService, drain: Drain) =>
          new Readiness(checks, indicators, options.probes, drain),
      },
    ],
    exports: [Readiness],
  };
}
