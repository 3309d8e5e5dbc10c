import { requestCancel } from './intents.js';
import type { LifecycleParts } from './lifecycle-parts.js';
import { cancelOrder } from './order-sync.js';
import { isWorking } from './order-status.js';
import { listOrdersOf, type TradeOrder } from './trade-orders.js';
import type { TradeRef } from './trades.js';

/**
 * Cancels whatever of a trade still works at the venue. The wish is written down first: an order whose cancellation
 * stays unknown, or that turns out to exist only later, is cancelled by the next poll. Resolves with the orders as
 * they are known then; one that is still working may yet be filled.
 */
export async function cancelTrade(parts: LifecycleParts, trade: TradeRef): Promise<TradeOrder[]> {
  const read = (): Promise<TradeOrder[]> => parts.database.statement((tx) => listOrdersOf(tx, trade));
  await parts.database.statement((tx) => requestCancel(tx, trade));
  let orders = await read();
  // An intent that was confirmed at this very moment was seen neither as an intent nor as an order.
  if (orders.some((order) => isWorking(order.status) && !order.isCancelRequested)) {
    await parts.database.statement((tx) => requestCancel(tx, trade));
    orders = await read();
  }
  await parts.observer.reached('cancel:requested');
  for (const order of orders) if (isWorking(order.status)) await cancelOrder(parts, order);
  return read();
}
