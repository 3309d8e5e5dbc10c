import { spawn } from 'node:child_process';
import { bareEnvironment } from '#libs/config';

const OUTPUT_CHARS_MAX = 64 * 1024;

export interface ProgramResult {
  readonly exitCode: number | null;
  /** Standard output and standard error, as they came. */
  readonly output: string;
}

/** Runs a program of others to its end. A program that cannot be started rejects; a failing one is a result. */
export function runProgram(
  command: readonly [string, ...string[]],
  options: { cwd?: string } = {},
): Promise<ProgramResult> {
  const [program, ...args] = command;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: options.cwd,
      env: bareEnvironment(),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    const collect = (chunk: Buffer): void => {
      output = (output + chunk.toString()).slice(-OUTPUT_CHARS_MAX);
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.once('error', reject);
    child.once('close', (exitCode) => resolve({ exitCode, output: output.trim() }));
  });
}

/** The last lines of a long output: where programs put the reason. */
export function lastLines(output: string, count = 5): string {
  return output.trim().split('\n').slice(-count).join('\n');
}
