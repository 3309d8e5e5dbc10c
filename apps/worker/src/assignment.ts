const KINDS = ['pair', 'ingest', 'executor'] as const;

/** What one worker process is there for: a pair to trade, a shard to ingest, a generation of the executor. */
export interface Assignment {
  readonly kind: (typeof KINDS)[number];
  readonly id: string;
}

export const USAGE = `Usage: worker <kind> <id>

  kind   ${KINDS.join(', ')}
  id     what to work on, such as BTC-USD for a pair

The orchestrator starts workers by itself. One started by hand needs DATABASE_URL and REDIS_URL, or an
orchestrator that runs on the same DATA_DIR.`;

export function parseAssignment(args: readonly string[]): Assignment | undefined {
  const kind = KINDS.find((known) => known === args[0]);
  const id = args[1];
  // The id becomes part of file names and of Redis keys.
  if (!kind || id === undefined || args.length > 2 || !/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(id)) return undefined;
  return { kind, id };
}

export function describeAssignment({ kind, id }: Assignment): string {
  return `${kind} ${id}`;
}
