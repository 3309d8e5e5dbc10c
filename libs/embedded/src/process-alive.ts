import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * Whether this process runs and is the one we mean. Process ids are given out again, after a reboot in the same
 * order, so a number in an old file proves nothing by itself; a part of the command line does.
 */
export function isProcessAlive(pid: number, commandPart: string): boolean {
  return commandLineOf(pid).includes(commandPart);
}

/** Empty for a process that is gone, or that ended and was not yet collected by its parent. */
function commandLineOf(pid: number): string {
  if (process.platform !== 'linux') return spawnSync('ps', ['-o', 'command=', '-p', String(pid)]).stdout.toString();
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}
