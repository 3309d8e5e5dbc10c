import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readAllByTime } from './paging.js';
import { UnreadableAnswer } from './venue-error.js';

interface Item {
  readonly id: string;
  readonly at: number;
}

/** A venue that pages by time, from the given one on, oldest first. */
function read(items: readonly Item[], pageSize: number): Promise<Item[]> {
  const sorted = items.toSorted((a, b) => a.at - b.at);
  return readAllByTime<Item>(new Date(0), {
    pageSize,
    idOf: ({ id }) => id,
    timeOf: ({ at }) => new Date(at),
    fetch: (from) => Promise.resolve(sorted.filter(({ at }) => at >= from.getTime()).slice(0, pageSize)),
  });
}

describe('readAllByTime', () => {
  it('reads every item once, also those that share an instant across two pages', async () => {
    const lists = fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 60 }).map((times) => {
      const perInstant = new Map<number, number>();
      // At most as many of one instant as a page holds beside the one it begins with.
      return times.flatMap((at, index) => {
        const count = (perInstant.get(at) ?? 0) + 1;
        perInstant.set(at, count);
        return count <= 4 ? [{ id: `i-${index}`, at }] : [];
      });
    });
    await fc.assert(
      fc.asyncProperty(lists, async (items) => {
        const all = await read(items, 5);
        expect(all.map(({ id }) => id).toSorted()).toEqual(items.map(({ id }) => id).toSorted());
      }),
    );
  });

  it('throws rather than pass over what it cannot reach', async () => {
    const items = Array.from({ length: 12 }, (_, index) => ({ id: `i-${index}`, at: 7 }));
    await expect(read(items, 5)).rejects.toThrow(UnreadableAnswer);
  });
});
