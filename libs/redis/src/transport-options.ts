const RETRY_DELAY_MS = 1_000;

interface TransportOptions {
  readonly host: string;
  readonly port: number;
  readonly username?: string;
  readonly password?: string;
  readonly db?: number;
  readonly tls?: object;
  readonly retryAttempts: number;
  readonly retryDelay: number;
}

/** A Redis URL in the shape that Nest's transport takes; it tries again for ever. */
export function transportOptions(url: string): TransportOptions {
  const { hostname, port, username, password, pathname, protocol } = new URL(url);
  return {
    host: hostname,
    port: Number(port || 6379),
    ...(username && { username: decodeURIComponent(username) }),
    ...(password && { password: decodeURIComponent(password) }),
    ...(pathname.length > 1 && { db: Number(pathname.slice(1)) }),
    ...(protocol === 'rediss:' && { tls: {} }),
    retryAttempts: Number.MAX_SAFE_INTEGER,
    retryDelay: RETRY_DELAY_MS,
  };
}
