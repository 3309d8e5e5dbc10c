import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from '#libs/config';
import { EmbeddedError } from './embedded-error.js';
import { lastLines, runProgram } from './run-program.js';

/** Servers that speak Redis' protocol and read its configuration file. */
const SERVER_NAMES = ['redis-server', 'valkey-server', 'keydb-server'];

/** redis-tools carries the server's program under another name; the others are the libraries it needs. */
const PACKAGES = ['redis-tools', 'libjemalloc2', 'liblua5.1-0', 'liblzf1', 'lua-cjson', 'lua-bitop'];

/** The server on PATH; else one fetched once into the given folder; else an error that says what to do. */
export async function provideRedisProgram(folder: string, progress: (message: string) => void): Promise<string> {
  const installed = SERVER_NAMES.map(findProgram).find((path) => path !== undefined);
  if (installed) return installed;
  if (!existsSync(folder)) {
    progress('Fetching a private Redis from the packages of this system (first start only)');
    await fetchFromPackages(folder);
  }
  return join(folder, 'redis-server');
}

async function fetchFromPackages(folder: string): Promise<void> {
  if (!findProgram('apt-get') || !findProgram('dpkg-deb')) throw redisMissing('this system has no apt-get');
  const unfinished = `${folder}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true, mode: 0o700 });
  try {
    await download(unfinished);
    for (const name of readdirSync(unfinished).filter((entry) => entry.endsWith('.deb'))) {
      await runOrThrow(['dpkg-deb', '-x', name, '.'], unfinished);
      rmSync(join(unfinished, name));
    }
    writeLauncher(unfinished);
    const { exitCode, output } = await runProgram([join(unfinished, 'redis-server'), '--version']);
    if (exitCode !== 0) throw redisMissing(`the fetched one does not run: ${lastLines(output)}`);
    renameSync(unfinished, folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

/** With the system's package lists where they are filled, else with lists of our own: neither needs root. */
async function download(folder: string): Promise<void> {
  const asIs = ['-o', 'APT::Sandbox::User=root'];
  const withSystemLists = await runProgram(['apt-get', ...asIs, 'download', ...PACKAGES], { cwd: folder });
  if (withSystemLists.exitCode === 0) return;
  const lists = join(folder, 'lists');
  for (const part of ['state/lists/partial', 'cache/archives/partial'])
    mkdirSync(join(lists, part), { recursive: true });
  const ownLists = [
    ...asIs,
    '-o',
    `Dir::State=${join(lists, 'state')}`,
    '-o',
    'Dir::State::status=/var/lib/dpkg/status',
    '-o',
    `Dir::Cache=${join(lists, 'cache')}`,
  ];
  await runOrThrow(['apt-get', ...ownLists, 'update'], folder);
  await runOrThrow(['apt-get', ...ownLists, 'download', ...PACKAGES], folder);
  rmSync(lists, { recursive: true });
}

async function runOrThrow(command: readonly [string, ...string[]], cwd: string): Promise<void> {
  const { exitCode, output } = await runProgram(command, { cwd });
  if (exitCode !== 0) throw redisMissing(`fetching one failed: ${lastLines(output)}`);
}

/** The program looks at its own name to know whether it is the server, and needs the libraries beside it. */
function writeLauncher(folder: string): void {
  symlinkSync('redis-check-rdb', join(folder, 'usr', 'bin', 'redis-server'));
  const lib = join(folder, 'usr', 'lib');
  const libraryFolders = readdirSync(lib, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const libraryPath = libraryFolders.map(({ name }) => `$here/usr/lib/${name}`).join(':');
  const script = `#!/bin/sh\nhere=$(dirname "$0")\nLD_LIBRARY_PATH="${libraryPath}" exec "$here/usr/bin/redis-server" "$@"\n`;
  writeFileSync(join(folder, 'redis-server'), script, { mode: 0o700 });
}

function redisMissing(reason: string): EmbeddedError {
  return new EmbeddedError(
    `Flotilla needs a Redis server and found none on PATH; ${reason}. ` +
      'Install one (Debian, Ubuntu: sudo apt-get install redis-server; macOS: brew install redis), or set REDIS_URL.',
  );
}
