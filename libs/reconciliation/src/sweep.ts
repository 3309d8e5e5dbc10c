import { listAccountSymbols } from '#libs/lifecycle';
import { countQuestions } from './correction-records.js';
import { correct, noteSeenHoldings } from './corrections.js';
import { findDifferences } from './findings.js';
import type { ReconciliationParts, Sweep } from './reconciliation-parts.js';
import type { SweepFigures } from './run-records.js';
import { Run } from './run.js';

export interface SweepRequest {
  readonly venue: string;
  /** A sweep that somebody asked for is written down even when it finds nothing. */
  readonly askedBy?: string;
  readonly signal?: AbortSignal;
}

const NOTHING: SweepFigures = {
  ...{ orders: 0, fills: 0, mismatches: 0, missingFromExchange: 0, missingInDb: 0, foreignOrders: 0 },
  ...{ corrected: 0, openQuestions: 0, leftAlone: 0 },
};

/**
 * One pass over one account: read the venue, read our tables, compare, ask the venue again about each difference, and
 * only then write, profile by profile under its lock. A venue that does not answer whole ends the pass before anything
 * is written. Nothing is kept between two passes, so a process that dies in the middle of one costs nothing.
 */
export async function sweepOnce(parts: ReconciliationParts, request: SweepRequest): Promise<Sweep> {
  const { clock, database } = parts;
  const [startedAt, started] = [new Date(clock.now()), clock.monotonic()];
  const run = new Run(database, request);
  const ended = (result: Pick<Sweep, 'outcome' | 'figures' | 'reason'>): Sweep => ({
    ...{ venue: request.venue, startedAt, durationMs: clock.monotonic() - started, ...result },
    ...(run.hasBegun && { runId: run.id }),
  });
  try {
    if (request.askedBy !== undefined) await run.begin();
    const figures = await pass(parts, run, request);
    const outcome = figures.mismatches === 0 ? 'clean' : 'corrected';
    await run.end({ state: outcome, figures });
    return ended({ outcome, figures });
  } catch (error) {
    if (request.signal?.aborted) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    // A sweep that failed is on record, unless it is the database that failed.
    await run
      .begin()
      .then(() => run.end({ state: 'failed', figures: {}, reason }))
      .catch(() => undefined);
    return ended({ outcome: 'failed', figures: NOTHING, reason });
  }
}

async function pass(parts: ReconciliationParts, run: Run, { venue: id, signal }: SweepRequest): Promise<SweepFigures> {
  const { clock, database, settings, observer } = parts;
  await observer.reached('sweep:begun');
  const venue = parts.venueOf(id);
  const since = new Date(clock.now() - settings.lookbackMs);
  const symbols = await database.statement((tx) => listAccountSymbols(tx, { venue: id, recordedSince: since }));
  const options = signal ? { signal } : {};
  const findings = await findDifferences(parts, venue, { since, symbols, options });
  const { corrected, mismatches, leftAlone } = await correct(parts, run, findings);
  await noteSeenHoldings(parts, id, findings.holdings);
  const { comparison, theirs, missingFromExchange, missingInDb, unproved } = findings;
  return {
    orders: theirs.openOrders.length + theirs.closedOrders.length,
    fills: theirs.fills.length,
    ...{ mismatches, missingFromExchange, missingInDb, corrected },
    foreignOrders: comparison.foreign.length,
    openQuestions: await database.statement((tx) => countQuestions(tx, id)),
    leftAlone: comparison.leftAlone + unproved + leftAlone,
  };
}
