import { parseArgs } from 'node:util';
import type { Command, CommandContext, CommandOptions } from './command.js';
import { LINES_DEFAULT, usageOf, usageOfAll } from './usage.js';

/** A command line that makes no sense, with the usage that would. */
export class UsageError extends Error {
  constructor(
    message: string,
    readonly usage: string,
  ) {
    super(message);
    this.name = 'UsageError';
  }
}

type Wish =
  | { readonly kind: 'help'; readonly text: string }
  | {
      readonly kind: 'run';
      readonly url: string | undefined;
      readonly act: (context: CommandContext) => Promise<void>;
    };

/** Reads the whole command line before anything is done, so that a faulty one has no effect. */
export function parseCommandLine(args: readonly string[], commands: readonly Command[]): Wish {
  const { values, positionals } = readArguments(args, commands);
  const [name, ...operands] = positionals;
  if (name === undefined) {
    if (values.help) return { kind: 'help', text: usageOfAll(commands) };
    throw new UsageError('Expected a command.', usageOfAll(commands));
  }
  const command = commands.find((candidate) => candidate.name === name);
  if (!command) throw new UsageError(`There is no command "${name}".`, usageOfAll(commands));
  if (values.help) return { kind: 'help', text: usageOf(command) };

  refuseForeignOptions(command, values);
  const url = values.url === undefined ? undefined : readUrl(values.url, command);
  const options: CommandOptions = { json: values.json ?? false, lines: readLines(values.lines, command) };
  if (command.takes === 'pair') {
    const pair = readPair(operands, command);
    return { kind: 'run', url, act: (context) => command.run(context, { ...options, pair }) };
  }
  if (operands.length > 0)
    throw new UsageError(`"${name}" takes no argument, got "${operands.join(' ')}".`, usageOf(command));
  return { kind: 'run', url, act: (context) => command.run(context, options) };
}

/** Options may stand before or after the command, so all are known here and sorted out by command later. */
const OPTIONS = {
  url: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
  json: { type: 'boolean' },
  lines: { type: 'string' },
} as const;

type Arguments = ReturnType<typeof parseArgs<{ options: typeof OPTIONS; allowPositionals: true }>>;

function readArguments(args: readonly string[], commands: readonly Command[]): Arguments {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // What follows Node's first sentence is advice on arguments that begin with a dash; no id does.
    throw new UsageError(`${error.message.split(/\.\s/)[0]?.replace(/\.$/, '')}.`, usageOfAll(commands));
  }
}

function refuseForeignOptions(command: Command, values: Arguments['values']): void {
  for (const name of ['json', 'lines'] as const) {
    if (values[name] === undefined || command.options.includes(name)) continue;
    throw new UsageError(`"${command.name}" has no option --${name}.`, usageOf(command));
  }
}

function readLines(text: string | undefined, command: Command): number {
  if (text === undefined) return LINES_DEFAULT;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new UsageError(`Expected a whole number from 1 on after --lines, got "${text}".`, usageOf(command));
}

function readUrl(text: string, command: Command): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url && /^https?:$/.test(url.protocol) && url.username + url.password + url.search === '';
  // The text is not repeated: it may hold a password.
  if (!isPlain) throw new UsageError('Expected an address like http://127.0.0.1:3001 after --url.', usageOf(command));
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

function readPair(operands: readonly string[], command: Command): string {
  const [pair] = operands;
  // An id of one or two dots would vanish from the address and reach another route.
  if (operands.length === 1 && pair !== undefined && !/^\.*$/.test(pair)) return pair;
  throw new UsageError(`"${command.name}" takes the id of one pair, got "${operands.join(' ')}".`, usageOf(command));
}
