import { randomUUID } from 'node:crypto';
import { Registry } from 'prom-client';
import { inject, onTestFinished } from 'vitest';
import { SystemClock } from '#libs/clock';
import { Decimal } from '#libs/money';
import { openRedis } from '#libs/redis';
import {
  clientOrderIdFor,
  openVenue,
  OrderFollower,
  paperVenueSettings,
  VenueMetrics,
  type SubmitRequest,
  type Venue,
  type VenueContext,
  type VenueSettings,
} from '#libs/venues';
import { startPaperVenue, type PaperVenue } from './paper-venue.js';

export interface Protocol {
  readonly adapter: 'alpaca' | 'ccxt';
  readonly symbol: string;
  readonly otherSymbol: string;
}

/** Short, because faults that delay are waited out; long enough for a busy machine to answer. */
const TIMEOUT_MS = 1_500;

export async function setup(protocol: Protocol, options: { paperEnv?: Record<string, string> } = {}) {
  const paper = await startPaperVenue(options.paperEnv);
  await paper.control('POST', '/paper/mode', { fills: 'manual' });
  const redis = await openRedis(inject('redisUrl'), { lost: () => undefined, restored: () => undefined });
  onTestFinished(() => redis.disconnect());
  const registry = new Registry();
  const lost: string[] = [];
  const changes = new Signal();
  const context: VenueContext = {
    config: ownConfig(),
    clock: new SystemClock(),
    redis,
    metrics: new VenueMetrics(registry),
    streamLost: (_venue, reason) => {
      lost.push(reason);
      changes.notify();
    },
    streamBackoffMs: { base: 20, max: 200 },
  };
  const settings = {
    ...paperVenueSettings(Number(new URL(paper.url).port), protocol.adapter),
    requestsPerMinute: 1_000_000,
    ordersPer10Seconds: 1_000_000,
  } as VenueSettings;
  const open = (changes: { settings?: Partial<VenueSettings>; context?: Partial<VenueContext> } = {}): Venue => {
    const opened = openVenue({ ...settings, ...changes.settings } as VenueSettings, { ...context, ...changes.context });
    onTestFinished(() => opened.close());
    return opened;
  };
  const venue = open();
  /** An order that rests, far below the market, under an id of its own. */
  const request = (changes: Partial<SubmitRequest> = {}): SubmitRequest => ({
    clientOrderId: clientOrderIdFor(
      { profileId: randomUUID(), tradeId: randomUUID() },
      'bytelyst',
      venue.capabilities.clientOrderIds,
    ),
    symbol: protocol.symbol,
    side: 'buy',
    type: 'limit',
    quantity: Decimal.parse('0.00123'),
    limitPrice: Decimal.parse('50000.01'),
    timeInForce: 'gtc',
    purpose: 'entry',
    ...changes,
  });
  const submissionsOf = async (clientOrderId: string): Promise<number> => {
    const { items } = await paper.control<{ items: { clientOrderId: string }[] }>('GET', '/paper/submissions');
    return items.filter((item) => item.clientOrderId === clientOrderId).length;
  };
  const accept = async (changes: Partial<SubmitRequest> = {}) => {
    const outcome = await venue.submit(request(changes));
    if (outcome.outcome !== 'accepted') throw new Error(`Expected an accepted order, got ${JSON.stringify(outcome)}.`);
    return outcome.order;
  };
  const fill = (venueOrderId: string, quantity: string, price = '50000'): Promise<unknown> =>
    paper.control('POST', `/paper/orders/${venueOrderId}/fill`, { quantity, price });
  return { paper, venue, open, request, accept, fill, submissionsOf, registry, context, redis, lost, changes };
}

/** Lets a test wait for what it looks at to change. */
export class Signal {
  private waiting = Promise.withResolvers<void>();

  notify(): void {
    this.waiting.resolve();
    this.waiting = Promise.withResolvers<void>();
  }

  async until(condition: () => boolean | Promise<boolean>): Promise<void> {
    for (;;) {
      const changed = this.waiting.promise;
      if (await condition()) return;
      await changed;
    }
  }
}

/** Follows the venue's orders until a condition holds; the follower's own calls are the signal to look again. */
export function follow(
  protocol: Protocol,
  venue: Venue,
  options: { compareEveryMs?: number; mismatchGraceMs?: number } = {},
) {
  const changes = new Signal();
  let isLive = false;
  const failures: unknown[] = [];
  // The first comparison follows the first gap, and these are its last list.
  const closedOrders: Venue['closedOrders'] = async (...wanted) => {
    const orders = await venue.closedOrders(...wanted);
    isLive = true;
    return orders;
  };
  const follower = new OrderFollower({
    venue: { ...venue, closedOrders },
    clock: new SystemClock(),
    symbols: [protocol.symbol, protocol.otherSymbol],
    since: new Date(new SystemClock().now() - 60_000),
    compareEveryMs: options.compareEveryMs ?? 3_600_000,
    mismatchGraceMs: options.mismatchGraceMs ?? 200,
    changed: () => changes.notify(),
    failed: (error) => failures.push(error),
  });
  follower.start();
  onTestFinished(() => follower.stop());
  const until = (condition: () => boolean | Promise<boolean>): Promise<void> => changes.until(condition);
  const state = () =>
    follower
      .list()
      .map(({ order, fills }) => ({
        id: order.venueOrderId,
        filled: order.filledQuantity.toString(),
        status: order.status,
        fills: fills.length,
        fillsTotal: fills.reduce((total, { quantity }) => total.plus(quantity), Decimal.zero).toString(),
      }))
      .toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return { follower, until, state, failures, live: () => until(() => isLive) };
}

/** The venue's own record in the same words. */
export async function venueState(paper: PaperVenue) {
  const status: Record<string, string> = { new: 'open', partially_filled: 'partially-filled', canceled: 'cancelled' };
  return (await paper.orders())
    .map((order) => ({
      id: order.id,
      filled: Decimal.parse(order.filledQuantity).toString(),
      status: status[order.status] ?? order.status,
    }))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** A budget of its own, under a prefix of its own. */
export function ownConfig(): VenueContext['config'] {
  return {
    KEY_PREFIX: `test-${randomUUID()}`,
    SUBMIT_TIMEOUT_MS: TIMEOUT_MS,
    VENUE_QUERY_TIMEOUT_MS: TIMEOUT_MS,
    VENUE_BUDGET_WAIT_MS: 0,
  };
}
