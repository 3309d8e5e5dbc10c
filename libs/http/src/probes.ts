import { statfs } from 'node:fs/promises';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { HealthProbe } from './health-probe.js';

const NS_PER_MS = 1e6;
const RESOLUTION_MS = 20;

/** Red when the server does not answer. */
export function pingProbe(name: string, ping: () => Promise<unknown>): HealthProbe {
  return {
    name,
    check: async () => {
      await ping();
      return {};
    },
  };
}

/** Red when, since the last look, the event loop was late by more than this. */
export function eventLoopProbe(lagMsMax: number): HealthProbe {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  return {
    name: 'eventLoop',
    check: async () => {
      const lagMs = Math.max(0, Math.round(histogram.max / NS_PER_MS) - RESOLUTION_MS);
      histogram.reset();
      if (lagMs > lagMsMax) throw new Error(`The event loop was late by ${lagMs} ms; ${lagMsMax} ms are allowed.`);
      return { lagMs };
    },
  };
}

export function diskProbe(path: string, freeBytesMin: number): HealthProbe {
  return {
    name: 'disk',
    check: async () => {
      const { bavail, bsize } = await statfs(path);
      const freeBytes = bavail * bsize;
      if (freeBytes < freeBytesMin)
        throw new Error(`${freeBytes} bytes are free at ${path}; ${freeBytesMin} are needed.`);
      return { freeBytes };
    },
  };
}
