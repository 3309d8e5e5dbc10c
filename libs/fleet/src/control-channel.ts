import type { Redis } from '#libs/redis';
import { parseControlMessage, type ControlMessage } from './control-message.js';

interface Listener {
  received(message: ControlMessage): void;
  /** Counted and otherwise ignored: anybody may publish anything. */
  malformed(text: string): void;
}

/** Commands to the fleet. Pub/sub forgets: whoever must be obeyed also leaves a flag or sends a signal. */
export class ControlChannel {
  constructor(
    private readonly redis: Redis,
    private readonly channel: string,
  ) {}

  async publish(message: ControlMessage): Promise<void> {
    await this.redis.publish(this.channel, JSON.stringify(message));
  }

  /** Listens on a connection of its own, which subscribes again by itself after an outage. */
  async subscribe(listener: Listener): Promise<() => void> {
    const subscriber = this.redis.duplicate({ enableOfflineQueue: true, lazyConnect: true, commandTimeout: undefined });
    subscriber.options.retryStrategy = this.redis.options.retryStrategy;
    // The connection it was made from reports outages; a second report would say the same.
    subscriber.on('error', () => undefined);
    subscriber.on('message', (_channel, text) => {
      const message = parseControlMessage(text);
      if (message) listener.received(message);
      else listener.malformed(text);
    });
    await subscriber.connect();
    await subscriber.subscribe(this.channel);
    return () => subscriber.disconnect();
  }
}
