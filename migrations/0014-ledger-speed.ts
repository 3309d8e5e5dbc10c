import type { MigrationInterface, QueryRunner } from 'typeorm';
import { APPLY_BATCH } from './0014-batch.js';
import { RULES, type OneMoveKind } from './0014-one-move.js';
import { singleCommand } from './0014-single-commands.js';

/**
 * The same ledger with less work. What a table must be is said by policies in place of checks: Postgres reads, parses and
 * plans a check anew in every statement, while a policy is part of the plan, and row security is forced upon the owner
 * too. What is available is computed when it is read, not stored with every update.
 */
export class LedgerSpeed implements MigrationInterface {
  readonly name = 'LedgerSpeed0000000000014';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(INVARIANTS);
    await runner.query(LEDGER_HAS_A_PROFILE);
    await runner.query(APPLY_BATCH);
    for (const kind of Object.keys(RULES) as OneMoveKind[]) await runner.query(singleCommand(kind));
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward.'));
  }
}

// Restrictive: each must hold beside the policy that lets the owner work, and is named when it is broken.
const INVARIANTS = `
  alter table capital_ledger
    drop constraint available_is_negative_only_in_a_breach,
    drop constraint reserved_is_not_negative,
    drop constraint capital_ledger_profile_id_fkey,
    drop column available_capital;
  alter table capital_ledger
    add column available_capital numeric generated always as
      (allocated_capital - reserved_for_orders - reserved_for_positions + realized_pnl) virtual;
  alter table reservations drop constraint reservation_is_not_negative;
  alter table ledger_entries drop constraint entry_moves_an_amount_between_two_buckets;

  create policy reserved_is_not_negative on capital_ledger as restrictive to flotilla_owner
    using (true) with check (least(reserved_for_orders, reserved_for_positions) >= 0);
  create policy available_is_negative_only_in_a_breach on capital_ledger as restrictive to flotilla_owner
    using (true) with check ((available_capital < 0) = (breached_at is not null));
  create policy reservation_is_not_negative on reservations as restrictive to flotilla_owner
    using (true)
    with check (least(order_quantity, reserved_for_orders, position_quantity, reserved_for_positions) >= 0);
  create policy entry_moves_an_amount_between_two_buckets on ledger_entries as restrictive to flotilla_owner
    using (true) with check (amount > 0 and amount < 1e24 and source <> target);
`;

// A foreign key would be asked at every update of a ledger row, although its profile never changes. So the profile is
// looked for when the ledger is opened, and stays.
const LEDGER_HAS_A_PROFILE = `
  create function fn_ledger_has_a_profile() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
  begin
    perform from public.profiles p where p.profile_id = new.profile_id for key share;
    if not found then
      raise foreign_key_violation using message = format('There is no profile %s.', new.profile_id);
    end if;
    return null;
  end $$;
  revoke execute on function fn_ledger_has_a_profile from public;
  create trigger ledger_has_a_profile after insert on capital_ledger
    for each row execute function fn_ledger_has_a_profile();
  create trigger profiles_stay before delete or truncate on profiles
    for each statement execute function fn_refuse_change();
  create trigger profiles_keep_their_ids before update of profile_id on profiles
    for each statement execute function fn_refuse_change();
`;
