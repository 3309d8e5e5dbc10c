import { existsSync } from 'node:fs';
import { OperatorError } from '#libs/operator';
import { findMisspellings } from './misspelling.js';
import { settings, type Setting } from './settings.js';

type Settings = typeof settings;
type ValueOf<S> = S extends { kind: { parse: (text: string) => infer T }; default: infer D }
  ? D extends string
    ? Exclude<T, undefined>
    : T
  : never;

/** The settings of a process under the names of their variables, read and checked. */
export type Config = { readonly [Name in keyof Settings]: ValueOf<Settings[Name]> };

/** Carries every fault at once, so that a person corrects them in one go. */
export class ConfigError extends OperatorError {
  constructor(readonly faults: readonly string[]) {
    super(
      `The configuration has ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`,
    );
  }
}

/** Reads the environment of this process, and a file .env beside it for what the environment leaves open. */
export function readConfig(): { config: Config; misspellings: string[] } {
  if (existsSync('.env')) process.loadEnvFile('.env');
  return { config: parseConfig(process.env), misspellings: findMisspellings(Object.keys(process.env)) };
}

export function parseConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const values: Record<string, unknown> = {};
  const faults: string[] = [];
  for (const [name, setting] of Object.entries<Setting>(settings)) {
    // An empty variable counts as unset: compose files and shells pass them on without a thought.
    const text = env[name] === '' || env[name] === undefined ? setting.default : env[name];
    if (text === undefined) continue;
    const value = setting.kind.parse(text);
    if (value === undefined) faults.push(describeFault(name, setting, text));
    values[name] = value;
  }
  if (faults.length > 0) throw new ConfigError([...faults, ...findMisspellings(Object.keys(env))]);
  return values as Config;
}

function describeFault(name: string, setting: Setting, text: string): string {
  const value = setting.secret ? 'a value that is not shown' : JSON.stringify(text.slice(0, 200));
  return `${name} is ${value}; allowed is ${setting.kind.allowed}.`;
}
