import { Transport, type MicroserviceOptions } from '@nestjs/microservices';
import type { WorkerState } from '#libs/fleet';
import { closeWithin, createHttpApp, listen } from '#libs/http';
import type { ProcessContext, Services } from '#libs/process';
import { transportOptions } from '#libs/redis';
import type { PairHealth } from './pair-health.js';
import { workerRequestsController } from './worker-requests.controller.js';
import { workerModule } from './worker.module.js';

interface Served {
  readonly services: Services;
  readonly redisUrl: string;
  readonly id: string;
  readonly health: PairHealth;
  drain(): void;
  report(): WorkerState;
}

/** Serves health, metrics and the orchestrator's requests. Resolves with the port; closing is left on the stack. */
export async function serveWorker(
  context: ProcessContext,
  served: Served,
  undo: AsyncDisposableStack,
): Promise<number> {
  const { config, logger, clock } = context;
  const requests = workerRequestsController({
    id: served.id,
    prefix: config.KEY_PREFIX,
    logger,
    drain: () => served.drain(),
    report: () => served.report(),
  });
  const app = await createHttpApp(workerModule(context, served.services, { requests, health: served.health }), {
    bodyBytesMax: config.HTTP_BODY_BYTES_MAX,
  });
  undo.defer(() => closeWithin(app, { graceMs: config.SHUTDOWN_GRACE_MS, clock }));
  app.connectMicroservice<MicroserviceOptions>({
    transport: Transport.REDIS,
    options: transportOptions(served.redisUrl),
  });
  await app.startAllMicroservices();
  return Number(new URL(await listen(app, { host: '127.0.0.1', port: 0 })).port);
}
