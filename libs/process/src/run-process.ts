import { SystemClock, type Clock } from '#libs/clock';
import { readConfig, type Config } from '#libs/config';
import { OperatorError } from '#libs/operator';
import { createLogger, type Logger } from '#libs/telemetry';

/** What every process of ours starts with. */
export interface ProcessContext {
  readonly config: Config;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Aborted by the first SIGINT or SIGTERM. */
  readonly stopping: AbortSignal;
}

/** Runs a process' work to its end and returns the exit code: 0 for a stop that was asked for, 1 for a failure. */
export async function runProcess(
  about: { process: string; worker?: string },
  work: (context: ProcessContext) => Promise<void>,
): Promise<number> {
  const stopping = new AbortController();
  // Ctrl-C reaches us twice: from the terminal and from the program that started us. Once is enough.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.abort());
  // The terminal or pipe that we write to may go away; the work goes on without it.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  try {
    const { config, misspellings } = readConfig();
    const logger = createLogger(config, about);
    for (const sentence of misspellings) logger.warn(sentence);
    await work({ config, logger, clock: new SystemClock(), stopping: stopping.signal });
    return 0;
  } catch (error) {
    process.stderr.write(`Flotilla's ${about.process} stopped: ${explain(error)}\n`);
    return 1;
  }
}

export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function explain(error: unknown): string {
  if (error instanceof OperatorError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
