import { createServer } from 'node:net';
import { OperatorError } from '#libs/operator';
import type { HttpApp } from './http-app.js';

export class ListenError extends OperatorError {
  constructor(at: { host: string; port: number }, cause: unknown) {
    super(describe(at, cause), { cause });
  }
}

/** Opens the listener and returns the address that it is reached at. */
export async function listen(app: HttpApp, at: { host: string; port: number }): Promise<string> {
  try {
    await app.listen({ host: at.host, port: at.port });
  } catch (error) {
    throw new ListenError(at, error);
  }
  const address = app.getHttpServer().address();
  const port = typeof address === 'object' && address ? address.port : at.port;
  const host = at.host.includes(':') ? `[${at.host}]` : at.host;
  return `http://${host}:${port}`;
}

/** Rejects when the listener could not be opened, for those who want to know before they do something expensive. */
export async function assertPortFree(at: { host: string; port: number }): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(new ListenError(at, error)));
    server.listen(at, () => server.close(() => resolve()));
  });
}

function describe({ host, port }: { host: string; port: number }, cause: unknown): string {
  const code: unknown = cause instanceof Error ? Reflect.get(cause, 'code') : undefined;
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} on ${host} is taken by another program. Stop that program, or set PORT to another port.`;
    case 'EACCES':
      return `This user may not listen on port ${port}. Set PORT to one above 1023.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${host} is no address of this machine. Correct HOST.`;
    default:
      return `Listening on ${host}:${port} failed (${String(cause)}).`;
  }
}
