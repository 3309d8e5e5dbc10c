import type { Clock } from '#libs/clock';

const WINDOW_MS = 60_000;
/** More addresses than this at once are an attack; the oldest are forgotten rather than memory filled. */
const ADDRESSES_MAX = 10_000;

/**
 * Counts refused tokens per address and minute. Only further wrong tokens are turned away: an operator with the right
 * one always gets in, or a forgotten script with an old token could lock the kill switch.
 */
export class FailureLimit {
  private readonly windows = new Map<string, { startedAt: number; failures: number }>();

  constructor(
    private readonly failuresMax: number,
    private readonly clock: Clock,
  ) {}

  /** Counts a failure. Returns how long this address should wait, or undefined while it is within its limit. */
  countFailure(address: string): { retryAfterMs: number } | undefined {
    const now = this.clock.monotonic();
    const current = this.windows.get(address);
    const isOver = !current || now - current.startedAt >= WINDOW_MS;
    const window = isOver ? { startedAt: now, failures: 0 } : current;
    window.failures += 1;
    if (isOver) this.remember(address, window);
    if (window.failures <= this.failuresMax) return undefined;
    return { retryAfterMs: window.startedAt + WINDOW_MS - now };
  }

  private remember(address: string, window: { startedAt: number; failures: number }): void {
    this.windows.delete(address);
    this.windows.set(address, window);
    if (this.windows.size <= ADDRESSES_MAX) return;
    const oldest = this.windows.keys().next().value;
    if (oldest !== undefined) this.windows.delete(oldest);
  }
}
