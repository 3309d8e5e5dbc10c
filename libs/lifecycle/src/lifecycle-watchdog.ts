import type { Clock } from '#libs/clock';
import type { Database, Tx } from '#libs/database';
import { StandingProblems, type Problem, type ProblemObserver } from '#libs/ledger';

export interface LifecycleViolation extends Problem {
  readonly tradeId: string | undefined;
}

interface LifecycleWatchdogParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly venue: string;
  readonly symbol: string;
  readonly profiles: readonly string[];
  readonly observer: ProblemObserver<LifecycleViolation>;
}

/** For how long a trade is looked at after its end. */
const RECENT_MS = 600_000;

/**
 * Looks at the trades of some profiles in one symbol at one venue: those that are active and those that ended a moment
 * ago, so that a look costs the same however many there have been. What it finds halts the profile.
 */
export class LifecycleWatchdog {
  private readonly standing: StandingProblems<LifecycleViolation>;
  /** When each trade was last seen active: nothing in the tables leads quickly to those that ended lately. */
  private readonly activeAt = new Map<string, number>();

  constructor(private readonly parts: LifecycleWatchdogParts) {
    this.standing = new StandingProblems(parts);
  }

  /** Resolves with what is wrong now. */
  async runOnce(): Promise<readonly LifecycleViolation[]> {
    const now = this.parts.clock.monotonic();
    for (const [tradeId, at] of this.activeAt) if (now - at > RECENT_MS) this.activeAt.delete(tradeId);
    const rows = await this.parts.database.statement((tx) =>
      selectRows(tx, { ...this.parts, remembered: [...this.activeAt.keys()] }),
    );
    for (const { trade_id: tradeId, problem } of rows) {
      if (problem === null && tradeId !== null) this.activeAt.set(tradeId, now);
    }
    const violations = rows.flatMap(({ profile_id: profileId, trade_id, problem }) =>
      problem === null ? [] : [{ profileId, tradeId: trade_id ?? undefined, problem }],
    );
    const named = violations.map((each): [string, LifecycleViolation] => [`${each.profileId} ${each.problem}`, each]);
    await this.standing.update(new Map(named));
    return violations;
  }
}

/**
 * One statement, so one moment: intent, order, fills, position and reservation of a trade change in one transaction, so
 * that what is compared here was committed together. A row without a problem names a trade that is active.
 */
async function selectRows(
  tx: Tx,
  of: {
    readonly venue: string;
    readonly symbol: string;
    readonly profiles: readonly string[];
    readonly remembered: readonly string[];
  },
): Promise<Row[]> {
  return tx.query<Row[]>(
    `with looked_at as (
       select e.profile_id, e.trade_id from entry_intents e
        where e.profile_id = any($1::uuid[]) and lower(e.symbol) = lower($3::text) and e.venue = $2::text and e.is_active
       union
       select e.profile_id, e.trade_id from entry_intents e
        where e.profile_id = any($1::uuid[]) and lower(e.symbol) = lower($3::text) and e.venue = $2::text
          and e.created_at > now() - make_interval(secs => $5::integer)
       union
       select e.profile_id, e.trade_id from entry_intents e
        where e.profile_id = any($1::uuid[]) and e.trade_id = any($4::uuid[])),
     trades as (
       select e.profile_id, e.trade_id, e.state as intent_state, e.is_active, t.state
         from looked_at join entry_intents e using (profile_id, trade_id)
         left join trade_lifecycle t using (profile_id, trade_id)),
     crowded as (
       select e.profile_id, count(*) as entries from entry_intents e
        where e.profile_id = any($1::uuid[]) and lower(e.symbol) = lower($3::text) and e.is_active
        group by e.profile_id having count(*) > 1)
     select profile_id, trade_id, null as problem from trades where is_active
     union all
     select profile_id, null, 'more than one entry is active in ' || lower($3::text) from crowded
     union all
     select t.profile_id, t.trade_id, 'trade ' || t.trade_id || ' has no order that the venue confirmed' from trades t
      where t.state is not null and not exists (
        select from orders o where (o.profile_id, o.trade_id, o.purpose) = (t.profile_id, t.trade_id, 'entry'))
     union all
     select o.profile_id, o.trade_id, 'order ' || o.order_id || ' is booked otherwise than its fills add up'
       from trades t join orders o using (profile_id, trade_id)
      where o.booked_quantity <> (select coalesce(sum(f.quantity), 0) from fills f
                                   where (f.venue, f.order_id) = (o.venue, o.order_id))
     union all
     select t.profile_id, t.trade_id, 'trade ' || t.trade_id || ' holds another quantity than the ledger reserves for it'
       from trades t join positions p using (profile_id, trade_id) left join reservations r using (profile_id, trade_id)
      where p.quantity is distinct from r.position_quantity
     union all
     select t.profile_id, t.trade_id, 'trade ' || t.trade_id || ' has ended and keeps a reservation'
       from trades t join reservations r using (profile_id, trade_id)
      where (t.state in ('closed', 'cancelled') or (t.state is null and t.intent_state = 'rejected'))
        and r.reserved_for_orders + r.reserved_for_positions + r.order_quantity + r.position_quantity > 0`,
    [of.profiles, of.venue, of.symbol, of.remembered, RECENT_MS / 1000],
  );
}

interface Row {
  readonly profile_id: string;
  readonly trade_id: string | null;
  readonly problem: string | null;
}
