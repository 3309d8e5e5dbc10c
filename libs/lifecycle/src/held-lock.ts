import type { EntryLockKey } from '#libs/locks';
import type { LifecycleParts } from './lifecycle-parts.js';

/** An entry lock as its holder may use it: by its token, and by local time no longer than it surely lives. */
export interface HeldLock {
  readonly token: bigint;
  /** On the monotonic clock. Counted from before the lock was asked for, so that Postgres ends it later than we do. */
  readonly endsAt: number;
}

/** Does the work under the lock of a profile and symbol; undefined when another holds it. */
export async function underEntryLock<T>(
  parts: LifecycleParts,
  key: EntryLockKey,
  work: (lock: HeldLock) => Promise<T>,
): Promise<T | undefined> {
  const { locks, clock, settings, observer } = parts;
  const endsAt = clock.monotonic() + settings.entryLockTtlMs;
  const lock = await locks.tryAcquire(key);
  if (!lock) return undefined;
  try {
    return await work({ token: lock.token, endsAt });
  } finally {
    // One that is not released runs out by itself.
    await locks.release(lock).catch((error: unknown) => observer.failed('release an entry lock', error));
  }
}
