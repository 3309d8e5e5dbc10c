import { createHash } from 'node:crypto';
import type { Report } from '#libs/lifecycle';
import { RULES, type Action, type Kind } from './rules.js';

/** What one side says, as it is shown to people and compared: texts and numbers, and no time of reading. */
export type Evidence = Readonly<Record<string, string | number | null>>;

/** A difference that was proved, and what is to be done about it. */
export interface Correction {
  /** Follows from the content: the same difference is the same correction, whoever finds it and however often. */
  readonly id: string;
  readonly venue: string;
  readonly kind: Kind;
  readonly rule: number;
  readonly action: Action;
  /** Not said where it concerns the whole account. */
  readonly profileId?: string;
  readonly tradeId?: string;
  readonly symbol?: string;
  readonly orderId?: string;
  /** What our tables say, and what the venue says; null where one of them says nothing. */
  readonly recorded: Evidence | null;
  readonly reported: Evidence | null;
  /** What the lifecycle is told; for those that are applied. */
  readonly report?: Report;
}

export type Finding = Omit<Correction, 'id' | 'rule' | 'action'>;

export function correctionOf(finding: Finding): Correction {
  const { number: rule, action } = RULES[finding.kind];
  return { ...finding, rule, action, id: idOf(finding) };
}

function idOf({ venue, kind, profileId, orderId, recorded, reported }: Finding): string {
  const content = [venue, kind, profileId ?? null, orderId ?? null, sorted(recorded), sorted(reported)];
  return createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 32);
}

function sorted(evidence: Evidence | null): [string, string | number | null][] | null {
  return evidence && Object.entries(evidence).toSorted(([a], [b]) => (a < b ? -1 : 1));
}
