import { PinoPretty } from 'pino-pretty';

/** Lines for a person at a terminal. */
export function pretty(destination: NodeJS.WritableStream & { isTTY?: boolean }): NodeJS.WritableStream {
  return PinoPretty({
    destination,
    colorize: destination.isTTY === true,
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: 'pid,process,worker,context',
    messageFormat: '{if context}[{context}] {end}{msg}',
    sync: true,
  });
}
