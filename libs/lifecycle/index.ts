export {
  findAccountOrders,
  findIntentOwners,
  listAccountFills,
  listAccountSymbols,
  listUnsettledOrders,
  type AccountFill,
  type AccountOrder,
  type IntentOwner,
} from './src/account-records.js';
export { listAssetFlows, listNetPositions, type AssetFlow, type NetPosition } from './src/account-holdings.js';
export type { Settlement } from './src/dispute.js';
export type { Buffers, EntryPlan } from './src/entry-plan.js';
export { UnknownTrade } from './src/exit.js';
export { listHistory, type HistoryEvent } from './src/history.js';
export { listUndecided, type Evidence, type IntentRef, type UndecidedIntent } from './src/intents.js';
export {
  STEPS,
  type LifecycleObserver,
  type LifecycleParts,
  type LifecycleSettings,
  type Step,
} from './src/lifecycle-parts.js';
export type { LifecycleReport } from './src/lifecycle-report.js';
export { LifecycleWatchdog, type LifecycleViolation } from './src/lifecycle-watchdog.js';
export { Lifecycle } from './src/lifecycle.js';
export { openLifecycle, type OpenedLifecycle } from './src/open-lifecycle.js';
export { ORDER_TRANSITIONS } from './src/order-status.js';
export type { OrderSync, SyncScope } from './src/order-sync.js';
export { listPositions, type TradePosition } from './src/positions.js';
export type { LedgerCorrection } from './src/rebuild.js';
export { applyReportIn, type Applied, type Report, type ReportSource } from './src/report.js';
export type { Resolution } from './src/resolver.js';
export type { ExitRequest, OrderTerms, Outcome, Signal } from './src/signal.js';
export { countTrades, type TradeCounts } from './src/trade-counts.js';
export { listFillsOf, type TradeFill } from './src/trade-fills.js';
export { tradeIdOf } from './src/trade-id.js';
export { listIntentsOf, type TradeIntent } from './src/trade-intents.js';
export { listOrders, listOrdersOf, type OrderCursor, type TradeOrder } from './src/trade-orders.js';
export { findActiveTrade, findTrade, listTrades, type Trade, type TradeRef, type TradeState } from './src/trades.js';
export { listUnfinished, type Unfinished } from './src/unfinished.js';
