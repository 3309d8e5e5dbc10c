import { describe, expect, it } from 'vitest';
import { SQLSTATE, sqlStateOf } from '#libs/database';
import { d, fillOf, setupLifecycle } from './testing/setup.js';

/** A change that would break a row, and the rule that refuses it. */
const BROKEN: readonly (readonly [table: string, change: string, rule: string])[] = [
  ['entry_locks', `symbol = 'BTC/usd'`, 'lock_symbol_is_lower_case'],
  ['entry_locks', `owner = ''`, 'lock_owner_is_named'],
  ['entry_locks', 'token = 0', 'lock_token_grows_from_one'],
  ['entry_intents', 'quantity = 0', 'intent_is_of_an_order'],
  ['entry_intents', 'limit_price = null', 'intent_is_of_an_order'],
  ['entry_intents', `state = 'lost'`, 'intent_is_decided_once'],
  ['entry_intents', 'decided_at = null', 'intent_is_decided_once'],
  ['entry_intents', `state = 'unknown', decided_at = null, is_active = false`, 'intent_without_proof_is_active'],
  ['exit_intents', 'generation = -1', 'exit_generation_counts_from_zero'],
  ['exit_intents', 'left_behind = -1', 'left_behind_is_not_negative'],
  ['exit_intents', `side = 'hold'`, 'intent_is_of_an_order'],
  ['trade_lifecycle', `side = 'flat'`, 'trade_is_long_or_short'],
  ['trade_lifecycle', `state = 'lost'`, 'trade_state_is_known'],
  ['trade_lifecycle', `state = 'closed'`, 'trade_that_ended_has_a_time'],
  ['positions', 'quantity = -1', 'position_is_not_negative'],
  ['orders', `purpose = 'hedge'`, 'order_enters_or_leaves'],
  ['orders', `status = 'lost'`, 'order_status_is_known'],
  ['orders', 'booked_quantity = filled_quantity + 1', 'order_is_booked_as_far_as_filled'],
];

describe('what rows of locks, intents and trades must be', () => {
  it.each(BROKEN)('%s set %s: refused by %s, even to the owner of the tables', async (table, change, rule) => {
    const { admin, newProfile, enter, leave, apply } = await setupLifecycle();
    const profileId = await newProfile();
    const { tradeId, clientOrderId } = await enter(profileId);
    await apply({ fills: [fillOf(clientOrderId, 'f1', { quantity: d('10') })] });
    await leave(profileId, tradeId, { quantity: '10' });
    await admin.query('set role flotilla_owner');
    const error: unknown = await admin.query(`update ${table} set ${change}`).catch((reason: unknown) => reason);
    expect(sqlStateOf(error)).toBe(SQLSTATE.insufficientPrivilege);
    expect(String(error)).toContain(`"${rule}"`);
  });
});
