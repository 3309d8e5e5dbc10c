import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import type { Clock } from '#libs/clock';
import { EmbeddedError } from './embedded-error.js';
import { findFreePort, waitForPort } from './free-port.js';
import { loadPostgresPrograms, POSTGRES_MAJOR, type PostgresPrograms } from './postgres-programs.js';
import { isProcessAlive } from './process-alive.js';
import { lastLines, runProgram } from './run-program.js';
import { readOrCreateSecret } from './secret-file.js';
import { commandAs, giveTo, unprivilegedUser } from './unprivileged.js';

const DATABASE = 'flotilla';
const LOGIN_ROLE = 'flotilla';
const SUPERUSER = 'postgres';
/** Recovery after a crash replays the write-ahead log, which takes long when the last checkpoint is far away. */
const START_TIMEOUT_S = 300;
/** What a killed server leaves is gone within a second, but on a busy machine that second is long. */
const REMAINS_MS_MAX = 30_000;
const START_PAUSE_MS = 300;
const STOP_TIMEOUT_S = 60;
const CONNECT_TIMEOUT_MS = 10_000;

/** A Postgres of our own under DATA_DIR/postgres. It outlives a killed orchestrator; the next one finds it. */
export class PostgresServer {
  private readonly folder: string;
  private readonly dataFolder: string;
  private readonly user = unprivilegedUser();
  private port: number | undefined;

  constructor(
    dataDir: string,
    private readonly clock: Clock,
    private readonly progress: (message: string) => void,
  ) {
    this.folder = join(dataDir, 'postgres');
    this.dataFolder = join(this.folder, 'data');
  }

  /** Starts the server unless it runs, and returns the URL of the application's database. */
  async start(): Promise<string> {
    const programs = await loadPostgresPrograms();
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    const passwords = {
      superuser: readOrCreateSecret(join(this.folder, 'superuser-password')),
      login: readOrCreateSecret(join(this.folder, 'login-password')),
    };
    giveTo(this.user, this.folder);
    if (existsSync(this.dataFolder)) this.refuseOtherMajor();
    else await this.initialise(programs);

    if (!(await this.isUsable(passwords.superuser))) await this.launch(programs);
    await this.provideDatabase(passwords);
    return databaseUrl(this.port, passwords.login);
  }

  /** Where a running server is reached; undefined when none runs. */
  findUrl(): string | undefined {
    if (!this.isRunning()) return undefined;
    return databaseUrl(this.readPidFile()?.port, readOrCreateSecret(join(this.folder, 'login-password')));
  }

  isRunning(): boolean {
    const pid = this.readPidFile()?.pid;
    return pid !== undefined && isProcessAlive(pid, this.dataFolder);
  }

  async stop(): Promise<void> {
    if (!this.isRunning()) return;
    const { ctl } = await loadPostgresPrograms();
    const command = [ctl, 'stop', '-D', this.dataFolder, '-m', 'fast', '-w', '-t', String(STOP_TIMEOUT_S)] as const;
    const { exitCode, output } = await runProgram(commandAs(this.user, command), { cwd: this.folder });
    if (exitCode !== 0 && this.isRunning()) {
      throw new EmbeddedError(`The private Postgres in ${this.dataFolder} did not stop: ${lastLines(output)}`);
    }
  }

  /** Fills a folder beside the final one and renames it, so that a start cut short never leaves half a database. */
  private async initialise(programs: PostgresPrograms): Promise<void> {
    this.progress('Creating a private Postgres (first start only)');
    const unfinished = `${this.dataFolder}.unfinished`;
    rmSync(unfinished, { recursive: true, force: true });
    const command = [
      programs.initdb,
      `--pgdata=${unfinished}`,
      `--username=${SUPERUSER}`,
      `--pwfile=${join(this.folder, 'superuser-password')}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
    ] as const;
    const { exitCode, output } = await runProgram(commandAs(this.user, command), { cwd: this.folder });
    if (exitCode !== 0) {
      rmSync(unfinished, { recursive: true, force: true });
      throw new EmbeddedError(`A private Postgres could not be created in ${this.folder}: ${lastLines(output)}`);
    }
    // Relative to the file that includes it, so that the folder can be moved.
    appendFileSync(join(unfinished, 'postgresql.conf'), "include '../settings.conf'\n");
    renameSync(unfinished, this.dataFolder);
  }

  private refuseOtherMajor(): void {
    const versionPath = join(this.dataFolder, 'PG_VERSION');
    const major = existsSync(versionPath) ? readFileSync(versionPath, 'utf8').trim() : 'none';
    if (major === POSTGRES_MAJOR) return;
    throw new EmbeddedError(
      `${this.dataFolder} holds data of Postgres ${major}, and Flotilla brings Postgres ${POSTGRES_MAJOR}. Nothing was changed. ` +
        `Move the data over with pg_dump of version ${major}, or set DATA_DIR to a new folder.`,
    );
  }

  /** A server left over from a killed orchestrator serves on; one that does not answer is replaced. */
  private async isUsable(password: string): Promise<boolean> {
    if (!this.isRunning()) return false;
    this.port = this.readPidFile()?.port;
    try {
      await withClient(this.superuserClient(password), async () => {});
      this.progress(`Reusing the private Postgres that still runs on port ${this.port}`);
      return true;
    } catch {
      this.progress('Replacing a private Postgres that does not answer');
      await this.stop();
      return false;
    }
  }

  private async launch(programs: PostgresPrograms): Promise<void> {
    const port = await (this.port === undefined
      ? findFreePort(this.readPortFile())
      : waitForPort(this.port, this.clock));
    writeFileSync(this.settingsPath, serverSettings(port), { mode: 0o600 });
    giveTo(this.user, this.folder);
    const startLog = join(this.folder, 'start.log');
    rmSync(startLog, { force: true });
    const command = [
      programs.ctl,
      'start',
      `--pgdata=${this.dataFolder}`,
      '--wait',
      `--timeout=${START_TIMEOUT_S}`,
      `--log=${startLog}`,
    ] as const;
    // A killed server is in the way of the next for a moment: its process until it is collected, its memory until its
    // children have noticed. One that was stopped leaves nothing, so then a failure is a failure.
    const wasKilled = existsSync(this.pidPath);
    const deadline = this.clock.monotonic() + REMAINS_MS_MAX;
    for (;;) {
      const { exitCode, output } = await runProgram(commandAs(this.user, command), { cwd: this.folder });
      if (exitCode === 0) break;
      if (!wasKilled || this.clock.monotonic() > deadline) {
        const reason = existsSync(startLog) ? readFileSync(startLog, 'utf8') : output;
        throw new EmbeddedError(`The private Postgres in ${this.dataFolder} did not start: ${lastLines(reason)}`);
      }
      await this.clock.sleep(START_PAUSE_MS);
    }
    this.port = port;
  }

  /** The application's login may make the roles it needs and owns its database, but is no superuser. */
  private async provideDatabase(passwords: { superuser: string; login: string }): Promise<void> {
    await withClient(this.superuserClient(passwords.superuser), async (client) => {
      const role = await client.query('select from pg_roles where rolname = $1', [LOGIN_ROLE]);
      if (role.rowCount === 0) await client.query(`create role ${LOGIN_ROLE} login createrole`);
      await client.query(`alter role ${LOGIN_ROLE} password ${client.escapeLiteral(passwords.login)}`);
      const database = await client.query('select from pg_database where datname = $1', [DATABASE]);
      if (database.rowCount === 0) await client.query(`create database ${DATABASE} owner ${LOGIN_ROLE}`);
    });
  }

  private superuserClient(password: string): Client {
    return new Client({
      host: '127.0.0.1',
      ...(this.port !== undefined && { port: this.port }),
      user: SUPERUSER,
      password,
      database: 'postgres',
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: CONNECT_TIMEOUT_MS,
    });
  }

  /** The first and the fourth line of Postgres' own file: process id and port. */
  private readPidFile(): { pid: number; port: number } | undefined {
    if (!existsSync(this.pidPath)) return undefined;
    const lines = readFileSync(this.pidPath, 'utf8').split('\n');
    return { pid: Number(lines[0]), port: Number(lines[3]) };
  }

  /** The port of the last run, so that whoever remembers the URL finds the server again. */
  private readPortFile(): number | undefined {
    const settings = existsSync(this.settingsPath) ? readFileSync(this.settingsPath, 'utf8') : '';
    const port = /^port = (\d+)$/m.exec(settings)?.[1];
    return port === undefined ? undefined : Number(port);
  }

  private get pidPath(): string {
    return join(this.dataFolder, 'postmaster.pid');
  }

  private get settingsPath(): string {
    return join(this.folder, 'settings.conf');
  }
}

function serverSettings(port: number): string {
  return [
    `port = ${port}`,
    "listen_addresses = '127.0.0.1'",
    "unix_socket_directories = ''",
    'max_connections = 500',
    'max_logical_replication_workers = 0',
    `shared_buffers = ${bufferMb()}MB`,
    // Log files are used again instead of being made anew, which would hold up every commit for a while.
    'min_wal_size = 512MB',
    'max_wal_size = 4GB',
    // A week of daily files, each overwritten by its successor.
    'logging_collector = on',
    "log_directory = '../log'",
    "log_filename = 'postgres-%a.log'",
    'log_truncate_on_rotation = on',
    '',
  ].join('\n');
}

/** An eighth of the memory: indexes of the journal should stay in it. Postgres takes it as it is used. */
function bufferMb(): number {
  const eighth = Math.floor(totalmem() / 8 / 1_048_576);
  return Math.min(1_024, Math.max(128, eighth));
}

function databaseUrl(port: number | undefined, password: string): string {
  return `postgres://${LOGIN_ROLE}:${password}@127.0.0.1:${port}/${DATABASE}`;
}

async function withClient(client: Client, work: (client: Client) => Promise<void>): Promise<void> {
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
