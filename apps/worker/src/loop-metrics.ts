import { Counter, Gauge, Histogram } from 'prom-client';
import type { Loop, LoopObserver, LoopState } from '#libs/supervision';

const DURATION_BUCKETS_S = [0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** How the loops fare, for alerts: counted as they run, and looked at when somebody scrapes. One for each process. */
export class LoopMetrics implements LoopObserver {
  private readonly duration = new Histogram({
    name: 'flotilla_loop_duration_seconds',
    help: 'Duration of a run of a loop.',
    labelNames: ['loop'],
    buckets: DURATION_BUCKETS_S,
  });
  private readonly failures = new Counter({
    name: 'flotilla_loop_failures_total',
    help: 'Runs of a loop that failed.',
    labelNames: ['loop'],
  });

  ran(loop: string, { durationMs, error }: { readonly durationMs: number; readonly error?: unknown }): void {
    this.duration.observe({ loop }, durationMs / 1000);
    if (error !== undefined) this.failures.inc({ loop });
  }

  watch(loops: readonly Loop[]): void {
    // A counter that is there from the start lets an alert see its first step.
    for (const { name } of loops) {
      this.failures.inc({ loop: name }, 0);
      this.duration.zero({ loop: name });
    }
    const gauge = (name: string, help: string, value: (state: LoopState) => number | undefined): void => {
      new Gauge({
        name,
        help,
        labelNames: ['loop'],
        collect() {
          for (const loop of loops) {
            const current = value(loop.state());
            if (current !== undefined) this.set({ loop: loop.name }, current);
          }
        },
      });
    };
    gauge('flotilla_loop_last_run_timestamp_seconds', 'When the last run of a loop ended.', ({ lastRunAt }) =>
      lastRunAt === undefined ? undefined : lastRunAt / 1000,
    );
    gauge(
      'flotilla_loop_healthy',
      'Whether the last good run of a loop ended less than twice its interval ago.',
      ({ isHealthy }) => Number(isHealthy),
    );
    gauge('flotilla_loop_interval_seconds', 'Time between two runs of a loop.', ({ intervalMs }) => intervalMs / 1000);
  }
}
