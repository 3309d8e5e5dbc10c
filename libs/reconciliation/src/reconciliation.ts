import type { ReconciliationParts, Sweep } from './reconciliation-parts.js';
import type { LastSweep } from './sweep-turns.js';
import { sweepOnce, type SweepRequest } from './sweep.js';

/** Somebody sweeps this venue right now; what they find will be in the next run. */
export class SweepUnderWay extends Error {
  constructor(readonly venue: string) {
    super(`Venue ${venue} is being swept at this moment; look at the runs, or ask again when it is over.`);
    this.name = 'SweepUnderWay';
  }
}

/** Makes our tables say what the venues say, account by account. Each verb may be called by many processes at once. */
export class Reconciliation {
  constructor(private readonly parts: ReconciliationParts) {}

  /** Sweeps when it is time to and nobody else is at it; else undefined. For loops. */
  async sweepIfDue(request: Omit<SweepRequest, 'askedBy'>): Promise<Sweep | undefined> {
    const { clock, settings } = this.parts;
    const last = await this.inform(request.venue);
    // An interval is measured from end to end, and loops wake a little early or late.
    const isDue = last === undefined || clock.now() - last.endedAt >= settings.intervalMs / 2;
    return isDue ? this.inTurn(request) : undefined;
  }

  /** Tells the observer how the last sweep of the venue ended that ended well, whoever made it. */
  async inform(venue: string): Promise<LastSweep | undefined> {
    const last = await this.parts.turns.findLast(venue);
    if (last) this.parts.observer.informed(venue, last);
    return last;
  }

  /** Sweeps because somebody asked for it. Throws SweepUnderWay. */
  async sweep(request: SweepRequest & { readonly askedBy: string }): Promise<Sweep> {
    const sweep = await this.inTurn(request);
    if (!sweep) throw new SweepUnderWay(request.venue);
    return sweep;
  }

  private async inTurn(request: SweepRequest): Promise<Sweep | undefined> {
    const { turns, observer, clock } = this.parts;
    const turn = await turns.tryTake(request.venue);
    if (turn === 'taken') {
      observer.contended();
      return undefined;
    }
    try {
      const sweep = await sweepOnce(this.parts, request);
      observer.swept(sweep);
      if (sweep.outcome !== 'failed') {
        const last = { endedAt: clock.now(), figures: sweep.figures };
        observer.informed(request.venue, last);
        await turns.setLast(request.venue, last);
      }
      return sweep;
    } finally {
      await turns.giveBack(turn);
    }
  }
}
