import type { Decimal } from '#libs/money';
import type { Side } from '../engine/order.js';

export interface Level {
  readonly price: Decimal;
  readonly quantity: Decimal;
}

/** What other participants offer in one instrument, best price first. What is taken is gone until it is renewed. */
export class Liquidity {
  private readonly bids: Level[];
  private readonly asks: Level[];

  constructor(levels: { readonly bids: readonly Level[]; readonly asks: readonly Level[] }) {
    this.bids = [...levels.bids];
    this.asks = [...levels.asks];
  }

  static readonly none = new Liquidity({ bids: [], asks: [] });

  /** The levels that somebody on this side takes from. */
  against(side: Side): readonly Level[] {
    return side === 'buy' ? this.asks : this.bids;
  }

  best(side: Side): Decimal | undefined {
    return this.against(side)[0]?.price;
  }

  /** Removes a quantity from the front of the levels that this side takes from. */
  consume(side: Side, quantity: Decimal): void {
    const levels = side === 'buy' ? this.asks : this.bids;
    let left = quantity;
    while (left.isPositive()) {
      const level = levels.shift();
      if (!level) throw new Error('Invariant: no more is taken from the market than it offers');
      if (level.quantity.compare(left) > 0) {
        levels.unshift({ price: level.price, quantity: level.quantity.minus(left) });
        return;
      }
      left = left.minus(level.quantity);
    }
  }
}
