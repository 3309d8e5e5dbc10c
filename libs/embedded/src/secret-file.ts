import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { errnoOf } from './embedded-error.js';

/** Reads a generated secret, making it on first use; only its owner may read the file. */
export function readOrCreateSecret(path: string): string {
  try {
    // 'wx' makes creation atomic: of two starting processes one writes and the other reads.
    writeFileSync(path, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
  }
  return readFileSync(path, 'utf8').trim();
}
