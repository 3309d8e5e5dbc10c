import { chownSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from '#libs/config';
import { EmbeddedError } from './embedded-error.js';

/**
 * Postgres refuses to run as root. Started by root, we run it as an ordinary user of the system instead. That user
 * may have no way into the folders above DATA_DIR (a home folder of mode 0700, say), so it keeps the one capability
 * of passing through folders and reading files, and none to write.
 */
export interface UnprivilegedUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

const CAPABILITIES = [
  { name: 'dac_read_search', bit: 2n },
  // Containers often lack the first but have this one.
  { name: 'dac_override', bit: 1n },
];

/** Undefined when this process is not root, so that programs simply run as it does. */
export function unprivilegedUser(): UnprivilegedUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }));
  const user = users.find(({ name }) => name === 'postgres') ?? users.find(({ name }) => name === 'nobody');
  if (!user) {
    throw new EmbeddedError(
      'Postgres does not run as root, and this system has no user "postgres" or "nobody". Start Flotilla as an ordinary user, or set DATABASE_URL.',
    );
  }
  return user;
}

/** The command line that runs a program as that user. */
export function commandAs(
  user: UnprivilegedUser | undefined,
  command: readonly [string, ...string[]],
): [string, ...string[]] {
  if (!user) return [...command];
  const setpriv = findProgram('setpriv');
  if (!setpriv) {
    throw new EmbeddedError(
      'Postgres does not run as root, and the program "setpriv" (package util-linux) that would change the user is missing. Install it, start Flotilla as an ordinary user, or set DATABASE_URL.',
    );
  }
  const capability = heldCapability();
  // Without no_setuid_fixup the kernel ignores the capability in access(2), by which Postgres finds its own programs.
  const capabilities = capability
    ? [`--inh-caps=-all,+${capability}`, `--ambient-caps=-all,+${capability}`, '--securebits=+no_setuid_fixup']
    : [];
  return [setpriv, `--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups', ...capabilities, '--', ...command];
}

export function giveTo(user: UnprivilegedUser | undefined, folder: string): void {
  if (!user) return;
  chownSync(folder, user.uid, user.gid);
  for (const name of readdirSync(folder)) chownSync(join(folder, name), user.uid, user.gid);
}

function heldCapability(): string | undefined {
  const bounding = /^CapBnd:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
  return CAPABILITIES.find(({ bit }) => (BigInt(`0x${bounding}`) >> bit) & 1n)?.name;
}
