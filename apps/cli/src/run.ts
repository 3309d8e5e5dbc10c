import { SystemClock } from '#libs/clock';
import { readConfig } from '#libs/config';
import { OperatorError } from '#libs/operator';
import { defaultAddress, findToken } from './access.js';
import { AdminApi } from './admin-api.js';
import { parseCommandLine, UsageError } from './command-line.js';
import type { CommandContext } from './command.js';
import { logs } from './commands/logs.js';
import { pairs } from './commands/pairs.js';
import { reload } from './commands/reload.js';
import { restart } from './commands/restart.js';
import { status } from './commands/status.js';
import { painterFor } from './paint.js';

const COMMANDS = [status, restart, reload, logs, pairs];

/** Returns the exit code: 1 for what could not be done, 2 for a command line that makes no sense. */
export async function main(args: readonly string[]): Promise<number> {
  try {
    const wish = parseCommandLine(args, COMMANDS);
    if (wish.kind === 'help') process.stdout.write(`${wish.text}\n`);
    else await wish.act(createContext(wish.url));
    return 0;
  } catch (error) {
    process.stderr.write(`${explain(error)}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

function createContext(url: string | undefined): CommandContext {
  const { config } = readConfig();
  return {
    api: new AdminApi(url ?? defaultAddress(config), findToken(config)),
    clock: new SystemClock(),
    paint: painterFor(process.stdout),
    print: (text) => void process.stdout.write(`${text}\n`),
    note: (sentence) => void process.stderr.write(`${sentence}\n`),
  };
}

function explain(error: unknown): string {
  if (error instanceof UsageError) return `${error.message}\n\n${error.usage}`;
  if (error instanceof OperatorError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
