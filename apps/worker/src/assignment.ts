import { PairId } from '#libs/fleet';

/** The kinds of worker that this program can be. */
const KINDS = ['pair'] as const;

export interface Assignment {
  readonly kind: (typeof KINDS)[number];
  readonly id: string;
}

export const USAGE = `Usage: worker <kind> <id>

  kind   ${KINDS.join(', ')}
  id     what to work on, such as BTC-USD

The orchestrator starts workers by itself. One started by hand needs DATABASE_URL and REDIS_URL, or an
orchestrator that runs on the same DATA_DIR.`;

export function parseAssignment(args: readonly string[]): Assignment | undefined {
  const kind = KINDS.find((known) => known === args[0]);
  const id = PairId.safeParse(args[1]);
  return kind && id.success && args.length === 2 ? { kind, id: id.data } : undefined;
}
