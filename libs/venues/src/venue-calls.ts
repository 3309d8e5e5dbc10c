import type { Clock } from '#libs/clock';
import { isRateLimited, type Fault } from './fault.js';
import type { Cost, Priority, RateBudget } from './rate-budget.js';
import { UnreadableAnswer } from './venue-error.js';
import type { CallOptions } from './venue.js';

export interface CallLimits {
  /** For submissions and cancellations. */
  readonly orderTimeoutMs: number;
  readonly queryTimeoutMs: number;
  readonly budgetWaitMs: number;
}

export interface Call extends CallOptions {
  readonly priority: Priority;
  readonly cost: Cost;
  readonly isOrder?: boolean;
}

export type CallResult<T> =
  { readonly isAnswered: true; readonly value: T } | { readonly isAnswered: false; readonly fault: Fault };

/** When the venue forgets to say for how long. */
const BLOCK_MS_DEFAULT = 10_000;
const BAN_MS_DEFAULT = 120_000;

const DONE = 'done';

/** The way of every request: a place in the budget, then one attempt with an end. */
export class VenueCalls {
  constructor(
    private readonly clock: Clock,
    private readonly budget: RateBudget,
    private readonly limits: CallLimits,
  ) {}

  /** explain turns what the client library threw into a fault; it is not asked about timeouts and aborts. */
  async call<T>(
    call: Call,
    attempt: (signal: AbortSignal) => Promise<T>,
    explain: (error: unknown) => Fault,
  ): Promise<CallResult<T>> {
    // The caller's time runs from here, its wait for a place in the budget included; ours from the sending.
    const endsAt = this.clock.monotonic() + (call.timeoutMs ?? Infinity);
    const grant = await this.budget.acquire({
      priority: call.priority,
      cost: call.cost,
      waitMsMax: Math.min(this.limits.budgetWaitMs, call.timeoutMs ?? Infinity),
      ...(call.signal && { signal: call.signal }),
    });
    if (!grant.granted) return notSent(grant.reason);
    const allowedMs = call.isOrder ? this.limits.orderTimeoutMs : this.limits.queryTimeoutMs;
    const timeoutMs = Math.min(allowedMs, endsAt - this.clock.monotonic());
    if (timeoutMs <= 0) return notSent('aborted');
    const result = await this.attempt({ ...call, timeoutMs }, attempt, explain);
    if (!result.isAnswered && result.fault.kind === 'answer' && isRateLimited(result.fault)) {
      const byDefault = result.fault.status === 418 ? BAN_MS_DEFAULT : BLOCK_MS_DEFAULT;
      await this.budget.block(result.fault.retryAfterMs ?? byDefault);
    }
    return result;
  }

  private async attempt<T>(
    { timeoutMs, ...call }: CallOptions & { readonly timeoutMs: number },
    attempt: (signal: AbortSignal) => Promise<T>,
    explain: (error: unknown) => Fault,
  ): Promise<CallResult<T>> {
    const ended = new AbortController();
    const late = new AbortController();
    void this.clock.sleep(timeoutMs, ended.signal).then(() => {
      if (!ended.signal.aborted) late.abort();
    });
    const signal = call.signal ? AbortSignal.any([late.signal, call.signal]) : late.signal;
    // A client may ignore the signal while it reads a body that never ends, so the wait ends here in any case.
    const cut = Promise.withResolvers<never>();
    signal.addEventListener('abort', () => cut.reject(new Error('cut')), { once: true });
    cut.promise.catch(() => undefined);
    try {
      return { isAnswered: true, value: await Promise.race([attempt(signal), cut.promise]) };
    } catch (error) {
      return { isAnswered: false, fault: faultOf(error) };
    } finally {
      // A reason of our own spares the stack trace that abort would take for its default one.
      ended.abort(DONE);
    }

    function faultOf(error: unknown): Fault {
      if (late.signal.aborted) {
        return { kind: 'transport', reason: 'timeout', message: `no answer within ${timeoutMs} ms` };
      }
      if (signal.aborted) return { kind: 'transport', reason: 'aborted', message: 'the caller gave up waiting' };
      if (error instanceof UnreadableAnswer) return { kind: 'transport', reason: 'unreadable', message: error.message };
      return explain(error);
    }
  }
}

function notSent(reason: 'budget' | 'aborted'): CallResult<never> {
  const message = reason === 'budget' ? 'the rate budget of the venue is spent; nothing was sent' : 'nothing was sent';
  return { isAnswered: false, fault: { kind: 'not-sent', reason, message } };
}
