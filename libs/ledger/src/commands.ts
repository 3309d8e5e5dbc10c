import { ask, type Tx } from '#libs/database';
import type { Close, Deposit, Fill, LedgerCommand, Rebuild, Release, Reservation, Withdrawal } from './command.js';
import { inputFault, rebuildFault } from './input-fault.js';
import { toVerdict, type Verdict, type VerdictRow } from './verdict.js';

/**
 * Many commands in one call, a verdict for each in the order given. Commands of one profile are applied in that order;
 * a refused one changes nothing and does not hinder the others.
 */
export async function applyBatch(tx: Tx, commands: readonly LedgerCommand[]): Promise<Verdict[]> {
  const verdicts = commands.map(inputFault);
  const clean = commands.filter((_, index) => verdicts[index] === undefined);
  if (clean.length === 0) return verdicts as Verdict[];
  const rows = await ask<VerdictRow>(tx, APPLY_BATCH, [JSON.stringify(clean.map(toWire))]);
  if (rows.length !== clean.length) {
    throw new Error(`Invariant: ${clean.length} commands get as many verdicts, got ${rows.length}.`);
  }
  const given = rows.values();
  return verdicts.map((verdict) => verdict ?? toVerdict(given.next().value as VerdictRow));
}

const APPLY_BATCH = {
  name: 'fn_ledger_apply_batch',
  text: 'select verdict, sequence, detail from fn_ledger_apply_batch($1::jsonb) order by ordinal',
};

export function deposit(tx: Tx, command: Deposit): Promise<Verdict> {
  return apply(tx, { ...command, kind: 'deposit' });
}

export function withdraw(tx: Tx, command: Withdrawal): Promise<Verdict> {
  return apply(tx, { ...command, kind: 'withdraw' });
}

/** Sets capital aside for a new trade, unless a halt, a limit or the available capital says no. */
export function reserve(tx: Tx, command: Reservation): Promise<Verdict> {
  return apply(tx, { ...command, kind: 'reserve' });
}

/** Gives back what is reserved for an order that ended. */
export function release(tx: Tx, command: Release): Promise<Verdict> {
  return apply(tx, { ...command, kind: 'release' });
}

/** Records what a venue executed, whatever it does to the capital. */
export function fill(tx: Tx, command: Fill): Promise<Verdict> {
  return apply(tx, { ...command, kind: 'fill' });
}

/** Gives back the cost of a position, or of a part of it, and books the profit or loss. */
export function close(tx: Tx, command: Close): Promise<Verdict> {
  return apply(tx, { ...command, kind: 'close' });
}

/**
 * Makes the reservations of a profile what a venue says they are. A verdict for each trade that was named or is set to
 * nothing, in the order of their ids; a fault in the rebuild itself is one verdict.
 */
export async function rebuild(tx: Tx, command: Rebuild): Promise<Verdict[]> {
  const fault = rebuildFault(command);
  if (fault) return [fault];
  const { profileId, key, trades, untilSequence, actor, happenedAt } = command;
  const rows = await tx.query<VerdictRow[]>(
    `select verdict, sequence, detail
       from fn_ledger_rebuild($1::uuid, $2::text, $3::jsonb, $4::bigint, $5::text, $6::timestamptz) order by ordinal`,
    [profileId, key, JSON.stringify(trades), String(untilSequence), actor, happenedAt?.toISOString() ?? null],
  );
  return rows.map(toVerdict);
}

type Kind = LedgerCommand['kind'];

/** The arguments of each command's own function after the profile and the key, with their types. */
const ARGUMENTS = {
  deposit: ['amount numeric', 'actor text', 'happenedAt timestamptz'],
  withdraw: ['amount numeric', 'actor text', 'happenedAt timestamptz'],
  reserve: [
    'tradeId uuid',
    'amount numeric',
    'quantity numeric',
    'venue text',
    'symbol text',
    'actor text',
    'happenedAt timestamptz',
    'lockToken bigint',
  ],
  release: ['tradeId uuid', 'actor text', 'amount numeric', 'happenedAt timestamptz'],
  fill: ['tradeId uuid', 'quantity numeric', 'amount numeric', 'actor text', 'fee numeric', 'happenedAt timestamptz'],
  close: ['tradeId uuid', 'quantity numeric', 'pnl numeric', 'actor text', 'fee numeric', 'happenedAt timestamptz'],
} as const satisfies Record<Kind, readonly string[]>;

async function apply(tx: Tx, command: LedgerCommand): Promise<Verdict> {
  const fault = inputFault(command);
  if (fault) return fault;
  const fields = fieldsOf(command.kind);
  const casts = fields.map(({ type }, index) => `$${index + 1}::${type}`).join(', ');
  const wire = toWire(command);
  const name = `fn_ledger_${command.kind}`;
  const [row] = await ask<VerdictRow>(
    tx,
    // Not "from the function": Postgres would keep its one row in a store of rows.
    { name, text: `select (v).verdict, (v).sequence, (v).detail from (select ${name}(${casts}) as v) x` },
    fields.map(({ name }) => wire[name] ?? null),
  );
  if (!row) throw new Error(`Invariant: a ${command.kind} gets a verdict.`);
  return toVerdict(row);
}

function fieldsOf(kind: Kind): { name: string; type: string }[] {
  return ['profileId uuid', 'key text', ...ARGUMENTS[kind]].map((field) => {
    const [name = '', type = ''] = field.split(' ');
    return { name, type };
  });
}

/** The fields of its kind and no others. Amounts and tokens travel as text, so that no digit is lost on the way. */
function toWire(command: LedgerCommand): Record<string, string> {
  const values = command as unknown as Record<string, { toString(): string } | undefined>;
  const fields = fieldsOf(command.kind).flatMap(({ name }): [string, string][] => {
    const value = values[name];
    if (value === undefined) return [];
    return [[name, value instanceof Date ? value.toISOString() : value.toString()]];
  });
  return { kind: command.kind, ...Object.fromEntries(fields) };
}
