import type { Command, CommandOptions } from './command.js';
import { formatTable } from './table.js';

export const LINES_DEFAULT = 50;

const OPTION_MEANINGS: Record<keyof CommandOptions, readonly [string, string]> = {
  json: ['--json', 'what the API answers, as it is, for programs'],
  lines: ['--lines N', `the newest N lines (${LINES_DEFAULT})`],
};
const COMMON_OPTIONS = [
  ['--url URL', 'address of the orchestrator (http://127.0.0.1:PORT)'],
  ['-h, --help', 'this text; after a command, more on it'],
] as const;

export function usageOfAll(commands: readonly Command[]): string {
  return [
    'Usage: flotilla <command> [options]',
    '',
    ...indented(commands.map((command) => [synopsisOf(command), command.summary])),
    '',
    ...indented(COMMON_OPTIONS),
    '',
    'The token is taken from ADMIN_TOKEN or from the file admin-token in DATA_DIR.',
  ].join('\n');
}

export function usageOf(command: Command): string {
  const options = [...command.options.map((name) => OPTION_MEANINGS[name]), ...COMMON_OPTIONS];
  return [
    `Usage: flotilla ${synopsisOf(command)} [--url URL]`,
    '',
    `  ${command.summary}`,
    '',
    ...indented(options),
  ].join('\n');
}

function synopsisOf(command: Command): string {
  const operand = command.takes === 'pair' ? ['<pair>'] : [];
  return [command.name, ...operand, ...command.options.map((name) => `[${OPTION_MEANINGS[name][0]}]`)].join(' ');
}

function indented(rows: readonly (readonly string[])[]): string[] {
  return formatTable(rows.map((row) => row.map((text) => ({ text })))).map((line) => `  ${line}`);
}
