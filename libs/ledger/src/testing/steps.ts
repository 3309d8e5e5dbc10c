import { createHash } from 'node:crypto';
import type { LedgerCommand } from '../../index.js';
import { d } from './setup.js';

/** A command without its profile, so that a case can be played on any number of profiles. */
export type Step = (profileId: string) => LedgerCommand;

interface Options {
  readonly key?: string;
  readonly actor?: string;
  readonly fee?: string;
  readonly venue?: string;
  readonly symbol?: string;
  readonly lockToken?: bigint;
  readonly happenedAt?: Date;
}

let steps = 0;
const nextKey = (): string => `key-${(steps += 1)}`;

/** Cases name trades by a letter; the database wants a uuid. */
export function tradeId(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

const common = (options: Options) => ({
  key: options.key ?? nextKey(),
  actor: options.actor ?? 'tests',
  ...(options.happenedAt && { happenedAt: options.happenedAt }),
});
const feeOf = ({ fee }: Options) => (fee === undefined ? {} : { fee: d(fee) });

export function deposit(amount: string, options: Options = {}): Step {
  const step = { kind: 'deposit' as const, ...common(options), amount: d(amount) };
  return (profileId) => ({ profileId, ...step });
}

export function withdraw(amount: string, options: Options = {}): Step {
  const step = { kind: 'withdraw' as const, ...common(options), amount: d(amount) };
  return (profileId) => ({ profileId, ...step });
}

export function reserve(trade: string, amount: string, options: Options & { quantity?: string } = {}): Step {
  const step = {
    kind: 'reserve' as const,
    ...common(options),
    tradeId: tradeId(trade),
    amount: d(amount),
    quantity: d(options.quantity ?? '10'),
    venue: options.venue ?? 'paper',
    symbol: options.symbol ?? 'BTC/USD',
    ...(options.lockToken !== undefined && { lockToken: options.lockToken }),
  };
  return (profileId) => ({ profileId, ...step });
}

export function release(trade: string, amount?: string, options: Options = {}): Step {
  const step = {
    kind: 'release' as const,
    ...common(options),
    tradeId: tradeId(trade),
    ...(amount !== undefined && { amount: d(amount) }),
  };
  return (profileId) => ({ profileId, ...step });
}

export function fill(trade: string, what: { quantity: string; amount: string }, options: Options = {}): Step {
  const step = {
    kind: 'fill' as const,
    ...common(options),
    tradeId: tradeId(trade),
    quantity: d(what.quantity),
    amount: d(what.amount),
    ...feeOf(options),
  };
  return (profileId) => ({ profileId, ...step });
}

export function close(trade: string, what: { quantity: string; pnl: string }, options: Options = {}): Step {
  const step = {
    kind: 'close' as const,
    ...common(options),
    tradeId: tradeId(trade),
    quantity: d(what.quantity),
    pnl: d(what.pnl),
    ...feeOf(options),
  };
  return (profileId) => ({ profileId, ...step });
}
