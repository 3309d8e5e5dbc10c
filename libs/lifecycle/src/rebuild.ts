import { recordAct } from '#libs/tenancy';
import type { LifecycleParts } from './lifecycle-parts.js';
import { OrderSync } from './order-sync.js';
import { applyReport } from './report.js';
import { resolveIntents } from './resolver.js';

export interface RebuildScope {
  readonly venue: string;
  readonly symbol: string;
  readonly profiles: readonly string[];
}

/** A reservation that was not what orders and fills say it must be. */
export interface LedgerCorrection {
  readonly profileId: string;
  readonly tradeId: string;
  readonly was: Readonly<Record<string, unknown>>;
  readonly isNow: Readonly<Record<string, unknown>>;
}

/**
 * Before anything is traded: what the venue knows of our orders is brought into the tables, open intents are looked
 * into, and the reservations are compared with what orders and fills say. Nothing of a process' memory is needed. An
 * intent that stays unknown blocks its own symbol and nothing else. Rejects when the venue cannot be read.
 */
export async function rebuild(parts: LifecycleParts, scope: RebuildScope): Promise<LedgerCorrection[]> {
  const { venue, symbol, profiles } = scope;
  for (const order of await parts.venueOf(venue).openOrders()) {
    if (order.symbol === symbol) await applyReport(parts.database, { venue, source: 'poll' }, { order });
  }
  await resolveIntents(parts, { venue, symbol });
  await new OrderSync(parts, { venue, symbol }).runOnce();
  const corrections: LedgerCorrection[] = [];
  for (const profileId of profiles) corrections.push(...(await correctLedger(parts, profileId)));
  return corrections;
}

async function correctLedger(parts: LifecycleParts, profileId: string): Promise<LedgerCorrection[]> {
  return parts.database.transaction(async (tx) => {
    const rows = await tx.query<{ trade_id: string; was: Record<string, unknown>; is_now: Record<string, unknown> }[]>(
      'select trade_id, was, is_now from fn_lifecycle_rebuild($1::uuid, $2::text)',
      [profileId, 'lifecycle'],
    );
    for (const { trade_id: tradeId, was, is_now: isNow } of rows) {
      const act = { actor: 'lifecycle', action: 'ledger.rebuild', profileId, subject: tradeId, detail: { was, isNow } };
      await recordAct(tx, act);
    }
    return rows.map(({ trade_id: tradeId, was, is_now: isNow }) => ({ profileId, tradeId, was, isNow }));
  });
}
