import { cancelTrade } from './cancel.js';
import { settleDispute, type Settlement } from './dispute.js';
import { enter } from './entry.js';
import { exitTrade } from './exit.js';
import type { IntentRef } from './intents.js';
import type { LifecycleParts } from './lifecycle-parts.js';
import { OrderSync, type SyncScope } from './order-sync.js';
import { rebuild, type LedgerCorrection, type RebuildScope } from './rebuild.js';
import { applyReport, type Applied, type Report, type ReportSource } from './report.js';
import { rejectByOperator, resolveIntents, type Resolution } from './resolver.js';
import type { ExitRequest, Outcome, Signal } from './signal.js';
import type { TradeOrder } from './trade-orders.js';
import type { TradeRef } from './trades.js';

/** The verbs of a trade's life. Each may be called again, by anybody, after any crash. */
export class Lifecycle {
  constructor(private readonly parts: LifecycleParts) {}

  enter(signal: Signal): Promise<Outcome> {
    return enter(this.parts, signal);
  }

  exit(request: ExitRequest): Promise<Outcome> {
    return exitTrade(this.parts, request);
  }

  cancel(trade: TradeRef): Promise<TradeOrder[]> {
    return cancelTrade(this.parts, trade);
  }

  /** Records what a venue said of an order. */
  apply(from: { readonly venue: string; readonly source: ReportSource }, report: Report): Promise<Applied> {
    return applyReport(this.parts.database, from, report);
  }

  resolveIntents(scope: { readonly venue: string; readonly symbol?: string }): Promise<{ readonly left: number }> {
    return resolveIntents(this.parts, scope);
  }

  rejectIntent(ref: IntentRef, by: { readonly actor: string; readonly reason: string }): Promise<Resolution> {
    return rejectByOperator(this.parts, ref, by);
  }

  settleDispute(trade: TradeRef, by: { readonly actor: string; readonly reason: string }): Promise<Settlement> {
    return settleDispute(this.parts.database, trade, by);
  }

  rebuild(scope: RebuildScope): Promise<LedgerCorrection[]> {
    return rebuild(this.parts, scope);
  }

  orderSync(scope: SyncScope): OrderSync {
    return new OrderSync(this.parts, scope);
  }
}
