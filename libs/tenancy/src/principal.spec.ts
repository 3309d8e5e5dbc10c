import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { actorOf, TenantId } from '../index.js';

const nameOf = (tenantId: string): string => actorOf({ kind: 'tenant', tenantId });
const FITS = /^[A-Za-z0-9._:/+=@-]{1,100}$/;

describe('actorOf', () => {
  it.each([
    ['alice', 'tenant:alice'],
    ['auth0|5f7c8ec7c33c6c004bbafe82', 'tenant:auth0=7C5f7c8ec7c33c6c004bbafe82'],
    ['alice@example.com', 'tenant:alice@example.com'],
    ['a b', 'tenant:a=20b'],
    ['a=20b', 'tenant:a=3D20b'],
    ['Zoë', 'tenant:Zo=C3=AB'],
    ['💥', 'tenant:=F0=9F=92=A5'],
    ["'; drop table profiles; --", 'tenant:=27=3B=20drop=20table=20profiles=3B=20--'],
    ['x'.repeat(93), `tenant:${'x'.repeat(93)}`],
  ])('writes the tenant %j as %s', (tenantId, actor) => {
    expect(nameOf(tenantId)).toBe(actor);
    expect(actor).toMatch(FITS);
  });

  it('writes one that is too long as its digest', () => {
    expect(nameOf('x'.repeat(94))).toMatch(/^tenant:=sha256-[0-9a-f]{64}$/);
    expect(nameOf('x'.repeat(94))).not.toBe(nameOf('x'.repeat(95)));
  });

  it('is the admin, whom no tenant can be taken for', () => {
    expect(actorOf({ kind: 'admin' })).toBe('admin');
    expect(nameOf('admin')).toBe('tenant:admin');
  });

  it('gives every tenant a name that fits, and no two the same', () => {
    const tenant = fc
      .string({ unit: 'binary', minLength: 1, maxLength: 200 })
      .filter((id) => TenantId.safeParse(id).success);
    const odd = fc.string({ unit: fc.constantFrom('=', '3', 'D', 's', '-', ' ', 'ë'), minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(fc.oneof(tenant, odd), fc.oneof(tenant, odd), (one, other) => {
        expect(nameOf(one)).toMatch(FITS);
        expect(nameOf(one) === nameOf(other)).toBe(one === other);
      }),
      { numRuns: 500 },
    );
  });

  it('gives a tenant that calls itself like a digest another name than the one whose digest it is', () => {
    const digest = nameOf('x'.repeat(150)).slice('tenant:'.length);
    expect(nameOf(digest)).not.toBe(nameOf('x'.repeat(150)));
  });
});
