import type { Lookup, Order, SubmitOutcome, SubmitRequest, Venue } from '#libs/venues';
import type { HeldLock } from './held-lock.js';
import {
  isRefusedByPostgres,
  noteEvidence,
  persistLifecycle,
  rejectIntent,
  type Evidence,
  type IntentRef,
} from './intents.js';
import type { LifecycleParts } from './lifecycle-parts.js';
import type { ReportSource } from './report.js';
import type { Outcome } from './signal.js';

/** An intent that was written down a moment ago, under a lock that is still ours, and has never been sent. */
export interface Submission {
  readonly ref: IntentRef;
  readonly venue: Venue;
  readonly request: SubmitRequest;
  readonly lock: HeldLock;
  readonly actor: string;
}

/** Time that must be left of the lock for a submission to be worth sending. */
const TIME_LEFT_MS_MIN = 50;
/** What persisting and releasing may take before the lock ends. */
const AFTER_SUBMIT_MS = 1_000;
const LOOKUPS_MAX = 3;
const LOOKUP_PAUSE_MS = 200;
const PERSIST_ATTEMPTS_MAX = 4;
const PERSIST_PAUSE_MS = 100;

type Conclusion = Omit<Outcome, 'tradeId' | 'clientOrderId'>;

/**
 * Sends an order once and makes of the answer what it proves. Silence is looked into for a while; what is still open
 * then stays unknown and is left to the resolver, as everything is that dies on the way.
 */
export async function submitOnce(parts: LifecycleParts, submission: Submission): Promise<Conclusion> {
  const { request } = submission;
  await parts.observer.reached(`${request.purpose}:begun`);
  const outcome = await send(parts, submission);
  await parts.observer.reached(`${request.purpose}:answered`);
  const conclusion = await conclude(parts, submission, outcome);
  await parts.observer.reached(`${request.purpose}:persisted`);
  parts.observer.concluded(request.purpose, conclusion.outcome, conclusion.reason);
  return conclusion;
}

async function send(parts: LifecycleParts, submission: Submission): Promise<SubmitOutcome> {
  const first = await sendInTime(parts, submission);
  // The venue refused our time stamp, so it took nothing; the adapter has measured its clock anew.
  return first.outcome === 'refused' && first.reason === 'clock' ? sendInTime(parts, submission) : first;
}

/** Nothing is sent under a lock that may be gone before the answer is recorded. */
function sendInTime(parts: LifecycleParts, { venue, request, lock }: Submission): Promise<SubmitOutcome> {
  const { clock, settings } = parts;
  const leftMs = lock.endsAt - clock.monotonic() - Math.min(AFTER_SUBMIT_MS, settings.entryLockTtlMs / 4);
  if (leftMs < TIME_LEFT_MS_MIN) {
    return Promise.resolve({ outcome: 'refused', reason: 'aborted', message: 'the entry lock was about to end' });
  }
  return venue.submit(request, { timeoutMs: Math.min(settings.submitTimeoutMs, leftMs) });
}

function conclude(parts: LifecycleParts, submission: Submission, outcome: SubmitOutcome): Promise<Conclusion> {
  switch (outcome.outcome) {
    case 'accepted':
      return confirm(parts, submission, { order: outcome.order, source: 'submit' });
    case 'refused': {
      const answer = outcome.code === undefined ? outcome.reason : `${outcome.reason} ${outcome.code}`;
      return reject(parts, submission, {
        reason: outcome.reason,
        evidence: { asked: 'submit', answer, detail: outcome.message },
      });
    }
    case 'duplicate':
      return lookInto(parts, submission, { asked: 'submit', answer: 'duplicate' });
    case 'unknown':
      return lookInto(parts, submission, { asked: 'submit', answer: outcome.reason, detail: outcome.message });
  }
}

/** Not finding the order now proves nothing: it may still be on its way. */
async function lookInto(parts: LifecycleParts, submission: Submission, evidence: Evidence): Promise<Conclusion> {
  const { clock } = parts;
  for (let attempt = 0; attempt < LOOKUPS_MAX; attempt += 1) {
    const leftMs = submission.lock.endsAt - clock.monotonic();
    if (leftMs < TIME_LEFT_MS_MIN) break;
    const lookup = await lookUp(submission, leftMs);
    if (lookup.outcome === 'found') return confirm(parts, submission, { order: lookup.order, source: 'lookup' });
    await clock.sleep(LOOKUP_PAUSE_MS * 2 ** attempt);
  }
  return leaveUnknown(parts, submission, evidence);
}

function lookUp({ venue, request }: Submission, leftMs: number): Promise<Lookup> {
  return venue.findByClientOrderId(
    { clientOrderId: request.clientOrderId, symbol: request.symbol },
    { timeoutMs: leftMs },
  );
}

/** A database that is away for a moment must not turn an order that the venue has into an unknown one. */
async function confirm(
  parts: LifecycleParts,
  submission: Submission,
  proof: { readonly order: Order; readonly source: ReportSource },
): Promise<Conclusion> {
  const { ref, lock, request } = submission;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const { verdict } = await persistLifecycle(parts.database, ref, {
        lockToken: lock.token,
        report: { order: proof.order },
        source: proof.source,
      });
      return verdict === 'persisted'
        ? { outcome: 'submitted' }
        : unknown(verdict, `The venue has order ${proof.order.venueOrderId}; it is recorded by the resolver.`);
    } catch (error) {
      if (attempt === PERSIST_ATTEMPTS_MAX || isRefusedByPostgres(error)) {
        parts.observer.failed(`record ${request.purpose} order ${proof.order.venueOrderId}`, error);
        return unknown('database', `The venue has order ${proof.order.venueOrderId}; it is recorded by the resolver.`);
      }
      await parts.clock.sleep(PERSIST_PAUSE_MS * 2 ** attempt);
    }
  }
}

async function reject(
  parts: LifecycleParts,
  { ref, lock, actor, request }: Submission,
  proof: { readonly reason: string; readonly evidence: Evidence },
): Promise<Conclusion> {
  try {
    const { verdict } = await rejectIntent(parts.database, ref, { lockToken: lock.token, actor, ...proof });
    if (verdict !== 'rejected') return unknown(verdict, 'The refusal could not be recorded; the resolver decides.');
    return {
      outcome: 'rejected',
      reason: proof.reason,
      ...(proof.evidence.detail !== undefined && { detail: proof.evidence.detail }),
    };
  } catch (error) {
    parts.observer.failed(`record the refusal of ${request.clientOrderId}`, error);
    return unknown('database', 'The refusal could not be recorded; the resolver decides.');
  }
}

async function leaveUnknown(
  parts: LifecycleParts,
  { ref, lock, request }: Submission,
  evidence: Evidence,
): Promise<Conclusion> {
  await noteEvidence(parts.database, ref, { lockToken: lock.token, evidence }).catch((error: unknown) =>
    parts.observer.failed(`note that ${request.clientOrderId} is unknown`, error),
  );
  return unknown(evidence.answer, 'The venue has not said what came of it; its capital stays reserved until it has.');
}

function unknown(reason: string, detail: string): Conclusion {
  return { outcome: 'unknown', reason, detail };
}
