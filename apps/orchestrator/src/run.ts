import { parseArgs } from 'node:util';
import { runProcess } from '#libs/process';
import { runOrchestrator } from './orchestrator.js';

const USAGE = `Usage: orchestrator [--standby]

  --standby   when an orchestrator runs already, wait and take over when it ends

Settings are environment variables; the README lists them.`;

/** Returns the exit code: 2 for a command line that makes no sense. */
export async function main(args: string[]): Promise<number> {
  const options = readOptions(args);
  if (typeof options === 'string') {
    process.stderr.write(`${options}\n${USAGE}\n`);
    return 2;
  }
  if (options.help) {
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
  return runProcess({ process: 'orchestrator' }, (context) => runOrchestrator(context, { standby: options.standby }));
}

function readOptions(args: string[]): { standby: boolean; help: boolean } | string {
  try {
    const { values } = parseArgs({
      args,
      options: { standby: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
    });
    return { standby: values.standby ?? false, help: values.help ?? false };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
