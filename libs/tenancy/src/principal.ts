import { createHash } from 'node:crypto';
import { TENANT_ROLE, type Database, type Tx } from '#libs/database';

/** Who asks. An admin sees everything; a tenant sees what is its own. */
export type Principal = { readonly kind: 'admin' } | { readonly kind: 'tenant'; readonly tenantId: string };

/** A transaction with the rights of whoever asks. */
export function asPrincipal<T>(database: Database, principal: Principal, work: (tx: Tx) => Promise<T>): Promise<T> {
  switch (principal.kind) {
    case 'admin':
      return database.transaction(work);
    case 'tenant':
      return asTenant(database, principal.tenantId, work);
  }
}

/** A transaction that sees and moves what is the tenant's own. Both settings end with it. */
export function asTenant<T>(database: Database, tenantId: string, work: (tx: Tx) => Promise<T>): Promise<T> {
  return database.transaction(async (tx) => {
    await tx.query(`select set_config('role', $1, true), set_config('flotilla.tenant', $2, true)`, [
      TENANT_ROLE,
      tenantId,
    ]);
    return work(tx);
  });
}

const ACTOR_CHARS_MAX = 100;

/**
 * The name of a principal in journals: letters, digits and ._:/+=@- only, at most a hundred. Whatever else a tenant's
 * id holds is written as =XX, byte by byte; one that is too long then, as its digest. Two tenants never share a name:
 * a "=" of the id itself is written as =3D, and no =XX begins with an "s".
 */
export function actorOf(principal: Principal): string {
  if (principal.kind === 'admin') return 'admin';
  const actor = `tenant:${escaped(principal.tenantId)}`;
  if (actor.length <= ACTOR_CHARS_MAX) return actor;
  return `tenant:=sha256-${createHash('sha256').update(principal.tenantId).digest('hex')}`;
}

function escaped(text: string): string {
  return text.replace(/[^A-Za-z0-9._:/+@-]/gu, (character) =>
    [...Buffer.from(character)].map((byte) => `=${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );
}
