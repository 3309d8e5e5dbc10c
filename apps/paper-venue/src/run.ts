import { runProcess } from '#libs/process';
import { runPaperVenue } from './paper-venue.js';

const USAGE = `Usage: paper-venue

A simulated exchange that speaks Alpaca, Binance and GeckoTerminal. Settings are environment variables: PAPER_PORT,
PAPER_SEED, DATA_DIR; the README lists them.`;

/** Returns the exit code: 2 for a command line that makes no sense. */
export async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
  if (args.length > 0) {
    process.stderr.write(`Expected no arguments, got "${args.join(' ')}".\n${USAGE}\n`);
    return 2;
  }
  return runProcess({ process: 'paper-venue' }, runPaperVenue);
}
