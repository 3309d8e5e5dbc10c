import type { Database } from '#libs/database';
import type { Pair } from '#libs/fleet';
import { findActiveTrade, type Lifecycle, type Outcome } from '#libs/lifecycle';
import { Decimal } from '#libs/money';
import type { Wish } from './pair/wish.js';

/** What came of a wish for one profile. */
export interface Acted {
  readonly profileId: string;
  readonly outcome: Outcome;
}

/** Enters and leaves for every profile of the pair. Each wish has its trade, so that wishing again does nothing twice. */
export class PairTrader {
  private readonly actor: string;

  constructor(
    private readonly pair: Pair,
    private readonly lifecycle: Lifecycle,
    private readonly database: Database,
  ) {
    this.actor = `pair:${pair.id}`;
  }

  async act(wish: Wish): Promise<Acted[]> {
    const acted: Acted[] = [];
    for (const profileId of this.pair.profiles) {
      const outcome = await this.actFor(profileId, wish);
      if (outcome) acted.push({ profileId, outcome });
    }
    return acted;
  }

  private async actFor(profileId: string, wish: Wish): Promise<Outcome | undefined> {
    switch (wish.decision) {
      case 'ENTER':
        return this.enter(profileId, wish);
      case 'LEAVE':
        return this.leave(profileId);
      case 'HOLD':
        return undefined;
    }
  }

  private enter(profileId: string, { signalId }: Wish): Promise<Outcome> {
    const { venue, symbol, strategy } = this.pair;
    return this.lifecycle.enter({
      ...{ profileId, venue, symbol, signalId, actor: this.actor, strategy: strategy.name },
      side: 'buy',
      size: { notional: Decimal.parse(strategy.params.notional) },
      order: { type: 'market' },
    });
  }

  /** Only what this strategy entered: a trade of an operator is not ours to leave. */
  private async leave(profileId: string): Promise<Outcome | undefined> {
    const { symbol, strategy } = this.pair;
    const trade = await this.database.statement((tx) => findActiveTrade(tx, { profileId, symbol }));
    if (trade?.strategy !== strategy.name) return undefined;
    return this.lifecycle.exit({ profileId, tradeId: trade.tradeId, order: { type: 'market' }, actor: this.actor });
  }
}
