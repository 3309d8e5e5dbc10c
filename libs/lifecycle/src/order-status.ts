import type { OrderStatus } from '#libs/venues';

/**
 * The way an order may go; the table order_transitions in Postgres says the same, and is what decides. A report that
 * would lead anywhere else is late, and changes no status.
 */
export const ORDER_TRANSITIONS: Readonly<Record<OrderStatus, readonly OrderStatus[]>> = {
  pending: ['open', 'partially-filled', 'filled', 'cancelled', 'expired', 'rejected', 'replaced'],
  open: ['partially-filled', 'filled', 'cancelled', 'expired', 'rejected', 'replaced'],
  'partially-filled': ['filled', 'cancelled', 'expired', 'replaced'],
  filled: [],
  cancelled: [],
  expired: [],
  rejected: [],
  replaced: [],
};

/** Whether an order may still be filled. */
export function isWorking(status: OrderStatus): boolean {
  return ORDER_TRANSITIONS[status].length > 0;
}
