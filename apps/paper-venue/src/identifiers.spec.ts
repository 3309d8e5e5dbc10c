import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isLoopback } from './control/loopback.guard.js';
import { Identifiers } from './identifiers.js';

describe('Identifiers', () => {
  it('gives UUIDs that lead back to their number, and to no other kind or venue', () => {
    const [ours, others] = ['0123456789abcdef0123', 'ffffffffffffffffffff'].map(
      (identity) => new Identifiers(identity),
    );
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 43 }), (seq) => {
        const uuid = ours?.uuid('order', seq) ?? '';
        expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/);
        expect(ours?.findSeq('order', uuid)).toBe(seq);
        expect([ours?.findSeq('fill', uuid), others?.findSeq('order', uuid)]).toEqual([undefined, undefined]);
      }),
    );
  });
});

describe('the routes under /paper', () => {
  it.each([
    ['127.0.0.1', true],
    ['127.3.2.1', true],
    ['::1', true],
    ['::ffff:127.0.0.1', true],
    ['10.0.0.1', false],
    ['::ffff:10.0.0.1', false],
    ['1127.0.0.1', false],
    [undefined, false],
  ])('answer to %s: %s', (address, isAllowed) => {
    expect(isLoopback(address)).toBe(isAllowed);
  });
});
