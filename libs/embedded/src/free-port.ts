import { createServer } from 'node:net';
import type { Clock } from '#libs/clock';
import { EmbeddedError } from './embedded-error.js';

const POLL_MS = 20;
const FREED_WITHIN_MS = 10_000;

/**
 * Waits for a port that belonged to a server of ours. The kernel takes a moment to close what a killed process held,
 * and a server that comes back elsewhere would be lost to everybody who knows its address.
 */
export async function waitForPort(port: number, clock: Clock): Promise<number> {
  const deadline = clock.monotonic() + FREED_WITHIN_MS;
  while ((await tryListen(port)) === undefined) {
    if (clock.monotonic() > deadline)
      throw new EmbeddedError(`Port ${port} was taken by another program. Stop that program.`);
    await clock.sleep(POLL_MS);
  }
  return port;
}

/** A loopback port that is free now: the preferred one if it is, else any. */
export async function findFreePort(preferred?: number): Promise<number> {
  if (preferred !== undefined && (await tryListen(preferred))) return preferred;
  const port = await tryListen(0);
  if (port === undefined) throw new Error('Expected the system to have a free loopback port.');
  return port;
}

function tryListen(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ port, host: '127.0.0.1' }, () => {
      const address = server.address();
      const bound = typeof address === 'object' && address ? address.port : undefined;
      server.close(() => resolve(bound));
    });
  });
}
