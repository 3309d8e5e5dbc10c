import { Decimal } from '#libs/money';

export interface Balance {
  readonly free: Decimal;
  /** Set aside for open orders. */
  readonly locked: Decimal;
  /** What the holding was bought for, in the quote asset. */
  readonly cost: Decimal;
}

const EMPTY: Balance = { free: Decimal.zero, locked: Decimal.zero, cost: Decimal.zero };
const COST_SCALE = 12;

/** The funds of the one account. Remembers which ones changed, for whoever writes them down. */
export class Balances {
  private readonly byAsset: Map<string, Balance>;
  private changed = new Set<string>();

  constructor(balances: ReadonlyMap<string, Balance>) {
    this.byAsset = new Map(balances);
  }

  of(asset: string): Balance {
    return this.byAsset.get(asset) ?? EMPTY;
  }

  entries(): [string, Balance][] {
    return [...this.byAsset];
  }

  /** The balances that changed since the last call. */
  drainChanged(): [string, Balance][] {
    const changed = [...this.changed].map((asset): [string, Balance] => [asset, this.of(asset)]);
    this.changed = new Set();
    return changed;
  }

  /** False when there is less, and then nothing is locked. */
  tryLock(asset: string, amount: Decimal): boolean {
    const { free, locked, cost } = this.of(asset);
    if (free.compare(amount) < 0) return false;
    this.set(asset, { free: free.minus(amount), locked: locked.plus(amount), cost });
    return true;
  }

  unlock(asset: string, amount: Decimal): void {
    const { free, locked, cost } = this.of(asset);
    this.set(asset, { free: free.plus(amount), locked: locked.minus(amount), cost });
  }

  /** The quote side of a fill: spends from what was locked for it, and what is over returns. */
  spend(asset: string, { locked: share, amount }: { locked: Decimal; amount: Decimal }): void {
    const { free, locked, cost } = this.of(asset);
    this.set(asset, { free: free.plus(share).minus(amount), locked: locked.minus(share), cost });
  }

  earn(asset: string, amount: Decimal): void {
    const { free, locked, cost } = this.of(asset);
    this.set(asset, { free: free.plus(amount), locked, cost });
  }

  /** The base side of a purchase. */
  acquire(asset: string, { quantity, cost: paid }: { quantity: Decimal; cost: Decimal }): void {
    const { free, locked, cost } = this.of(asset);
    this.set(asset, { free: free.plus(quantity), locked, cost: cost.plus(paid) });
  }

  /** The base side of a sale: leaves with its share of what the holding cost. */
  deliver(asset: string, quantity: Decimal): void {
    const { free, locked, cost } = this.of(asset);
    const held = free.plus(locked);
    const share = cost.times(quantity).dividedBy(held, { scale: COST_SCALE, rounding: 'half-even' });
    const left = held.equals(quantity) ? Decimal.zero : cost.minus(share);
    this.set(asset, { free, locked: locked.minus(quantity), cost: left });
  }

  /** An operator's gift or withdrawal. */
  setFree(asset: string, free: Decimal): void {
    const { locked, cost } = this.of(asset);
    this.set(asset, { free, locked, cost: free.plus(locked).isZero() ? Decimal.zero : cost });
  }

  private set(asset: string, balance: Balance): void {
    if (balance.free.isNegative() || balance.locked.isNegative()) {
      const amounts = `${balance.free.toString()} free, ${balance.locked.toString()} locked`;
      throw new Error(`Invariant: funds are never negative; ${asset} would be ${amounts}`);
    }
    this.byAsset.set(asset, balance);
    this.changed.add(asset);
  }
}
