import type { Clock } from '#libs/clock';
import type { HttpApp } from './http-app.js';

/** Takes the application down: readiness red, a pause, listener closed, requests in flight finished or cut off. */
export async function closeWithin(app: HttpApp, options: { graceMs: number; clock: Clock }): Promise<void> {
  const closed = new AbortController();
  const closing = app.close().finally(() => closed.abort());
  await options.clock.sleep(options.graceMs, closed.signal);
  if (!closed.signal.aborted) app.getHttpServer().closeAllConnections();
  await closing;
}
