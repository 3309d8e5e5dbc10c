/** The one source of time. Everything that waits, expires or stamps takes a Clock, so that tests move time themselves. */
export abstract class Clock {
  /** Unix time in milliseconds. May jump when the machine's clock is set; use it for stamps, not for durations. */
  abstract now(): number;

  /** Milliseconds since an arbitrary start. Never goes back; use it for durations. */
  abstract monotonic(): number;

  /**
   * Resolves after the given time, or at once when the signal is aborted. Being woken early is not an error:
   * a loop looks at its signal and ends.
   */
  abstract sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}
