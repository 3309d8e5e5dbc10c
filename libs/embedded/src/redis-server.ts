import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { bareEnvironment } from '#libs/config';
import type { Clock } from '#libs/clock';
import { EmbeddedError } from './embedded-error.js';
import { findFreePort, waitForPort } from './free-port.js';
import { isProcessAlive } from './process-alive.js';
import { provideRedisProgram } from './redis-program.js';
import { lastLines } from './run-program.js';
import { readOrCreateSecret } from './secret-file.js';

const POLL_MS = 20;
const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 10_000;
const ANSWER_TIMEOUT_MS = 2_000;

/** A Redis of our own under DATA_DIR/redis. It outlives a killed orchestrator; the next one finds it. */
export class RedisServer {
  private readonly folder: string;
  private port: number | undefined;

  constructor(
    dataDir: string,
    private readonly clock: Clock,
    private readonly progress: (message: string) => void,
  ) {
    this.folder = join(dataDir, 'redis');
  }

  /** Starts the server unless it runs, and returns its URL. */
  async start(): Promise<string> {
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    const password = readOrCreateSecret(join(this.folder, 'password'));
    this.port = (await this.isUsable(password)) ? this.readPort() : await this.launch(password);
    return redisUrl(this.port, password);
  }

  /** Where a running server is reached; undefined when none runs. */
  findUrl(): string | undefined {
    if (!this.isRunning()) return undefined;
    return redisUrl(this.readPort(), readOrCreateSecret(join(this.folder, 'password')));
  }

  isRunning(): boolean {
    const pid = this.readPid();
    return pid !== undefined && this.isAlive(pid);
  }

  async stop(): Promise<void> {
    const pid = this.readPid();
    if (pid === undefined) return;
    // SIGTERM makes Redis write what it holds and leave.
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (this.isAlive(pid)) process.kill(pid, signal);
      if (await this.until(() => !this.isAlive(pid), STOP_TIMEOUT_MS)) break;
    }
    rmSync(this.pidPath, { force: true });
  }

  /** A server left over from a killed orchestrator serves on; one that does not answer is replaced. */
  private async isUsable(password: string): Promise<boolean> {
    const port = this.readPort();
    if (!this.isRunning() || port === undefined) return false;
    if (await answers(port, password)) {
      this.progress(`Reusing the private Redis that still runs on port ${port}`);
      return true;
    }
    this.progress('Replacing a private Redis that does not answer');
    await this.stop();
    return false;
  }

  private async launch(password: string): Promise<number> {
    const program = await provideRedisProgram(join(this.folder, 'program'), this.progress);
    const port = await (this.port === undefined ? findFreePort(this.readPort()) : waitForPort(this.port, this.clock));
    const configPath = join(this.folder, 'redis.conf');
    writeFileSync(configPath, configuration({ port, password, folder: this.folder }), { mode: 0o600 });
    rmSync(this.logPath, { force: true });
    // A session of its own: Ctrl-C in the terminal must reach the orchestrator only, which stops its servers last.
    const child = spawn(program, [configPath], {
      cwd: this.folder,
      env: bareEnvironment(),
      stdio: 'ignore',
      detached: true,
    });
    child.once('error', () => undefined);
    child.unref();
    if (!(await this.becomesReady(child, port, password))) {
      const log = existsSync(this.logPath) ? readFileSync(this.logPath, 'utf8') : '';
      throw new EmbeddedError(`The private Redis in ${this.folder} did not start: ${lastLines(log) || program}`);
    }
    return port;
  }

  private async becomesReady(child: ChildProcess, port: number, password: string): Promise<boolean> {
    const hasEnded = (): boolean => child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
    const settled = await this.until(async () => hasEnded() || (await answers(port, password)), START_TIMEOUT_MS);
    return settled && !hasEnded();
  }

  private async until(condition: () => boolean | Promise<boolean>, timeoutMs: number): Promise<boolean> {
    const deadline = this.clock.monotonic() + timeoutMs;
    while (!(await condition())) {
      if (this.clock.monotonic() > deadline) return false;
      await this.clock.sleep(POLL_MS);
    }
    return true;
  }

  /** Redis shows its address in place of its command line. */
  private isAlive(pid: number): boolean {
    return isProcessAlive(pid, `127.0.0.1:${this.readPort()}`);
  }

  private get pidPath(): string {
    return join(this.folder, 'redis.pid');
  }

  private get logPath(): string {
    return join(this.folder, 'redis.log');
  }

  private readPid(): number | undefined {
    const text = existsSync(this.pidPath) ? readFileSync(this.pidPath, 'utf8').trim() : '';
    return text === '' ? undefined : Number(text);
  }

  /** The port of the last run, so that whoever remembers the URL finds the server again. */
  private readPort(): number | undefined {
    const path = join(this.folder, 'redis.conf');
    const port = existsSync(path) ? /^port (\d+)$/m.exec(readFileSync(path, 'utf8'))?.[1] : undefined;
    return port === undefined ? undefined : Number(port);
  }
}

function configuration(server: { port: number; password: string; folder: string }): string {
  return [
    'bind 127.0.0.1',
    `port ${server.port}`,
    `requirepass ${server.password}`,
    `dir ${JSON.stringify(server.folder)}`,
    `pidfile ${JSON.stringify(join(server.folder, 'redis.pid'))}`,
    `logfile ${JSON.stringify(join(server.folder, 'redis.log'))}`,
    'save ""',
    // Locks and flags survive a restart of Redis; nothing that must not be lost lives there.
    'appendonly yes',
    'appendfsync everysec',
    'maxmemory-policy noeviction',
    '',
  ].join('\n');
}

function redisUrl(port: number | undefined, password: string): string {
  return `redis://:${password}@127.0.0.1:${port}`;
}

async function answers(port: number, password: string): Promise<boolean> {
  const client = new Redis({
    host: '127.0.0.1',
    port,
    password,
    lazyConnect: true,
    connectTimeout: ANSWER_TIMEOUT_MS,
    commandTimeout: ANSWER_TIMEOUT_MS,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
  });
  // Without a listener, ioredis prints refused connections, which are expected here.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.ping();
    return true;
  } catch {
    return false;
  } finally {
    client.disconnect();
  }
}
