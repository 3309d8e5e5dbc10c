import type { WebSocket } from 'ws';
import type { Clock } from '#libs/clock';
import type { FaultBox } from './fault-box.js';

/** A client that does not read is cut off before it costs us memory. */
const BUFFERED_BYTES_MAX = 8 * 2 ** 20;

/** How long an event waits for the next to overtake it. */
const OVERTAKING_MS = 1_000;

export interface Channel {
  /** Sends the message, or what a fault makes of it. */
  deliver(message: object): void;
}

/** Lets faults befall the events of a stream: each client's on its own, as networks do. */
export class StreamFaults {
  constructor(
    private readonly box: FaultBox,
    private readonly clock: Clock,
  ) {}

  channel(socket: WebSocket, send: (message: object) => void): Channel {
    /** An event that waits to be overtaken by the next. */
    let held: object | undefined;
    const closed = new AbortController();
    socket.once('close', () => closed.abort());

    const pass = (message: object): void => {
      if (closed.signal.aborted) return;
      if (socket.bufferedAmount > BUFFERED_BYTES_MAX) return socket.terminate();
      send(message);
      release();
    };
    const release = (): void => {
      const overtaken = held;
      held = undefined;
      if (overtaken && !closed.signal.aborted) send(overtaken);
    };
    const deliver = (message: object): void => {
      const fault = this.box.drawForEvent();
      switch (fault?.fault) {
        case 'drop-event':
          return;
        case 'duplicate-event':
          pass(message);
          return pass(message);
        case 'reorder-events':
          if (held) return pass(message);
          held = message;
          return void this.clock.sleep(OVERTAKING_MS, closed.signal).then(() => release());
        case 'delay':
          return void this.clock.sleep(fault.delayMs, closed.signal).then(() => pass(message));
        case 'reset':
          return socket.terminate();
        default:
          return pass(message);
      }
    };
    return { deliver };
  }
}
