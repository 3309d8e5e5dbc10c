export type Verdict =
  | { readonly outcome: 'applied' | 'duplicate'; readonly sequence: bigint }
  | { readonly outcome: 'refused'; readonly code: RefusalCode; readonly detail?: string };

export type RefusalCode = keyof typeof REFUSALS;

/** What a refusal means, which thing it concerns and what to do, in one sentence. */
export function explainRefusal(code: RefusalCode, detail?: string): string {
  return REFUSALS[code](detail);
}

const the = (detail: string | undefined, otherwise: string): string => (detail ? `"${detail}"` : otherwise);
const of = (detail: string | undefined): string => (detail ? ` of ${detail}` : '');
const left = (detail: string | undefined): string => (detail ? ` (${detail} left)` : '');

/** One entry for each code that the SQL functions give; docs/ledger.md says the same at more length. */
const REFUSALS = {
  unknown_command: (detail) => `The ledger knows no command ${the(detail, 'without a kind')}; send one that it knows.`,
  invalid_key: () =>
    'The idempotency key is not 1 to 100 letters, digits or ._:/+=@- characters; send the command with such a key.',
  invalid_actor: () =>
    'The actor is not 1 to 100 letters, digits or ._:/+=@- characters; say in such a name who sends the command.',
  invalid_time: (detail) =>
    `The field ${the(detail, 'given')} is no moment between the years 1 and 9999; correct it, or leave it out.`,
  field_missing: (detail) => `The field ${the(detail, 'that the command needs')} is missing or unreadable; add it.`,
  field_not_wanted: (detail) => `The command has no use for the field ${the(detail, 'given')}; leave it out.`,
  amount_not_finite: (detail) => `The field ${the(detail, 'given')} is not a finite number; correct it.`,
  amount_too_large: (detail) => `The field ${the(detail, 'given')} is 10^20 or more; send a smaller one.`,
  amount_too_precise: (detail) =>
    `The field ${the(detail, 'given')} has more than 18 decimals; round it before sending it.`,
  amount_not_positive: (detail) => `The field ${the(detail, 'given')} is not above zero; correct it.`,
  unknown_profile: () =>
    'There is no ledger of this profile, or it is not yours; open the ledger first, or correct the profile.',
  key_reused: () =>
    'The idempotency key belongs to another command that was applied before; send this one with a key of its own.',
  trade_exists: () => 'Capital was reserved for this trade before; reserve for a trade with an id of its own.',
  halted: (detail) => `Entries are halted (${detail ?? 'no reason given'}); lift the halt once its cause is gone.`,
  stale_lock: () =>
    'The entry lock with this token ran out, was released or was taken over; take the lock again and decide anew.',
  limit_order_notional: (detail) =>
    `The order is larger than the limit${of(detail)} for one order; send a smaller one or raise the limit.`,
  limit_open_positions: (detail) =>
    `The profile has as many open trades as its limit${of(detail)} allows; close one or raise the limit.`,
  limit_daily_loss: (detail) =>
    `The profile has lost its limit${of(detail)} for one day; wait for the next day (UTC) or raise the limit.`,
  insufficient_capital: (detail) =>
    `The available capital${left(detail)} is less than the amount; send a smaller one, release or deposit.`,
  unknown_trade: () => 'Nothing was ever reserved for this trade; correct the trade, or reserve for it first.',
  trade_closed: () => 'The trade is closed and holds no capital; there is nothing left to do for it.',
  nothing_reserved: () => 'No capital is reserved for orders of this trade any more; there is nothing to release.',
  exceeds_reservation: (detail) =>
    `The amount is more than is still reserved for orders of the trade${left(detail)}; release that or less.`,
  nothing_filled: () => 'The trade has no position, only an order; release the order instead of closing.',
  exceeds_position: (detail) =>
    `The quantity is more than the position of the trade holds${left(detail)}; close that or less.`,
  nothing_to_move: () =>
    'The close moves no capital at all: no cost, no profit, no fee; send the quantity that was really closed.',
  changed_since: () =>
    'The trade changed after the venue was asked, so its answer may be old; ask it again and rebuild with a new key.',
  unchanged: () => 'The trade already is as the rebuild says; there is nothing to correct.',
} as const satisfies Record<string, (detail: string | undefined) => string>;

export const REFUSAL_CODES = Object.keys(REFUSALS) as readonly RefusalCode[];

export function refused(code: RefusalCode, detail?: string): Verdict {
  return detail === undefined ? { outcome: 'refused', code } : { outcome: 'refused', code, detail };
}

/** A row of the SQL type ledger_verdict. */
export interface VerdictRow {
  readonly verdict: string;
  readonly sequence: string | null;
  readonly detail: string | null;
}

export function toVerdict({ verdict, sequence, detail }: VerdictRow): Verdict {
  if (verdict === 'applied' || verdict === 'duplicate') {
    if (sequence === null) throw new Error(`Invariant: a command that was ${verdict} has a sequence.`);
    return { outcome: verdict, sequence: BigInt(sequence) };
  }
  if (!isRefusalCode(verdict)) throw new Error(`Invariant: every refusal is known, got "${verdict}".`);
  return refused(verdict, detail ?? undefined);
}

function isRefusalCode(code: string): code is RefusalCode {
  return Object.hasOwn(REFUSALS, code);
}
