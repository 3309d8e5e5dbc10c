import type { Database, Tx } from '#libs/database';
import { StandingProblems, type Problem, type ProblemObserver } from './standing-problems.js';
import { BREACH } from './watchdog.js';

export interface CapitalViolation extends Problem {
  /** The figures; the problem itself is said in words that stay the same while they move. */
  readonly detail: string;
}

interface CapitalWatchdogParts {
  readonly database: Database;
  readonly profiles: readonly string[];
  readonly observer: ProblemObserver<CapitalViolation>;
}

/**
 * Looks at the ledger rows of some profiles, as often as one likes: it reads no journal. What it finds halts the profile
 * like what the proof finds; that a row is the fold of its journal only the proof can tell.
 */
export class CapitalWatchdog {
  private readonly standing: StandingProblems<CapitalViolation>;

  constructor(private readonly parts: CapitalWatchdogParts) {
    this.standing = new StandingProblems(parts);
  }

  /** Resolves with what is wrong now. */
  async runOnce(): Promise<readonly CapitalViolation[]> {
    const rows = await this.parts.database.statement((tx) => selectRows(tx, this.parts.profiles));
    const problems = new Map(rows.flatMap(problemsOf));
    await this.standing.update(problems);
    return [...problems.values()];
  }
}

/**
 * One statement, so one moment: every command of the ledger changes row and reservations in one transaction, so that
 * what is compared here was committed together. Two statements could meet a command between them and raise a false alarm.
 */
async function selectRows(tx: Tx, profiles: readonly string[]): Promise<Row[]> {
  return tx.query<Row[]>(
    `select l.profile_id, trim_scale(l.allocated_capital) as allocated_capital,
            trim_scale(l.reserved_for_orders) as reserved_for_orders,
            trim_scale(l.reserved_for_positions) as reserved_for_positions, trim_scale(l.realized_pnl) as realized_pnl,
            trim_scale(l.available_capital) as available_capital, l.available_capital < 0 as is_negative,
            l.available_capital = l.allocated_capital - l.reserved_for_orders - l.reserved_for_positions
              + l.realized_pnl as is_by_formula, l.breached_at::text as breached_at,
            trim_scale(r.orders) as orders, r.orders = l.reserved_for_orders as has_same_orders,
            trim_scale(r.positions) as positions, r.positions = l.reserved_for_positions as has_same_positions
       from capital_ledger l
      cross join lateral (
        select coalesce(sum(k.reserved_for_orders), 0) as orders, coalesce(sum(k.reserved_for_positions), 0) as positions
          from reservations k where k.profile_id = l.profile_id) r
      where l.profile_id = any($1::uuid[])`,
    [profiles],
  );
}

/** By name; a breach is another one each time. */
function problemsOf(row: Row): [string, CapitalViolation][] {
  const { profile_id: profileId, breached_at: breachedAt, available_capital: available } = row;
  const found: { problem: string; detail: string; since?: string }[] = [];
  if (!row.is_by_formula) {
    const { allocated_capital: allocated, realized_pnl: pnl } = row;
    const reserved = `reserved ${row.reserved_for_orders} and ${row.reserved_for_positions}`;
    const detail = `available ${available}, allocated ${allocated}, ${reserved}, realized ${pnl}`;
    found.push({ problem: 'available capital is not what the formula says', detail });
  }
  if (breachedAt !== null) found.push({ problem: BREACH, detail: `available ${available}`, since: breachedAt });
  else if (row.is_negative) {
    found.push({ problem: `${BREACH}, and no breach is recorded`, detail: `available ${available}` });
  }
  if (!row.has_same_orders) {
    const detail = `the row says ${row.reserved_for_orders}, the reservations add up to ${row.orders}`;
    found.push({ problem: 'what is reserved for orders is not the sum of the reservations', detail });
  }
  if (!row.has_same_positions) {
    const detail = `the row says ${row.reserved_for_positions}, the reservations add up to ${row.positions}`;
    found.push({ problem: 'what is reserved for positions is not the sum of the reservations', detail });
  }
  return found.map(({ since, ...violation }) => [
    `${profileId} ${violation.problem} ${since ?? ''}`,
    { profileId, ...violation },
  ]);
}

interface Row {
  readonly profile_id: string;
  readonly allocated_capital: string;
  readonly reserved_for_orders: string;
  readonly reserved_for_positions: string;
  readonly realized_pnl: string;
  readonly available_capital: string;
  readonly breached_at: string | null;
  readonly is_negative: boolean;
  readonly is_by_formula: boolean;
  readonly orders: string;
  readonly has_same_orders: boolean;
  readonly positions: string;
  readonly has_same_positions: boolean;
}
