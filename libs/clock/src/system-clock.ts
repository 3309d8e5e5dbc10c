import { Clock } from './clock.js';

/** Node turns a longer timeout into one of 1 ms. */
const TIMEOUT_MS_MAX = 2 ** 31 - 1;

export class SystemClock extends Clock {
  now(): number {
    return Date.now();
  }

  monotonic(): number {
    return performance.now();
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    if (!(delayMs >= 0 && delayMs <= TIMEOUT_MS_MAX)) {
      return Promise.reject(new RangeError(`Expected a delay between 0 and ${TIMEOUT_MS_MAX} ms, got ${delayMs}.`));
    }
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const wake = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      const timer = setTimeout(wake, delayMs);
      signal?.addEventListener('abort', wake);
    });
  }
}
