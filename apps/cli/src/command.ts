import type { Clock } from '#libs/clock';
import type { AdminApi } from './admin-api.js';
import type { Paint } from './paint.js';

/** What a command works with. */
export interface CommandContext {
  readonly api: AdminApi;
  readonly clock: Clock;
  readonly paint: Paint;
  /** Writes data, and nothing else, to stdout. */
  readonly print: (text: string) => void;
  /** Tells the person in front of the terminal something, on stderr. */
  readonly note: (sentence: string) => void;
}

export interface CommandOptions {
  readonly json: boolean;
  readonly lines: number;
}

interface CommandDescription {
  readonly name: string;
  readonly summary: string;
  /** Those that it understands beside --url and --help, which all do. */
  readonly options: readonly (keyof CommandOptions)[];
}

interface FleetCommand extends CommandDescription {
  readonly takes: 'nothing';
  run(context: CommandContext, options: CommandOptions): Promise<void>;
}

interface PairCommand extends CommandDescription {
  readonly takes: 'pair';
  run(context: CommandContext, options: CommandOptions & { readonly pair: string }): Promise<void>;
}

export type Command = FleetCommand | PairCommand;
