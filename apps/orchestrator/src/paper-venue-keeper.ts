import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { childEnvironment } from '#libs/config';
import { isProcessAlive } from '#libs/embedded';
import { WorkerLogs } from '#libs/fleet';
import { assertPortFree } from '#libs/http';
import { OperatorError } from '#libs/operator';
import type { ProcessContext } from '#libs/process';

const MAIN = fileURLToPath(new URL('../../paper-venue/src/main.js', import.meta.url));
const COMMAND_PART = join('paper-venue', 'src', 'main.js');
const LOG_NAME = 'paper-venue';
const HOST = '127.0.0.1';
const START_MS_MAX = 30_000;
const LOOK_MS = 100;
const WATCH_MS = 1_000;
const RESTART_MS_MAX = 30_000;

/** What the venue writes into its folder once it listens. */
const VenueProcess = z.object({ pid: z.int(), url: z.url() });
type VenueProcess = z.infer<typeof VenueProcess>;

/**
 * The paper venue of an orchestrator without a configured venue. It runs in a session of its own, as workers do: it
 * outlives a killed orchestrator, and the next one finds it by the file that it left in its folder.
 */
export class PaperVenueKeeper {
  private readonly logs: WorkerLogs;
  private readonly stopping = new AbortController();
  private readonly childrenAlive = new Set<number>();
  private watching: Promise<void> = Promise.resolve();
  /** Kept through restarts, so that whoever knows the address finds the venue again. */
  private port: number;

  constructor(
    private readonly context: ProcessContext,
    private readonly dataDir: string,
  ) {
    this.logs = new WorkerLogs(dataDir);
    this.port = context.config.PAPER_PORT;
  }

  /** Resolves with the venue's address once it listens. */
  async start(): Promise<string> {
    const found = this.find();
    if (!found) await this.assertPortFree();
    const { url } = found ?? (await this.spawn());
    this.port = Number(new URL(url).port);
    this.watching = this.watch();
    return url;
  }

  async stop(): Promise<void> {
    await this.abandon();
    const venue = this.find();
    if (!venue) return;
    process.kill(venue.pid, 'SIGTERM');
    if (await this.isGone(venue.pid, this.context.config.SHUTDOWN_GRACE_MS)) return;
    this.context.logger.warn('The paper venue did not end in time and is killed; what it acknowledged is on its disk');
    process.kill(venue.pid, 'SIGKILL');
  }

  /** Leaves the venue to whoever took over, running. */
  async abandon(): Promise<void> {
    this.stopping.abort();
    await this.watching;
  }

  /** Starts the venue again whenever it is found dead, more and more slowly while that does not help. */
  private async watch(): Promise<void> {
    const { clock, logger } = this.context;
    let failures = 0;
    for (;;) {
      const restMs = Math.min(WATCH_MS * 2 ** failures, RESTART_MS_MAX);
      await clock.sleep(restMs, this.stopping.signal);
      if (this.stopping.signal.aborted) return;
      if (this.find()) continue;
      logger.error('The paper venue died; starting it again');
      failures = await this.spawn().then(
        () => 0,
        (error: unknown) => {
          logger.error({ err: error }, 'The paper venue could not be started again');
          return failures + 1;
        },
      );
    }
  }

  private async assertPortFree(): Promise<void> {
    await assertPortFree({ host: HOST, port: this.port }).catch((error: unknown) => {
      throw new OperatorError(
        `The paper venue cannot listen on ${HOST}:${this.port}. Stop the program that does, set PAPER_PORT to another port, or set VENUES_FILE to use your own venues.`,
        { cause: error },
      );
    });
  }

  private async spawn(): Promise<VenueProcess> {
    const { clock } = this.context;
    const log = this.logs.open(LOG_NAME);
    const child = spawn(process.execPath, ['--enable-source-maps', MAIN], {
      env: childEnvironment({ DATA_DIR: this.dataDir, PAPER_PORT: String(this.port) }),
      stdio: ['ignore', log.fd, log.fd],
      detached: true,
    });
    log.close();
    const pid = child.pid ?? 0;
    this.childrenAlive.add(pid);
    const ended = (): void => void this.childrenAlive.delete(pid);
    child.once('exit', ended).once('error', ended);
    for (let waitedMs = 0; waitedMs < START_MS_MAX && this.childrenAlive.has(pid); waitedMs += LOOK_MS) {
      const venue = this.find();
      if (venue?.pid === pid) return venue;
      await clock.sleep(LOOK_MS);
    }
    child.kill('SIGKILL');
    const said = this.logs.read(LOG_NAME, 3).join('\n');
    throw new OperatorError(
      `The paper venue did not start. Set VENUES_FILE to use your own venues, or see ${join(this.dataDir, 'logs', `${LOG_NAME}.log`)}:\n${said}`,
    );
  }

  /** The venue of this folder, if it runs. */
  private find(): VenueProcess | undefined {
    const venue = readVenueProcess(join(this.dataDir, 'paper-venue', 'process.json'));
    return venue && isProcessAlive(venue.pid, COMMAND_PART) ? venue : undefined;
  }

  private async isGone(pid: number, withinMs: number): Promise<boolean> {
    for (let waitedMs = 0; waitedMs < withinMs; waitedMs += LOOK_MS) {
      if (!isProcessAlive(pid, COMMAND_PART)) return true;
      await this.context.clock.sleep(LOOK_MS);
    }
    return false;
  }
}

function readVenueProcess(path: string): VenueProcess | undefined {
  try {
    return VenueProcess.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return undefined;
  }
}
