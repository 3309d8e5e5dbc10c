import { z } from 'zod';
import type { HistoryEvent, Outcome, Trade, TradeFill, TradeIntent, TradeOrder, TradePosition } from '#libs/lifecycle';

const Amount = z.string().meta({ examples: ['0.25'] });
const Time = z.iso.datetime();

export const OutcomeAnswer = z.strictObject({
  tradeId: z.guid(),
  clientOrderId: z.string().describe('the name of the order at the venue'),
  outcome: z
    .enum(['submitted', 'unknown', 'rejected', 'skipped'])
    .describe(
      'submitted: the venue has the order · unknown: nobody knows yet, and its capital stays reserved · rejected: there is no order and will be none · skipped: nothing was begun',
    ),
  reason: z
    .string()
    .optional()
    .describe('a word to decide by; absent when submitted')
    .meta({ examples: ['insufficient_capital'] }),
  detail: z.string().optional().describe('the same for people'),
});
export type OutcomeAnswer = z.infer<typeof OutcomeAnswer>;

export function outcomeAnswer({ tradeId, clientOrderId, outcome, reason, detail }: Outcome): OutcomeAnswer {
  return {
    tradeId,
    clientOrderId,
    outcome,
    ...(reason !== undefined && { reason }),
    ...(detail !== undefined && { detail }),
  };
}

export const TradeAnswer = z.strictObject({
  tradeId: z.guid(),
  venue: z.string(),
  symbol: z.string(),
  side: z.enum(['long', 'short']),
  strategy: z.string().meta({ examples: ['manual'] }),
  signalId: z.string(),
  state: z
    .enum(['pending', 'unknown', 'rejected', 'entering', 'open', 'exiting', 'closed', 'cancelled', 'disputed'])
    .describe('pending, unknown, rejected: there is an intent only; the others: the venue confirmed the entry'),
  reason: z.string().nullable().describe('why it was rejected, or why nobody knows'),
  clientOrderId: z.string(),
  quantity: Amount,
  amount: Amount.describe('what was reserved for the entry'),
  positionQuantity: Amount,
  realizedPnl: Amount,
  createdAt: Time,
  endedAt: Time.nullable(),
});
export type TradeAnswer = z.infer<typeof TradeAnswer>;

export function tradeAnswer(trade: Trade): TradeAnswer {
  const { tradeId, venue, symbol, side, strategy, signalId, state, clientOrderId } = trade;
  return {
    ...{ tradeId, venue, symbol, side, strategy, signalId, state, clientOrderId },
    reason: trade.reason ?? null,
    quantity: trade.quantity.toString(),
    amount: trade.amount.toString(),
    positionQuantity: trade.positionQuantity.toString(),
    realizedPnl: trade.realizedPnl.toString(),
    createdAt: trade.createdAt.toISOString(),
    endedAt: trade.endedAt?.toISOString() ?? null,
  };
}

export const EvidenceAnswer = z.strictObject({
  asked: z.enum(['submit', 'lookup', 'operator']),
  answer: z.string(),
  detail: z.string().optional(),
  at: z.string().optional(),
});

const IntentAnswer = z.strictObject({
  generation: z.int().nullable().describe('counts the exits from 0; null: the entry'),
  clientOrderId: z.string(),
  side: z.enum(['buy', 'sell']),
  type: z.string(),
  timeInForce: z.string(),
  quantity: Amount,
  limitPrice: Amount.nullable(),
  actor: z.string(),
  state: z.enum(['pending', 'unknown', 'confirmed', 'rejected']),
  reason: z.string().nullable(),
  evidence: z.array(EvidenceAnswer),
  createdAt: Time,
  decidedAt: Time.nullable(),
});

function intentAnswer(intent: TradeIntent): z.infer<typeof IntentAnswer> {
  const { clientOrderId, side, type, timeInForce, actor, state } = intent;
  return {
    ...{ clientOrderId, side, type, timeInForce, actor, state },
    generation: intent.generation ?? null,
    quantity: intent.quantity.toString(),
    limitPrice: intent.limitPrice?.toString() ?? null,
    reason: intent.reason ?? null,
    evidence: [...intent.evidence],
    createdAt: intent.createdAt.toISOString(),
    decidedAt: intent.decidedAt?.toISOString() ?? null,
  };
}

export const OrderAnswer = z.strictObject({
  tradeId: z.guid(),
  purpose: z.enum(['entry', 'exit']),
  generation: z.int(),
  venue: z.string(),
  orderId: z.string().describe("the venue's own"),
  clientOrderId: z.string(),
  symbol: z.string(),
  side: z.enum(['buy', 'sell']),
  type: z.string(),
  quantity: Amount,
  limitPrice: Amount.nullable(),
  status: z.string().meta({ examples: ['filled'] }),
  filledQuantity: Amount.describe('as the venue says'),
  bookedQuantity: Amount.describe('what its recorded fills add up to'),
  averagePrice: Amount.nullable(),
  isCancelRequested: z.boolean(),
  createdAt: Time,
  updatedAt: Time,
  settledAt: Time.nullable().describe('it has ended, and all of its fills are booked'),
});

export function orderAnswer(order: TradeOrder): z.infer<typeof OrderAnswer> {
  const { tradeId, purpose, generation, venue, orderId, clientOrderId, symbol, side, type, status } = order;
  return {
    ...{ tradeId, purpose, generation, venue, orderId, clientOrderId, symbol, side, type, status },
    quantity: order.quantity.toString(),
    limitPrice: order.limitPrice?.toString() ?? null,
    filledQuantity: order.filledQuantity.toString(),
    bookedQuantity: order.bookedQuantity.toString(),
    averagePrice: order.averagePrice?.toString() ?? null,
    isCancelRequested: order.isCancelRequested,
    createdAt: order.createdAt.toISOString(),
    updatedAt: order.updatedAt.toISOString(),
    settledAt: order.settledAt?.toISOString() ?? null,
  };
}

const FillAnswer = z.strictObject({
  orderId: z.string(),
  fillId: z.string(),
  quantity: Amount,
  price: Amount,
  feeAmount: Amount,
  feeAsset: z.string().nullable(),
  source: z
    .string()
    .describe('who brought it first')
    .meta({ examples: ['poll'] }),
  happenedAt: Time,
  recordedAt: Time,
});

function fillAnswer(fill: TradeFill): z.infer<typeof FillAnswer> {
  const { orderId, fillId, source } = fill;
  return {
    ...{ orderId, fillId, source },
    quantity: fill.quantity.toString(),
    price: fill.price.toString(),
    feeAmount: fill.feeAmount.toString(),
    feeAsset: fill.feeAsset ?? null,
    happenedAt: fill.happenedAt.toISOString(),
    recordedAt: fill.recordedAt.toISOString(),
  };
}

export const WholeTradeAnswer = TradeAnswer.extend({
  intents: z.array(IntentAnswer).describe('the entry, then the exits: what was asked, and what is known of it'),
  orders: z.array(OrderAnswer),
  fills: z.array(FillAnswer),
});
export type WholeTradeAnswer = z.infer<typeof WholeTradeAnswer>;

export function wholeTradeAnswer(
  trade: Trade,
  of: { readonly intents: TradeIntent[]; readonly orders: TradeOrder[]; readonly fills: TradeFill[] },
): WholeTradeAnswer {
  return {
    ...tradeAnswer(trade),
    intents: of.intents.map(intentAnswer),
    orders: of.orders.map(orderAnswer),
    fills: of.fills.map(fillAnswer),
  };
}

export const PositionAnswer = z.strictObject({
  tradeId: z.guid(),
  venue: z.string(),
  symbol: z.string(),
  side: z.enum(['long', 'short']),
  quantity: Amount.describe('what it holds now'),
  entryQuantity: Amount,
  entryNotional: Amount,
  exitQuantity: Amount,
  exitNotional: Amount,
  fees: Amount,
  realizedPnl: Amount,
  openedAt: Time.nullable(),
  closedAt: Time.nullable(),
});

export function positionAnswer(position: TradePosition): z.infer<typeof PositionAnswer> {
  const { tradeId, venue, symbol, side } = position;
  return {
    ...{ tradeId, venue, symbol, side },
    quantity: position.quantity.toString(),
    entryQuantity: position.entryQuantity.toString(),
    entryNotional: position.entryNotional.toString(),
    exitQuantity: position.exitQuantity.toString(),
    exitNotional: position.exitNotional.toString(),
    fees: position.fees.toString(),
    realizedPnl: position.realizedPnl.toString(),
    openedAt: position.openedAt?.toISOString() ?? null,
    closedAt: position.closedAt?.toISOString() ?? null,
  };
}

export const HistoryAnswer = z.strictObject({
  id: z.int(),
  tradeId: z.guid(),
  event: z.string().meta({ examples: ['filled'] }),
  detail: z.record(z.string(), z.unknown()),
  happenedAt: Time,
  recordedAt: Time,
});

export function historyAnswer({
  id,
  tradeId,
  event,
  detail,
  happenedAt,
  recordedAt,
}: HistoryEvent): z.infer<typeof HistoryAnswer> {
  return {
    ...{ id: Number(id), tradeId, event, detail: { ...detail } },
    happenedAt: happenedAt.toISOString(),
    recordedAt: recordedAt.toISOString(),
  };
}
