import type { Clock } from '#libs/clock';
import { aborted } from '#libs/process';
import type { Venue } from './venue.js';

/** Others renew their offers each second. */
const TICK_MS = 1_000;

/** Moves the market on. */
export class MarketLoop {
  private readonly stopping = new AbortController();
  private loop: Promise<void> = Promise.resolve();

  constructor(
    private readonly venue: Venue,
    private readonly clock: Clock,
  ) {}

  start(): void {
    this.loop = this.run();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.loop;
  }

  private async run(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      // A venue whose disk failed answers nobody any more, and must not keep us from stopping.
      await Promise.race([this.venue.tick(), aborted(this.stopping.signal)]);
      await this.clock.sleep(TICK_MS, this.stopping.signal);
    }
  }
}
