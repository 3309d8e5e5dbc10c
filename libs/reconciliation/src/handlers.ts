import type { Tx } from '#libs/database';
import { applyReportIn, type Applied, type Report } from '#libs/lifecycle';
import { isTerminal } from '#libs/venues';
import type { Correction } from './correction.js';
import type { Kind } from './rules.js';

/** Carries the venue's word into our tables, through the same verb as every other report of an order. */
type Handler = (tx: Tx, correction: Correction) => Promise<Applied>;

/** The venue filled more of an entry: capital moves from the reservation into the position. */
export const reconcileEntryFill = handler('tells of something filled', isOfFills);
/** The venue filled more of an exit: the position shrinks, and what was earned is booked. */
export const reconcileExitFill = handler('tells of something filled', isOfFills);
/** The venue has ended the order: what was reserved and not used is given back. */
export const reconcileCancel = handler('tells of an order that ended', isOfEnd);
/** The venue has an order, or a state of it, that we did not record: the record follows. */
export const logOrder = handler('tells of an order', isOfOrder);

const HANDLERS: Partial<Record<Kind, Handler>> = {
  'entry-fill': reconcileEntryFill,
  'exit-fill': reconcileExitFill,
  cancel: reconcileCancel,
  'vanished-entry': reconcileCancel,
  status: logOrder,
  'log-order': logOrder,
};

export function handlerOf(kind: Kind): Handler {
  const found = HANDLERS[kind];
  if (!found) throw new Error(`Invariant: ${kind} is carried into the tables, so there is a handler for it.`);
  return found;
}

function handler(rule: string, fits: (report: Report) => boolean): Handler {
  return (tx, { id, kind, venue, report }) => {
    if (!report || !fits(report)) throw new Error(`Invariant: correction ${id} is a ${kind}, so its report ${rule}.`);
    return applyReportIn(tx, { venue, source: 'sweep' }, report);
  };
}

function isOfFills({ order, fills = [] }: Report): boolean {
  return fills.length > 0 || (order?.filledQuantity.isPositive() ?? false);
}

function isOfEnd({ order }: Report): boolean {
  return order !== undefined && isTerminal(order);
}

function isOfOrder({ order }: Report): boolean {
  return order !== undefined;
}
