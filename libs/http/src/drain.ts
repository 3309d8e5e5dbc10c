import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { Clock } from '#libs/clock';

/**
 * The pause at the beginning of a stop in which readiness is red and requests are still served, so that whoever sends
 * them here can learn of it before the listener closes.
 */
@Injectable()
export class Drain implements BeforeApplicationShutdown {
  hasBegun = false;

  constructor(
    private readonly clock: Clock,
    private readonly drainMs: number,
  ) {}

  async beforeApplicationShutdown(): Promise<void> {
    if (this.hasBegun) return;
    this.hasBegun = true;
    await this.clock.sleep(this.drainMs);
  }
}
