export { guardApi } from './src/api-guard.js';
export { CallerOf } from './src/caller.js';
export { closeWithin } from './src/close.js';
export { createHttpApp, type HttpApp } from './src/http-app.js';
export type { HealthProbe } from './src/health-probe.js';
export { healthModule } from './src/health.module.js';
export { assertPortFree, listen } from './src/listen.js';
export { diskProbe, eventLoopProbe, pingProbe } from './src/probes.js';
export { Refusal } from './src/refusal.js';
