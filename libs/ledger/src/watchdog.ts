import type { Clock } from '#libs/clock';
import type { Database, Tx } from '#libs/database';
import { verifyProfile, type LedgerProof } from './proof.js';
import { StandingProblems, type Problem, type ProblemObserver } from './standing-problems.js';

export interface LedgerViolation extends Problem {
  /** The first entry that is not as it should be, where the problem has a place in the journal. */
  readonly sequence: bigint | undefined;
}

export interface LedgerWatchdogObserver extends ProblemObserver<LedgerViolation> {
  /** A pass ended: how many journals it read, and which profiles have a problem now. */
  passed(result: LedgerPass): void;
  /** A pass could not be made; the next one follows. */
  failed(error: unknown): void;
}

export interface LedgerPass {
  readonly proved: number;
  readonly violations: number;
  readonly violated: readonly LedgerViolation[];
}

interface WatchdogParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly observer: LedgerWatchdogObserver;
  readonly intervalMs: number;
  readonly fullIntervalMs: number;
}

interface Known {
  proof: LedgerProof | undefined;
  fullyProvedAt: number;
  /** What the last proof found. */
  problem: LedgerViolation | undefined;
  readonly standing: StandingProblems<LedgerViolation>;
}

/**
 * Proves again and again that each ledger row is the fold of its journal and that the journal is whole. A journal that
 * moved is read from the last proof on; each is read whole when it is first seen and once per full interval. What is
 * wrong halts its profile: from then on a person decides.
 */
export class LedgerWatchdog {
  private readonly known = new Map<string, Known>();
  private readonly abort = new AbortController();
  private loop: Promise<void> | undefined;

  constructor(private readonly parts: WatchdogParts) {}

  start(): void {
    this.loop ??= (async () => {
      while (!this.abort.signal.aborted) {
        await this.runOnce();
        await this.parts.clock.sleep(this.parts.intervalMs, this.abort.signal);
      }
    })();
  }

  async stop(): Promise<void> {
    this.abort.abort();
    await this.loop;
  }

  async runOnce(): Promise<void> {
    try {
      this.parts.observer.passed(await this.pass());
    } catch (error) {
      if (!this.abort.signal.aborted) this.parts.observer.failed(error);
    }
  }

  private async pass(): Promise<LedgerPass> {
    const heads = await this.parts.database.transaction(selectHeads);
    const violated: LedgerViolation[] = [];
    let proved = 0;
    for (const head of [...heads, ...this.vanished(heads)]) {
      if (this.abort.signal.aborted) break;
      const known = this.knownOf(head.profileId);
      const plan = this.planProof(head, known);
      if (plan !== 'none') {
        await this.prove(head.profileId, known, plan);
        proved += 1;
      }
      const problems = problemsOf(head, known);
      const [first] = problems.values();
      if (first) violated.push(first);
      await known.standing.update(problems);
    }
    return { proved, violations: violated.length, violated };
  }

  /** A ledger row cannot be deleted; one that is gone all the same is the worst problem of all. */
  private vanished(heads: readonly Head[]): Head[] {
    const there = new Set(heads.map(({ profileId }) => profileId));
    return [...this.known.keys()]
      .filter((profileId) => !there.has(profileId))
      .map((profileId) => ({ profileId, state: 'gone', breachedAt: null }));
  }

  private knownOf(profileId: string): Known {
    const known = this.known.get(profileId) ?? {
      proof: undefined,
      fullyProvedAt: Number.NEGATIVE_INFINITY,
      problem: undefined,
      standing: new StandingProblems(this.parts),
    };
    this.known.set(profileId, known);
    return known;
  }

  /** What has a problem is read whole each time, so that it is noticed when it was mended. */
  private planProof(head: Head, known: Known): 'none' | 'whole' | 'rest' {
    const isDue = this.parts.clock.monotonic() - known.fullyProvedAt >= this.parts.fullIntervalMs;
    if (isDue || !known.proof || known.problem) return 'whole';
    return stateOf(known.proof) === head.state ? 'none' : 'rest';
  }

  private async prove(profileId: string, known: Known, plan: 'whole' | 'rest'): Promise<void> {
    const startedAt = this.parts.clock.monotonic();
    const after = plan === 'rest' ? known.proof : undefined;
    const proof = await this.parts.database.transaction((tx) => verifyProfile(tx, profileId, after));
    if (plan === 'whole') known.fullyProvedAt = startedAt;
    if (proof.problem === undefined) {
      known.proof = proof;
      known.problem = undefined;
    } else {
      known.problem = { profileId, sequence: proof.badSequence, problem: proof.problem };
    }
  }
}

interface Head {
  readonly profileId: string;
  /** What a proof that is up to date says as well. */
  readonly state: string;
  readonly breachedAt: string | null;
}

async function selectHeads(tx: Tx): Promise<Head[]> {
  const rows = await tx.query<{ profile_id: string; state: string; breached_at: string | null }[]>(
    `select profile_id, breached_at::text as breached_at,
            concat_ws(' ', last_sequence, encode(last_hash, 'hex'), trim_scale(allocated_capital),
              trim_scale(reserved_for_orders), trim_scale(reserved_for_positions), trim_scale(realized_pnl)) as state
       from capital_ledger order by profile_id`,
  );
  return rows.map((row) => ({ profileId: row.profile_id, state: row.state, breachedAt: row.breached_at }));
}

function stateOf({ sequence, hash, allocated, orders, positions, pnl }: LedgerProof): string {
  return [sequence, hash, allocated, orders, positions, pnl].join(' ');
}

/** Said in the same words by the ledger itself, in the transaction that made it so. */
export const BREACH = 'available capital is below zero';

/** By a name that stays the same while the figures in a description move on. */
function problemsOf(head: Head, known: Known): Map<string, LedgerViolation> {
  const problems = new Map<string, LedgerViolation>();
  if (known.problem) {
    const { sequence, problem } = known.problem;
    const words = problem.split(':', 1)[0]?.replaceAll(/(?<= )\d+(?=,|$)/g, 'n');
    problems.set(`${sequence ?? ''} ${words}`, known.problem);
  }
  if (head.breachedAt !== null) {
    const breach = { profileId: head.profileId, sequence: undefined, problem: BREACH };
    problems.set(`${BREACH} since ${head.breachedAt}`, breach);
  }
  return problems;
}
