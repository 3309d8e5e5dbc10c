import type {
  Lookup,
  LookupUnknown,
  RefusalReason,
  Refused,
  SubmitOutcome,
  Unknown,
  UnknownReason,
} from './outcome.js';

/** What kept a call from a good answer, told without the words of a client library. */
export type Fault =
  | { readonly kind: 'not-sent'; readonly reason: NotSentReason; readonly message: string }
  | { readonly kind: 'transport'; readonly reason: TransportReason; readonly message: string }
  | FaultyAnswer;

export type NotSentReason = Extract<RefusalReason, 'budget' | 'aborted' | 'invalid-request' | 'not-ready'>;
export type TransportReason = Extract<UnknownReason, 'timeout' | 'aborted' | 'connection' | 'unreadable'>;

export interface FaultyAnswer {
  readonly kind: 'answer';
  readonly status: number;
  /** Undefined when the body was not the venue's own kind of error; a gateway may have written it. */
  readonly code: string | undefined;
  readonly message: string;
  readonly retryAfterMs?: number;
}

/** What the venue's own errors mean. */
export interface ErrorWords {
  isDuplicate(answer: FaultyAnswer): boolean;
  isNotFound(answer: FaultyAnswer): boolean;
  /** The venue says that it does not know what became of the request. */
  isUnsure(answer: FaultyAnswer): boolean;
  isClock(answer: FaultyAnswer): boolean;
  /** Undefined when this error does not prove that the request had no effect. */
  refusalOf(answer: FaultyAnswer): RefusalReason | undefined;
}

type Verdict = Refused | Unknown | { readonly outcome: 'duplicate' } | { readonly outcome: 'not-found' };

export function submitOutcomeOf(fault: Fault, words: ErrorWords): SubmitOutcome {
  const verdict = judge(fault, words);
  // "No such thing" in answer to a submission speaks of its symbol or account, and is a refusal like others.
  return verdict.outcome === 'not-found' ? refused(fault, 'invalid-order') : verdict;
}

export function lookupOf(fault: Fault, words: ErrorWords): Lookup {
  const verdict = judge(fault, words);
  if (verdict.outcome === 'not-found' || verdict.outcome === 'unknown') return verdict;
  const reason = verdict.outcome === 'refused' ? verdict.reason : 'other';
  return { outcome: 'unknown', reason, message: fault.message } satisfies LookupUnknown;
}

/**
 * Only an answer in the venue's own words proves anything. Everything between us and the venue, the venue's own
 * doubt included, leaves the outcome open.
 */
export function judge(fault: Fault, words: ErrorWords): Verdict {
  switch (fault.kind) {
    case 'not-sent':
      return refused(fault, fault.reason);
    case 'transport':
      return unknown(fault, fault.reason);
    case 'answer':
      return judgeAnswer(fault, words);
  }
}

export function isRateLimited(answer: FaultyAnswer): boolean {
  return answer.status === 429 || answer.status === 418;
}

function judgeAnswer(answer: FaultyAnswer, words: ErrorWords): Verdict {
  if (isRateLimited(answer)) return unknown(answer, 'rate-limited');
  if (words.isUnsure(answer)) return unknown(answer, 'venue-unsure');
  if (answer.status >= 500) return unknown(answer, 'server-error');
  if (answer.code === undefined || answer.status < 200 || (answer.status >= 300 && answer.status < 400)) {
    return unknown(answer, 'unreadable');
  }
  if (words.isDuplicate(answer)) return { outcome: 'duplicate' };
  if (words.isNotFound(answer)) return { outcome: 'not-found' };
  if (words.isClock(answer)) return refused(answer, 'clock');
  const reason = words.refusalOf(answer);
  return reason === undefined ? unknown(answer, 'unreadable') : refused(answer, reason);
}

function refused(fault: Fault, reason: RefusalReason): Refused {
  const code = fault.kind === 'answer' ? fault.code : undefined;
  return { outcome: 'refused', reason, ...(code !== undefined && { code }), message: fault.message };
}

function unknown(fault: Fault, reason: UnknownReason): Unknown {
  return { outcome: 'unknown', reason, message: fault.message };
}
