import { accessSync, constants, mkdirSync, statfsSync } from 'node:fs';
import { resolve } from 'node:path';
import { EmbeddedError, errnoOf } from './embedded-error.js';

/** Makes the folder that holds everything of one installation, or says why it cannot serve. Returns its full path. */
export function prepareDataDirectory(dataDir: string, freeBytesMin: number): string {
  const path = resolve(dataDir);
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new EmbeddedError(
      `DATA_DIR ${path} is not writable (${errnoOf(error) ?? String(error)}). Give this user access to it, or set DATA_DIR to another folder.`,
      { cause: error },
    );
  }
  const freeBytes = freeBytesOf(path);
  if (freeBytes < freeBytesMin) {
    throw new EmbeddedError(
      `DATA_DIR ${path} has ${mib(freeBytes)} MiB of space left and needs ${mib(freeBytesMin)} MiB (DISK_FREE_BYTES_MIN). Free some, or set DATA_DIR to another disk.`,
    );
  }
  return path;
}

function freeBytesOf(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

function mib(bytes: number): number {
  return Math.floor(bytes / 2 ** 20);
}
