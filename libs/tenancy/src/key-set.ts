import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import type { Clock } from '#libs/clock';

/** Keys older than this are read again; a key that was withdrawn is accepted for no longer, while its server answers. */
const FRESH_MS = 300_000;
/** While the server does not answer, keys that are known serve on for this long. */
const STALE_MS_MAX = 3_600_000;
/** A token with an unknown key makes us look for it, but no more often than this: anybody can send such tokens. */
const REREAD_MS = 10_000;
const RETRY_MS = 1_000;
const READ_TIMEOUT_MS = 3_000;
const BYTES_MAX = 1_048_576;

/** It is not known whether the token is right, as its keys cannot be read. */
export class KeysUnavailable extends Error {
  constructor(
    url: string,
    readonly retryAfterMs: number,
    cause: unknown,
  ) {
    super(`The keys at ${url} cannot be read (${explain(cause)}).`, { cause });
    this.name = 'KeysUnavailable';
  }
}

type FindKey = ReturnType<typeof createLocalJWKSet>;

/** Public keys that another server publishes, kept and read again in time. */
export class RemoteKeySet {
  private known: { readonly find: FindKey; readonly readAt: number } | undefined;
  private failure: { readonly error: unknown; readonly at: number } | undefined;
  private reading: Promise<void> | undefined;

  constructor(
    private readonly url: string,
    private readonly clock: Clock,
    private readonly observer: { failed(error: Error): void },
  ) {}

  /** The key of a token. Rejects with KeysUnavailable when that cannot be told, and in jose's way when there is none. */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    if (this.ageMs() >= FRESH_MS) {
      await this.read().catch((error: unknown) => {
        if (this.ageMs() >= STALE_MS_MAX) throw error;
      });
    }
    try {
      return await this.current()(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
    }
    if (this.failure || this.ageMs() >= REREAD_MS) await this.read();
    return this.current()(header, token);
  };

  /** One at a time; after a failure, not at once again. */
  private read(): Promise<void> {
    const waitMs = this.failure ? this.failure.at + RETRY_MS - this.clock.monotonic() : 0;
    if (this.failure && waitMs > 0) return Promise.reject(new KeysUnavailable(this.url, waitMs, this.failure.error));
    this.reading ??= this.readNow().finally(() => (this.reading = undefined));
    return this.reading;
  }

  private async readNow(): Promise<void> {
    try {
      this.known = { find: createLocalJWKSet(await this.fetch()), readAt: this.clock.monotonic() };
      this.failure = undefined;
    } catch (error) {
      this.failure = { error, at: this.clock.monotonic() };
      const unavailable = new KeysUnavailable(this.url, RETRY_MS, error);
      this.observer.failed(unavailable);
      throw unavailable;
    }
  }

  private async fetch(): Promise<JSONWebKeySet> {
    const isRead = new AbortController();
    const isLate = new AbortController();
    void this.clock.sleep(READ_TIMEOUT_MS, isRead.signal).then(() => {
      if (!isRead.signal.aborted) isLate.abort(new Error(`no answer within ${READ_TIMEOUT_MS} ms`));
    });
    try {
      const answer = await fetch(this.url, {
        signal: isLate.signal,
        redirect: 'error',
        headers: { accept: 'application/json' },
      });
      if (answer.status !== 200) throw new Error(`the answer is ${answer.status}`);
      return JSON.parse(await boundedText(answer)) as JSONWebKeySet;
    } finally {
      isRead.abort();
    }
  }

  private ageMs(): number {
    return this.known ? this.clock.monotonic() - this.known.readAt : Number.POSITIVE_INFINITY;
  }

  private current(): FindKey {
    if (!this.known) throw new Error('Invariant: keys were read before they are used');
    return this.known.find;
  }
}

async function boundedText(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > BYTES_MAX) throw new Error(`the answer is longer than ${BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The reason of a failed fetch is one level down. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error && cause.message ? cause.message : error.message;
}
