import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Config } from '#libs/config';
import { OperatorError } from '#libs/operator';

/** A token and where it was found, for whoever must be told that it is wrong. */
export interface Token {
  readonly value: string | undefined;
  readonly source: string;
}

/** Where an orchestrator with the same settings listens, as seen from this machine. */
export function defaultAddress({ HOST, PORT }: Pick<Config, 'HOST' | 'PORT'>): string {
  if (PORT === 0) throw new OperatorError('PORT is 0, so the orchestrator took a free port; name it with --url.');
  const host = HOST === '0.0.0.0' || HOST === '::' ? '127.0.0.1' : HOST;
  return `http://${host.includes(':') ? `[${host}]` : host}:${PORT}`;
}

/**
 * A missing token is no error yet: where nothing listens, that is the better thing to say, and where something does,
 * it refuses.
 */
export function findToken({ ADMIN_TOKEN, DATA_DIR }: Pick<Config, 'ADMIN_TOKEN' | 'DATA_DIR'>): Token {
  if (ADMIN_TOKEN !== undefined) return { value: ADMIN_TOKEN, source: 'ADMIN_TOKEN' };
  const path = resolve(join(DATA_DIR, 'admin-token'));
  return { value: readToken(path), source: path };
}

function readToken(path: string): string | undefined {
  try {
    return checkToken(readFileSync(path, 'utf8').trim(), path);
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new OperatorError(`The token in ${path} cannot be read (${code}). Run as its owner, or set ADMIN_TOKEN.`, {
      cause: error,
    });
  }
}

/** fetch quotes a header that it refuses, so what is no token must not get there. */
function checkToken(text: string, path: string): string {
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  throw new OperatorError(`${path} holds no token. Delete it and start the orchestrator again, or set ADMIN_TOKEN.`);
}
