import { UnreadableAnswer } from './venue-error.js';

/** More pages than any account has; an endless list is a fault of the venue. */
const PAGES_MAX = 2_000;

export interface Pages<T> {
  readonly pageSize: number;
  readonly idOf: (item: T) => string;
  readonly timeOf: (item: T) => Date;
  /** Items from this time on, the time itself included, oldest first. */
  readonly fetch: (from: Date) => Promise<readonly T[]>;
}

/**
 * Reads a list that a venue pages by time, to its end. Each page begins at the last item of the one before, so that
 * items with equal times are not lost between two pages, and what comes twice is kept once.
 */
export async function readAllByTime<T>(from: Date, pages: Pages<T>): Promise<T[]> {
  const seen = new Map<string, T>();
  let start = from;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const items = await pages.fetch(start);
    const sizeBefore = seen.size;
    for (const item of items) seen.set(pages.idOf(item), item);
    const last = items.at(-1);
    if (!last || items.length < pages.pageSize) return [...seen.values()];
    if (seen.size === sizeBefore) throw new UnreadableAnswer(`more than ${pages.pageSize} items at one instant`);
    start = pages.timeOf(last);
  }
  throw new UnreadableAnswer(`a list of more than ${PAGES_MAX} pages`);
}
