import type { DynamicModule, Type } from '@nestjs/common';
import { eventLoopProbe, healthModule, pingProbe } from '#libs/http';
import type { ProcessContext, Services } from '#libs/process';
import { loggerModule, metricsModule } from '#libs/telemetry';
import type { PairHealth } from './pair-health.js';

export function workerModule(
  { config, logger, clock }: ProcessContext,
  { database, redis }: Services,
  parts: { readonly requests: Type; readonly health: PairHealth },
): DynamicModule {
  const probes = [
    pingProbe('postgres', () => database.ping()),
    pingProbe('redis', () => redis.ping()),
    eventLoopProbe(config.EVENT_LOOP_LAG_MS_MAX),
    ...parts.health.probes(),
  ];
  const figures = () => parts.health.fields();
  return {
    module: class WorkerModule {},
    imports: [loggerModule(logger), metricsModule(), healthModule({ probes, clock, drainMs: 0, figures })],
    controllers: [parts.requests],
  };
}
