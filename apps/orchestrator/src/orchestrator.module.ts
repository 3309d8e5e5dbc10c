import type { DynamicModule } from '@nestjs/common';
import { Clock } from '#libs/clock';
import { Database } from '#libs/database';
import { diskProbe, eventLoopProbe, healthModule, pingProbe } from '#libs/http';
import type { ProcessContext, Services } from '#libs/process';
import { loggerModule, metricsModule } from '#libs/telemetry';
import { ApiHealthController } from './api-health.controller.js';
import { AuditController } from './audit.controller.js';
import { DisputeController } from './dispute.controller.js';
import { FleetKeeper } from './fleet-keeper.js';
import { HaltController } from './halt.controller.js';
import { IntentController } from './intent.controller.js';
import { HealthKeeper } from './health-keeper.js';
import { HealthMetrics } from './health-metrics.js';
import { LedgerController } from './ledger.controller.js';
import { LifecycleKeeper } from './lifecycle-keeper.js';
import { OrchestratorController } from './orchestrator.controller.js';
import { PairConfigController } from './pair-config.controller.js';
import { PairController } from './pair.controller.js';
import { ProfileLimitsController } from './profile-limits.controller.js';
import { ProfileController } from './profile.controller.js';
import { ReconciliationKeeper } from './reconciliation-keeper.js';
import { ReconciliationController } from './reconciliation.controller.js';
import { SignalController } from './signal.controller.js';
import { TargetsController } from './targets.controller.js';
import { TradeRecordsController } from './trade-records.controller.js';
import { TradeController } from './trade.controller.js';
import { WorkerClient } from './worker-client.js';

export function orchestratorModule(parts: {
  context: ProcessContext;
  dataDir: string;
  services: Services;
  keeper: FleetKeeper;
  health: HealthKeeper;
  lifecycle: LifecycleKeeper;
  reconciliation: ReconciliationKeeper;
  workers: WorkerClient;
}): DynamicModule {
  const { config, logger, clock } = parts.context;
  const { database, redis } = parts.services;
  const probes = [
    pingProbe('postgres', () => database.ping()),
    pingProbe('redis', () => redis.ping()),
    eventLoopProbe(config.EVENT_LOOP_LAG_MS_MAX),
    diskProbe(parts.dataDir, config.DISK_FREE_BYTES_MIN),
    ...parts.health.probes(),
  ];
  const figures = () => parts.health.fields();
  return {
    module: class OrchestratorModule {},
    imports: [
      loggerModule(logger),
      metricsModule(),
      healthModule({ probes, clock, drainMs: config.DRAIN_MS, figures }),
    ],
    controllers: [
      ApiHealthController,
      AuditController,
      DisputeController,
      HaltController,
      IntentController,
      LedgerController,
      OrchestratorController,
      PairConfigController,
      PairController,
      ProfileController,
      ProfileLimitsController,
      ReconciliationController,
      SignalController,
      TargetsController,
      TradeController,
      TradeRecordsController,
    ],
    providers: [
      { provide: Clock, useValue: clock },
      { provide: Database, useValue: database },
      { provide: FleetKeeper, useValue: parts.keeper },
      { provide: HealthKeeper, useValue: parts.health },
      HealthMetrics,
      { provide: LifecycleKeeper, useValue: parts.lifecycle },
      { provide: ReconciliationKeeper, useValue: parts.reconciliation },
      { provide: WorkerClient, useValue: parts.workers },
    ],
  };
}
