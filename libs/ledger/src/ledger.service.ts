import type { Database } from '#libs/database';
import { OperatorError } from '#libs/operator';
import type { Close, Deposit, Fill, LedgerCommand, Rebuild, Release, Reservation, Withdrawal } from './command.js';
import { applyBatch, rebuild } from './commands.js';
import { inputFault } from './input-fault.js';
import { openLedger } from './ledger-rows.js';
import { verifyLedger, type LedgerProof } from './proof.js';
import type { Verdict } from './verdict.js';

/** Nobody knows whether the commands were applied. Their keys make it safe to ask again. */
export class LedgerUnavailable extends OperatorError {
  constructor(cause: unknown) {
    super(
      `The ledger did not answer (${cause instanceof Error ? cause.message : String(cause)}), so the outcome is ` +
        'unknown. Send the same command with the same key again: it is applied once, whether it was before or not.',
      { cause },
    );
  }
}

/** The service was told to stop before the command came; it was not sent. */
export class LedgerStopped extends OperatorError {
  constructor() {
    super('The ledger service is stopping and takes no more commands. Nothing was sent; send it after the restart.');
  }
}

const BATCHES_IN_FLIGHT_MAX = 2;
const BATCH_SIZE_MAX = 1000;

interface Waiting {
  readonly command: LedgerCommand;
  readonly resolve: (verdict: Verdict) => void;
  readonly reject: (error: Error) => void;
}

/**
 * The ledger for a whole process. A command that finds nothing under way is sent at once; those that come while the
 * allowed number of batches is on its way gather, and travel together when one of them returns. So one caller waits
 * for nobody, and a thousand pay for one transaction.
 *
 * Commands of one profile are applied in the order of the calls: those of a profile that is on its way wait for its
 * return. Two batches of ours therefore never wait for each other's locks.
 */
export class LedgerService {
  private readonly waiting = new Map<string, Waiting[]>();
  private readonly underWay = new Set<string>();
  private readonly inFlight = new Set<Promise<void>>();
  private readonly alongside = new Set<Promise<void>>();
  private isSendPlanned = false;
  private isStopping = false;

  constructor(private readonly database: Database) {}

  /** Resolves once the command is decided and, if applied, durable. Rejects with LedgerUnavailable or LedgerStopped. */
  apply(command: LedgerCommand): Promise<Verdict> {
    if (this.isStopping) return Promise.reject(new LedgerStopped());
    const fault = inputFault(command);
    if (fault) return Promise.resolve(fault);
    return new Promise((resolve, reject) => {
      const profile = command.profileId.toLowerCase();
      const queue = this.waiting.get(profile);
      if (queue) queue.push({ command, resolve, reject });
      else this.waiting.set(profile, [{ command, resolve, reject }]);
      this.planSend();
    });
  }

  deposit(command: Deposit): Promise<Verdict> {
    return this.apply({ ...command, kind: 'deposit' });
  }

  withdraw(command: Withdrawal): Promise<Verdict> {
    return this.apply({ ...command, kind: 'withdraw' });
  }

  reserve(command: Reservation): Promise<Verdict> {
    return this.apply({ ...command, kind: 'reserve' });
  }

  release(command: Release): Promise<Verdict> {
    return this.apply({ ...command, kind: 'release' });
  }

  fill(command: Fill): Promise<Verdict> {
    return this.apply({ ...command, kind: 'fill' });
  }

  close(command: Close): Promise<Verdict> {
    return this.apply({ ...command, kind: 'close' });
  }

  applyBatch(commands: readonly LedgerCommand[]): Promise<Verdict[]> {
    return Promise.all(commands.map((command) => this.apply(command)));
  }

  rebuild(command: Rebuild): Promise<Verdict[]> {
    return this.alone(() => this.database.transaction((tx) => rebuild(tx, command)));
  }

  openLedger(profileId: string): Promise<void> {
    return this.alone(() => this.database.transaction((tx) => openLedger(tx, profileId)));
  }

  verifyLedger(profileId?: string): Promise<LedgerProof[]> {
    return this.alone(() => this.database.transaction((tx) => verifyLedger(tx, profileId)));
  }

  /** Resolves when everything that was accepted has its answer. */
  async stop(): Promise<void> {
    this.isStopping = true;
    this.send();
    while (this.inFlight.size + this.alongside.size > 0) await Promise.race([...this.inFlight, ...this.alongside]);
  }

  /** Calls made in one go leave in one batch. */
  private planSend(): void {
    if (this.isSendPlanned || this.inFlight.size >= BATCHES_IN_FLIGHT_MAX) return;
    this.isSendPlanned = true;
    queueMicrotask(() => {
      this.isSendPlanned = false;
      this.send();
    });
  }

  private send(): void {
    while (this.inFlight.size < BATCHES_IN_FLIGHT_MAX) {
      const batch = this.takeBatch();
      if (batch.length === 0) return;
      const profiles = new Set(batch.map(({ command }) => command.profileId.toLowerCase()));
      for (const profile of profiles) this.underWay.add(profile);
      const sent: Promise<void> = this.settle(batch).then(() => {
        for (const profile of profiles) this.underWay.delete(profile);
        this.inFlight.delete(sent);
        this.send();
      });
      this.inFlight.add(sent);
    }
  }

  /** Whoever has waited longest comes first, with all that its profile has gathered. */
  private takeBatch(): Waiting[] {
    const batch: Waiting[] = [];
    for (const [profile, queue] of this.waiting) {
      if (this.underWay.has(profile)) continue;
      const taken = queue.splice(0, BATCH_SIZE_MAX - batch.length);
      batch.push(...taken);
      if (queue.length === 0) this.waiting.delete(profile);
      if (batch.length === BATCH_SIZE_MAX) break;
    }
    return batch;
  }

  private async settle(batch: readonly Waiting[]): Promise<void> {
    try {
      const commands = batch.map(({ command }) => command);
      const verdicts = await this.database.statement((tx) => applyBatch(tx, commands));
      for (const [index, { resolve }] of batch.entries()) resolve(verdicts[index] as Verdict);
    } catch (error) {
      const unavailable = new LedgerUnavailable(error);
      for (const { reject } of batch) reject(unavailable);
    }
  }

  /** What does not travel in batches, in a transaction of its own. */
  private async alone<T>(work: () => Promise<T>): Promise<T> {
    if (this.isStopping) throw new LedgerStopped();
    const answer = work();
    const tracked: Promise<void> = answer.then(
      () => void this.alongside.delete(tracked),
      () => void this.alongside.delete(tracked),
    );
    this.alongside.add(tracked);
    try {
      return await answer;
    } catch (error) {
      throw error instanceof OperatorError ? error : new LedgerUnavailable(error);
    }
  }
}
