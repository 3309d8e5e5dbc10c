import fc from 'fast-check';
import { Decimal } from '#libs/money';
import type { LedgerCommand } from '../../index.js';
import { tradeId } from './steps.js';

const PROFILES = 3;
/** Trades of one profile that are in use at the same time; old ones are left behind as a run goes on. */
const TRADES = 6;
const COMMANDS_PER_TRADE = 12;
const SYMBOLS = ['BTC/USD', 'btc/usd', 'ETH/USD'];

/** One command, drawn as small numbers: cheap to make by the hundred thousand, and small when it fails. */
export interface Draw {
  readonly profile: number;
  readonly kind: number;
  readonly trade: number;
  readonly amount: bigint;
  readonly quantity: number;
  readonly pnl: number;
  readonly symbol: number;
  /** 0: sent before with the same key; 1: another command with a used key; else: new. */
  readonly repeat: number;
  readonly back: number;
}

const amounts = fc.oneof(
  { weight: 8, arbitrary: fc.bigInt({ min: 1n, max: 200_000n }).map((cents) => cents * 10n ** 16n) },
  { weight: 2, arbitrary: fc.bigInt({ min: 1n, max: 10n ** 21n }) },
  { weight: 1, arbitrary: fc.constantFrom(0n, -1n, 1n, 10n ** 37n) },
);

export const draws: fc.Arbitrary<Draw> = fc.record(
  {
    profile: fc.nat({ max: PROFILES - 1 }),
    kind: fc.nat({ max: 19 }),
    trade: fc.nat({ max: TRADES - 1 }),
    amount: amounts,
    quantity: fc.nat({ max: 12 }),
    pnl: fc.integer({ min: -300, max: 300 }),
    symbol: fc.nat({ max: SYMBOLS.length - 1 }),
    repeat: fc.nat({ max: 14 }),
    back: fc.nat({ max: 60 }),
  },
  { noNullPrototype: true },
);

const KINDS = [
  ...['deposit', 'deposit', 'withdraw', 'reserve', 'reserve', 'reserve', 'reserve', 'reserve'],
  ...['release', 'release', 'fill', 'fill', 'fill', 'fill', 'fill', 'close', 'close', 'close', 'close', 'close'],
] as const;

/** The commands of a run. Each repeats, contradicts or follows those before it. */
export function toCommands(run: readonly Draw[], profileIds: readonly string[]): LedgerCommand[] {
  const commands: LedgerCommand[] = [];
  for (const [index, draw] of run.entries()) {
    const earlier = commands[index - 1 - draw.back];
    if (draw.repeat === 0 && earlier) {
      commands.push({ ...earlier, actor: 'again' });
      continue;
    }
    const command = toCommand(draw, profileIds[draw.profile] ?? '', index);
    const key = draw.repeat === 1 && earlier?.profileId === command.profileId ? earlier.key : command.key;
    commands.push({ ...command, key });
  }
  return commands;
}

function toCommand(draw: Draw, profileId: string, index: number): LedgerCommand {
  const kind = KINDS[draw.kind] ?? 'deposit';
  const amount = decimalOf(draw.amount);
  const quantity = decimalOf(BigInt(draw.quantity) * 10n ** 17n * (draw.symbol === 2 ? 3n : 10n));
  const window = Math.floor(index / COMMANDS_PER_TRADE / PROFILES);
  const trade = tradeId(`${profileId} ${window + draw.trade}`);
  const common = { profileId, key: `k${index}`, actor: 'model' };
  const fee = draw.pnl % 3 === 0 ? decimalOf(BigInt(draw.pnl % 10) * 10n ** 16n) : undefined;
  switch (kind) {
    case 'deposit':
    case 'withdraw':
      return { kind, ...common, amount };
    case 'reserve':
      return { kind, ...common, tradeId: trade, amount, quantity, venue: 'paper', symbol: SYMBOLS[draw.symbol] ?? '' };
    case 'release':
      return { kind, ...common, tradeId: trade, ...(draw.symbol > 0 && { amount }) };
    case 'fill':
      return { kind, ...common, tradeId: trade, quantity, amount, ...(fee && { fee }) };
    case 'close': {
      const pnl = decimalOf(BigInt(draw.pnl) * 10n ** 17n);
      return { kind, ...common, tradeId: trade, quantity, pnl, ...(fee && { fee }) };
    }
  }
}

/** In units of the 18th digit. */
function decimalOf(units: bigint): Decimal {
  const one = Decimal.fromInteger(10n ** 18n);
  return Decimal.fromInteger(units).dividedBy(one, { scale: 18, rounding: 'down' });
}
