import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What rows of locks, intents and trades must be, said by policies in place of checks, as the ledger's rows have it: a
 * check is read and planned anew in every statement, which cost an entry a quarter of its work in Postgres; a policy is
 * part of the plan. Restrictive, and forced upon the owner, whom all functions run as.
 */
export class LifecyclePolicies implements MigrationInterface {
  readonly name = 'LifecyclePolicies0000000000018';

  async up(runner: QueryRunner): Promise<void> {
    for (const [table, rules] of Object.entries(RULES)) {
      for (const [name, rule] of Object.entries(rules)) {
        await runner.query(`alter table ${table} drop constraint ${name}`);
        await runner.query(
          `create policy ${name} on ${table} as restrictive to flotilla_owner using (true) with check (${rule})`,
        );
      }
    }
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward.'));
  }
}

const LOCK = {
  lock_owner_is_named: `owner <> ''`,
  lock_token_grows_from_one: 'token >= 1',
};

const INTENT = {
  intent_is_of_an_order: `side in ('buy', 'sell') and quantity > 0 and client_order_id <> ''
    and (type = 'limit') = (limit_price is not null)`,
  intent_is_decided_once: `state in ('pending', 'unknown', 'confirmed', 'rejected')
    and (decided_at is not null) = (state in ('confirmed', 'rejected'))`,
  intent_without_proof_is_active: `is_active or state in ('confirmed', 'rejected')`,
};

// The names and the words of the checks.
const RULES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  entry_locks: { lock_symbol_is_lower_case: `symbol <> '' and symbol = lower(symbol)`, ...LOCK },
  reconciliation_locks: LOCK,
  entry_intents: INTENT,
  exit_intents: {
    exit_generation_counts_from_zero: 'generation >= 0',
    left_behind_is_not_negative: 'left_behind >= 0',
    ...INTENT,
  },
  trade_lifecycle: {
    trade_is_long_or_short: `side in ('long', 'short')`,
    trade_state_is_known: `state in ('entering', 'open', 'exiting', 'closed', 'cancelled', 'disputed')`,
    trade_that_ended_has_a_time: `(ended_at is not null) = (state in ('closed', 'cancelled'))`,
  },
  positions: { position_is_not_negative: 'least(quantity, entry_quantity, exit_quantity) >= 0' },
  orders: {
    order_enters_or_leaves: `purpose in ('entry', 'exit')`,
    order_status_is_known: `status in
      ('pending', 'open', 'partially-filled', 'filled', 'cancelled', 'expired', 'rejected', 'replaced')`,
    order_is_booked_as_far_as_filled: 'booked_quantity between 0 and filled_quantity',
  },
  fills: { fill_is_of_something: 'quantity > 0 and price > 0' },
};
