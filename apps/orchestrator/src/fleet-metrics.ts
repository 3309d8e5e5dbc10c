import { Counter, Gauge, Histogram } from 'prom-client';
import type { Clock } from '#libs/clock';
import type { Fleet, FleetBoard } from '#libs/fleet';

const START_BUCKETS_S = [0.25, 0.5, 1, 2, 5, 10, 30, 60];
const TICK_BUCKETS_S = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10];

export class FleetMetrics {
  readonly restarts = new Counter({
    name: 'flotilla_worker_restarts_total',
    help: 'Processes of workers started again, by reason.',
    labelNames: ['reason'],
  });
  readonly spawnToHealthy = new Histogram({
    name: 'flotilla_worker_spawn_to_healthy_seconds',
    help: 'Time from starting a worker to its first heartbeat being seen.',
    buckets: START_BUCKETS_S,
  });
  readonly tickDuration = new Histogram({
    name: 'flotilla_fleet_tick_duration_seconds',
    help: 'Duration of a tick of the fleet.',
    buckets: TICK_BUCKETS_S,
  });
  readonly tickOverruns = new Counter({
    name: 'flotilla_fleet_tick_overruns_total',
    help: 'Ticks that took longer than the time between two ticks.',
  });
  readonly renewalsLost = new Counter({
    name: 'flotilla_lock_renewals_lost_total',
    help: "Renewals of the orchestrator's lock that Redis did not confirm, by outcome.",
    labelNames: ['outcome'],
  });
  readonly controlMalformed = new Counter({
    name: 'flotilla_control_messages_malformed_total',
    help: 'Messages on the control channel that make no sense.',
  });

  constructor(fleet: Fleet, board: FleetBoard, clock: Clock) {
    // A counter that is there from the start lets an alert see its first step.
    for (const reason of ['restart', 'changed', 'backoff']) this.restarts.inc({ reason }, 0);
    for (const outcome of ['lost', 'unreachable']) this.renewalsLost.inc({ outcome }, 0);
    new Gauge({
      name: 'flotilla_workers',
      help: 'Workers by state.',
      labelNames: ['state'],
      collect() {
        this.reset();
        for (const state of ['running', 'starting', 'stopping', 'waiting', 'given-up']) this.set({ state }, 0);
        for (const worker of fleet.list()) this.inc({ state: stateOf(worker) });
      },
    });
    new Gauge({
      name: 'flotilla_worker_heartbeat_age_seconds',
      help: 'Time since the last heartbeat of a worker.',
      labelNames: ['worker'],
      async collect() {
        this.reset();
        const reports = await board.report(fleet.list().map(({ id }) => id)).catch(() => new Map<string, never>());
        for (const [worker, { heartbeatAt }] of reports) {
          if (heartbeatAt !== undefined) this.set({ worker }, (clock.now() - heartbeatAt) / 1000);
        }
      },
    });
  }
}

/** One word for how a worker fares, in metrics and answers alike. */
export function stateOf(worker: ReturnType<Fleet['list']>[number]): string {
  if (!worker.process) return worker.hasGivenUp ? 'given-up' : 'waiting';
  if (worker.stopping) return 'stopping';
  return worker.isHealthy ? 'running' : 'starting';
}
