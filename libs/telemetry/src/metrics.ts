import type { DynamicModule } from '@nestjs/common';
import { PrometheusModule } from '@willsoto/nestjs-prometheus';
import { Gauge } from 'prom-client';
import { buildInfo } from './build-info.js';

/** Serves /metrics: the usual figures of a Node process under their usual names, and ours with the prefix flotilla_. */
export function metricsModule(): DynamicModule {
  new Gauge({
    name: 'flotilla_build_info',
    help: 'Always 1; the labels say what runs.',
    labelNames: ['version', 'node'],
  }).set({ ...buildInfo() }, 1);
  return PrometheusModule.register({ path: '/metrics', global: true });
}
