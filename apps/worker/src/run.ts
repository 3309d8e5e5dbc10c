import { runProcess } from '#libs/process';
import { parseAssignment, USAGE } from './assignment.js';
import { runPairWorker } from './pair-worker.js';

/** Returns the exit code: 2 for a command line that makes no sense. */
export async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
  const assignment = parseAssignment(args);
  if (!assignment) {
    process.stderr.write(`Expected a kind of worker and an id, got "${args.join(' ')}".\n${USAGE}\n`);
    return 2;
  }
  const { kind, id } = assignment;
  return runProcess({ process: 'worker', worker: `${kind} ${id}` }, (context) => runPairWorker(context, id));
}
