import type { Database } from '#libs/database';
import { recordAct } from '#libs/tenancy';
import type { TradeRef, TradeState } from './trades.js';
import { call } from './verdict.js';

export type Settlement =
  | { readonly outcome: 'settled'; readonly state: TradeState }
  | { readonly outcome: 'not_disputed'; readonly state: TradeState }
  /** The trade would be active again, and another is in its symbol. */
  | { readonly outcome: 'active_entry'; readonly tradeId?: string }
  | { readonly outcome: 'unknown_trade' };

/**
 * A person has looked at a disputed trade: it goes on as what its orders and fills say it is. The halt of its symbol stays
 * until somebody lifts it.
 */
export function settleDispute(
  database: Database,
  { profileId, tradeId }: TradeRef,
  { actor, reason }: { readonly actor: string; readonly reason: string },
): Promise<Settlement> {
  return database.transaction(async (tx) => {
    const { verdict, detail } = await call<Settlement['outcome']>(tx, 'fn_settle_dispute', [
      [profileId, 'uuid'],
      [tradeId, 'uuid'],
      [actor, 'text'],
      [reason, 'text'],
    ]);
    switch (verdict) {
      case 'settled':
        await recordAct(tx, {
          ...{ actor, action: 'trade.settle', profileId, subject: tradeId },
          detail: { reason, state: detail },
        });
        return { outcome: verdict, state: detail as TradeState };
      case 'not_disputed':
        return { outcome: verdict, state: detail as TradeState };
      case 'active_entry':
        return { outcome: verdict, ...(detail !== undefined && { tradeId: detail }) };
      case 'unknown_trade':
        return { outcome: verdict };
    }
  });
}
