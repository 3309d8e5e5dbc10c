import { z } from 'zod';
import type { Ledger, LedgerEntry } from '#libs/ledger';

const FORMULA = 'availableCapital = allocatedCapital - reservedForOrders - reservedForPositions + realizedPnl';

const Amount = z.string().meta({ examples: ['1000.5'] });

export const LedgerAnswer = z.strictObject({
  profileId: z.guid(),
  allocatedCapital: Amount,
  reservedForOrders: Amount,
  reservedForPositions: Amount,
  realizedPnl: Amount,
  availableCapital: Amount,
  invariant: z.strictObject({
    formula: z.literal(FORMULA),
    computed: Amount.describe('the right side of the formula, added up anew'),
    holds: z.boolean().describe('both sides are the same'),
    breachedAt: z.iso
      .datetime()
      .nullable()
      .describe('since when less than nothing is available; new entries are halted'),
  }),
});
export type LedgerAnswer = z.infer<typeof LedgerAnswer>;

export function ledgerAnswer(ledger: Ledger): LedgerAnswer {
  const computed = ledger.allocatedCapital
    .minus(ledger.reservedForOrders)
    .minus(ledger.reservedForPositions)
    .plus(ledger.realizedPnl);
  return {
    profileId: ledger.profileId,
    allocatedCapital: ledger.allocatedCapital.toString(),
    reservedForOrders: ledger.reservedForOrders.toString(),
    reservedForPositions: ledger.reservedForPositions.toString(),
    realizedPnl: ledger.realizedPnl.toString(),
    availableCapital: ledger.availableCapital.toString(),
    invariant: {
      formula: FORMULA,
      computed: computed.toString(),
      holds: computed.equals(ledger.availableCapital),
      breachedAt: ledger.breachedAt?.toISOString() ?? null,
    },
  };
}

const Bucket = z.enum(['outside', 'available', 'orders', 'positions', 'pnl']);

export const EntryAnswer = z.strictObject({
  sequence: z.int(),
  command: z.string().meta({ examples: ['deposit'] }),
  part: z.int().describe('counts the movements of one command from 0'),
  source: Bucket,
  target: Bucket,
  amount: Amount,
  tradeId: z.guid().nullable(),
  key: z.string(),
  actor: z.string().meta({ examples: ['tenant:alice'] }),
  happenedAt: z.iso.datetime(),
  recordedAt: z.iso.datetime(),
});

export function entryAnswer(entry: LedgerEntry): z.infer<typeof EntryAnswer> {
  const { command, part, source, target, key, actor } = entry;
  return {
    sequence: Number(entry.sequence),
    command,
    part,
    source,
    target,
    amount: entry.amount.toString(),
    tradeId: entry.tradeId ?? null,
    key,
    actor,
    happenedAt: entry.happenedAt.toISOString(),
    recordedAt: entry.recordedAt.toISOString(),
  };
}
