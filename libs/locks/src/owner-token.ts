import { randomUUID } from 'node:crypto';

/** Who holds a lock: the process for people to look at, and an id that no other process ever has. */
export function newOwnerToken(): string {
  return `${process.pid}-${randomUUID()}`;
}

/** The process id of a holder, or undefined for a token that is none of ours. */
export function pidOfToken(token: string): number | undefined {
  const pid = /^(\d+)-[0-9a-f-]{36}$/.exec(token)?.[1];
  return pid === undefined ? undefined : Number(pid);
}
