import type { AssetFlow, NetPosition } from '#libs/lifecycle';
import { Decimal } from '#libs/money';
import type { Balance, Position } from '#libs/venues';
import { correctionOf, type Correction } from './correction.js';

/** What the account held of an asset when nothing moved. */
export interface Holding {
  readonly asset: string;
  readonly held: Decimal;
  readonly heldAt: Date;
}

export interface HoldingsView {
  readonly venue: string;
  /** What the venue says that the account holds now. */
  readonly totals: ReadonlyMap<string, Decimal>;
  readonly known: ReadonlyMap<string, Holding>;
  readonly flows: ReadonlyMap<string, AssetFlow>;
  readonly net: readonly NetPosition[];
  /** Assets that moved while the account was read, which can be compared at another time only. */
  readonly moving: ReadonlySet<string>;
  readonly feeBps: number;
}

export interface HoldingsComparison {
  readonly corrections: readonly Correction[];
  /** From which to reckon from now on: of assets that were as expected. */
  readonly toNote: Amounts;
  /** The same of those that were not, by the id of the correction that they are to be noted with. */
  readonly toNoteWith: ReadonlyMap<string, Amounts>;
}

/** By asset. */
export type Amounts = ReadonlyMap<string, Decimal>;

/** From so many fills on, what the account holds is noted anew, so that a sweep never reads more of them. */
const FILLS_MAX = 100;
const BPS = Decimal.fromInteger(10_000n);
/** What venues round away, as a part of what moved, and of any asset at least. */
const ROUNDING = Decimal.parse('0.00005');
const ROUNDING_MIN = Decimal.parse('0.00000001');

/**
 * An account holds what it held before and what our fills brought in since; a difference is somebody else's doing, which
 * is noted, unless what is left does not cover what our trades hold. Pure.
 */
export function compareHoldings(view: HoldingsView): HoldingsComparison {
  const corrections: Correction[] = [];
  const toNote = new Map<string, Decimal>();
  const toNoteWith = new Map<string, Amounts>();
  const asExpected = new Map<string, Decimal>();
  let isNotingAll = false;
  for (const asset of new Set([...view.totals.keys(), ...view.known.keys()])) {
    if (view.moving.has(asset)) continue;
    const total = view.totals.get(asset) ?? Decimal.zero;
    const known = view.known.get(asset);
    const flow = view.flows.get(asset);
    if (!known) {
      toNote.set(asset, total);
      continue;
    }
    const expected = known.held.plus(flow?.amount ?? Decimal.zero);
    if (total.minus(expected).abs().compare(toleranceOf(flow, view.feeBps)) > 0) {
      const correction = moved(view.venue, asset, { expected, total });
      corrections.push(correction);
      toNoteWith.set(correction.id, new Map([[asset, total]]));
    } else asExpected.set(asset, total);
    if ((flow?.fills ?? 0) >= FILLS_MAX) isNotingAll = true;
  }
  if (isNotingAll) for (const [asset, total] of asExpected) toNote.set(asset, total);
  corrections.push(...shortOf(view));
  return { corrections, toNote, toNoteWith };
}

/** The total that the venue says of each asset: positions where it has them, and balances. */
export function totalsOf({ positions, balances, symbols }: Listed): ReadonlyMap<string, Decimal> {
  // Venues leave out what an account holds nothing of.
  const traded = [...symbols].flatMap((symbol) => Object.values(assetsOf(symbol)));
  const totals = new Map<string, Decimal>(traded.map((asset) => [asset, Decimal.zero]));
  for (const { asset, total } of balances) totals.set(asset, total);
  for (const { symbol, quantity } of positions) {
    const { base } = assetsOf(symbol);
    totals.set(base, (totals.get(base) ?? Decimal.zero).plus(quantity));
  }
  return totals;
}

interface Listed {
  readonly positions: readonly Position[];
  readonly balances: readonly Balance[];
  readonly symbols: ReadonlySet<string>;
}

export function assetsOf(symbol: string): { readonly base: string; readonly quote: string } {
  const [base = symbol, quote = 'USD'] = symbol.split('/');
  return { base, quote };
}

function toleranceOf(flow: AssetFlow | undefined, feeBps: number): Decimal {
  if (!flow) return ROUNDING_MIN;
  const untoldFee = bpsOf(flow.inflowWithoutFee, feeBps);
  return flow.turnover.times(ROUNDING).plus(untoldFee).plus(ROUNDING_MIN);
}

function bpsOf(amount: Decimal, bps: number): Decimal {
  return amount.times(Decimal.fromInteger(BigInt(bps))).dividedBy(BPS, { scale: 18, rounding: 'up' });
}

function moved(venue: string, asset: string, { expected, total }: { expected: Decimal; total: Decimal }): Correction {
  const recorded = { asset, held: expected.toString() };
  return correctionOf({ venue, kind: 'holding-moved', recorded, reported: { asset, held: total.toString() } });
}

/** What our trades hold of a base asset, over all its symbols, against what the account does. */
function shortOf({ venue, net, totals, moving, feeBps }: HoldingsView): Correction[] {
  const byBase = Map.groupBy(net, ({ symbol }) => assetsOf(symbol).base);
  const corrections: Correction[] = [];
  for (const [asset, positions] of byBase) {
    if (moving.has(asset)) continue;
    const ours = positions.reduce((sum, { quantity }) => sum.plus(quantity), Decimal.zero);
    const total = totals.get(asset) ?? Decimal.zero;
    const isLong = ours.isPositive();
    const missing = isLong ? ours.minus(total) : total.minus(ours);
    if (missing.compare(bpsOf(ours.abs(), feeBps).plus(ROUNDING_MIN)) <= 0) continue;
    for (const { symbol } of positions) {
      const recorded = { asset, held: ours.toString() };
      const reported = { asset, held: total.toString() };
      corrections.push(correctionOf({ venue, kind: 'holding-short', symbol, recorded, reported }));
    }
  }
  return corrections;
}
