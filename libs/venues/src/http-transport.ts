import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

/** Enough for a worker; requests beyond wait for a connection. */
const SOCKETS_MAX = 64;
const BODY_BYTES_MAX = 64 * 2 ** 20;

const agents = {
  'http:': new HttpAgent({ keepAlive: true, maxSockets: SOCKETS_MAX }),
  'https:': new HttpsAgent({ keepAlive: true, maxSockets: SOCKETS_MAX }),
};

export interface HttpCall {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal: AbortSignal;
}

/** As much of a Response as the client libraries look at. */
export interface HttpAnswer {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Readonly<Record<string, string>>;
  text(): Promise<string>;
}

/**
 * One request, one answer, read whole: no redirection is followed, because keys would go with it, and nothing is
 * tried again. Costs a quarter of what fetch does, which is most of what an adapter costs.
 */
export async function exchangeOnce(url: string, call: HttpCall): Promise<HttpAnswer> {
  const response = await send(url, call);
  const status = response.statusCode ?? 0;
  if (status >= 300 && status < 400) {
    response.destroy();
    throw new TypeError(`The venue redirects with ${status}; that is not followed.`);
  }
  const body = await readWhole(response);
  const headers = Object.fromEntries(
    Object.entries(response.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  );
  return { status, statusText: response.statusMessage ?? '', headers, text: () => Promise.resolve(body) };
}

function send(url: string, { method, headers, body, signal }: HttpCall): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(new DOMException('nothing was sent', 'AbortError'));
    const isPlain = url.startsWith('http:');
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const options = {
      method,
      agent: agents[isPlain ? 'http:' : 'https:'],
      headers: { ...headers, ...length, 'accept-encoding': 'identity' },
      signal,
    };
    const request = isPlain ? httpRequest(url, options, resolve) : httpsRequest(url, options, resolve);
    request.once('error', reject);
    request.end(body);
  });
}

function readWhole(response: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => {
      text += chunk;
      if (text.length > BODY_BYTES_MAX) response.destroy(new Error(`an answer of more than ${BODY_BYTES_MAX} bytes`));
    });
    response.once('end', () => (response.complete ? resolve(text) : reject(new Error('the answer was cut off'))));
    response.once('error', reject);
  });
}
