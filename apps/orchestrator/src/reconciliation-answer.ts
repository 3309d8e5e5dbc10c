import { z } from 'zod';
import { KINDS, RULES, type CorrectionRecord, type SweepRun } from '#libs/reconciliation';

export const RunState = z.enum(['running', 'clean', 'corrected', 'failed', 'abandoned']);
export const CorrectionState = z.enum(['applied', 'noted', 'asked', 'quarantined', 'resolved']);

const Figures = z.strictObject({
  orders: z.int().describe('orders that the venue listed'),
  fills: z.int().describe('fills that the venue listed'),
  mismatches: z.int().describe('differences that were proved'),
  missingFromExchange: z.int().describe('working orders of ours that the venue does not have'),
  missingInDb: z.int().describe('orders of ours at the venue that were not recorded'),
  foreignOrders: z.int().describe('orders of others; reported, never touched'),
  corrected: z.int(),
  openQuestions: z.int().describe('differences that wait for a person'),
  leftAlone: z.int().describe('too young, unproved because the venue was silent, or of a profile that another sweeps'),
});

export const RunAnswer = z.strictObject({
  id: z.guid(),
  venue: z.string(),
  askedBy: z.string().describe('who asked for the sweep, or "schedule"'),
  state: RunState.describe(
    'corrected: differences were found · failed: the venue or the database did not answer whole, nothing was changed · abandoned: its process died',
  ),
  reason: z.string().nullable(),
  figures: Figures.nullable().describe('null until it ended well'),
  startedAt: z.iso.datetime(),
  endedAt: z.iso.datetime().nullable(),
});

const Evidence = z.record(z.string(), z.union([z.string(), z.number(), z.null()])).nullable();

export const CorrectionAnswer = z.strictObject({
  id: z.string().describe('follows from the content: the same difference has the same id'),
  runId: z.guid().describe('the run that found it first'),
  venue: z.string(),
  profileId: z.guid().nullable().describe('null: it concerns the whole account'),
  tradeId: z.guid().nullable(),
  symbol: z.string().nullable(),
  orderId: z.string().nullable(),
  rule: z.int(),
  kind: z.enum(KINDS),
  says: z.string().describe('what was found, in words'),
  state: CorrectionState.describe(
    'applied: our tables follow the venue · noted: nothing to change · asked and quarantined: entries are halted until a person resolves it',
  ),
  recorded: Evidence.describe('what our tables said'),
  reported: Evidence.describe('what the venue said'),
  times: z.int(),
  haltId: z.guid().nullable(),
  resolution: z.string().nullable(),
  resolvedBy: z.string().nullable(),
  foundAt: z.iso.datetime(),
  lastAt: z.iso.datetime(),
  resolvedAt: z.iso.datetime().nullable(),
});

export function runAnswer(run: SweepRun): z.infer<typeof RunAnswer> {
  const { runId: id, venue, askedBy, state } = run;
  const figures = Figures.safeParse(run.figures);
  return {
    ...{ id, venue, askedBy, state },
    reason: run.reason ?? null,
    figures: figures.success ? figures.data : null,
    startedAt: run.startedAt.toISOString(),
    endedAt: run.endedAt?.toISOString() ?? null,
  };
}

export function correctionAnswer(record: CorrectionRecord): z.infer<typeof CorrectionAnswer> {
  const { correctionId: id, runId, venue, rule, kind, state, recorded, reported, times } = record;
  return {
    ...{ id, runId, venue, rule, kind, state, recorded, reported, times, says: RULES[kind].says },
    profileId: record.profileId ?? null,
    tradeId: record.tradeId ?? null,
    symbol: record.symbol ?? null,
    orderId: record.orderId ?? null,
    haltId: record.haltId ?? null,
    resolution: record.resolution ?? null,
    resolvedBy: record.resolvedBy ?? null,
    foundAt: record.foundAt.toISOString(),
    lastAt: record.lastAt.toISOString(),
    resolvedAt: record.resolvedAt?.toISOString() ?? null,
  };
}
