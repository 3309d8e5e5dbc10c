import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { launch, mainOf, startApp, temporaryFolder, type Started } from './process.js';

export const PAPER_CREDENTIALS = { key: 'paper', secret: 'paper-secret' };

/** A paper venue in a process of its own, on a port that it keeps through restarts. */
export class PaperVenue {
  private constructor(
    readonly env: Record<string, string>,
    private process: Started,
    readonly url: string,
  ) {}

  static async start(env: Record<string, string> = {}): Promise<PaperVenue> {
    const settings = { DATA_DIR: temporaryFolder(), PAPER_PORT: '0', LOG_LEVEL: 'warn', ...env };
    return PaperVenue.of(startApp('paper-venue', { env: settings }), settings);
  }

  /** Left running at the end of a test. */
  static async launch(dataDir: string): Promise<PaperVenue> {
    const settings = { DATA_DIR: dataDir, PAPER_PORT: '0', LOG_LEVEL: 'warn' };
    return PaperVenue.of(launch(process.execPath, [mainOf('paper-venue')], settings), settings);
  }

  private static async of(started: Started, settings: Record<string, string>): Promise<PaperVenue> {
    const url = (await started.says(/http:\/\/127\.0\.0\.1:\d+/))[0];
    return new PaperVenue({ ...settings, PAPER_PORT: new URL(url).port }, started, url);
  }

  get pid(): number {
    return this.process.pid;
  }

  get output(): string {
    return this.process.output;
  }

  /** Calls a control route and returns the answer's body; rejects with it unless the answer is a success. */
  async control<T = unknown>(method: string, path: string, body?: unknown): Promise<T> {
    const answer = await this.request(method, path, body);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }

  request(method: string, path: string, body?: unknown): Promise<Response> {
    return fetch(`${this.url}${path}`, {
      method,
      ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
  }

  /** Every order that the venue accepted, oldest first. */
  async orders(): Promise<PaperOrder[]> {
    return (await this.control<{ items: PaperOrder[] }>('GET', '/paper/orders')).items;
  }

  kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    return this.process.stop(signal);
  }

  /** Starts again what was killed, on the same port and store. */
  async restart(): Promise<void> {
    await this.process.stop();
    this.process = startApp('paper-venue', { env: this.env });
    await this.process.says(/Paper venue on/);
  }
}

export interface PaperOrder {
  readonly id: string;
  readonly clientOrderId: string;
  readonly symbol: string;
  readonly side: string;
  readonly quantity: string;
  readonly filledQuantity: string;
  readonly filledNotional: string;
  readonly status: string;
}

/** Stopped when the test ends. */
export async function startPaperVenue(env?: Record<string, string>): Promise<PaperVenue> {
  const venue = await PaperVenue.start(env);
  onTestFinished(async () => void (await venue.kill('SIGKILL')));
  return venue;
}

/** One for all tests of a file, because starting it takes longer than most of them; each looks at its own orders only. */
export function paperVenueOfFile(): () => PaperVenue {
  const dataDir = mkdtempSync(join(tmpdir(), 'flotilla-venue-'));
  const started: PaperVenue[] = [];
  beforeAll(async () => void started.push(await PaperVenue.launch(dataDir)));
  afterAll(async () => {
    for (const venue of started) await venue.kill();
    rmSync(dataDir, { recursive: true, force: true });
  });
  return () => {
    const [venue] = started;
    if (!venue) throw new Error('Expected to be asked in a test.');
    return venue;
  };
}
