import { parseArgs } from 'node:util';

interface Flag {
  readonly name: string;
  readonly means: string;
  readonly usual: number;
}

/** The one flag of a bench: a whole number that says how far it goes. Ends the process where help is wanted or needed. */
export function howFar(bench: string, { name, means, usual }: Flag): number {
  const usage = `Usage: npm run bench:${bench} [-- --${name} <count>]\n\n  --${name}  ${means}; ${usual} where it is not given\n`;
  const end = (code: number, message: string): never => {
    (code === 0 ? process.stdout : process.stderr).write(message);
    process.exit(code);
  };
  try {
    const { values } = parseArgs({ options: { [name]: { type: 'string' }, help: { type: 'boolean', short: 'h' } } });
    if (values['help'] === true) end(0, usage);
    const given = values[name] ?? String(usual);
    if (typeof given === 'string' && /^[1-9]\d{0,9}$/.test(given)) return Number(given);
    return end(2, `--${name} is a whole number above zero, not ${JSON.stringify(given)}.\n\n${usage}`);
  } catch (error) {
    return end(2, `${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
  }
}
