import type { Clock } from '#libs/clock';

/** The venue's own idea of the time, which may be wrong on command. Unix ms. */
export class VenueClock {
  skewMs = 0;

  constructor(private readonly clock: Clock) {}

  now(): number {
    return this.clock.now() + this.skewMs;
  }
}
