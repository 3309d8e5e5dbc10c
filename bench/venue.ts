/** What venues cost, ours and the way to them; every figure is a ratio to a baseline of the same run. */
import { benchAdapters } from './venue/adapter.ts';
import { benchPaperVenue } from './venue/paper-venue.ts';

function print(what: string, value: string): void {
  process.stdout.write(`${what.padEnd(70)} ${value}\n`);
}

process.exitCode = (await benchAdapters(print)) ? 0 : 1;
await benchPaperVenue(print);
