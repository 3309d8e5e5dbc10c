import type { Pair } from '#libs/fleet';
import type { Lifecycle } from '#libs/lifecycle';
import type { Logger } from '#libs/telemetry';
import type { CycleResult, PairCycle } from './pair-cycle.js';
import type { PairStatus } from './pair-status.js';

interface Parts {
  readonly pair: Pair;
  readonly lifecycle: Lifecycle;
  readonly cycle: PairCycle;
  readonly status: PairStatus;
  readonly logger: Logger;
}

/**
 * One run of the trading loop: a cycle. The first one waits until what the venue knows of our orders has been brought
 * into the tables. A worker that is drained does nothing, as it was told, and that is a good run.
 */
export class TradingRun {
  private isRebuilt = false;
  private said = '';

  constructor(private readonly parts: Parts) {}

  async runOnce(): Promise<void> {
    if (!this.isRebuilt && !this.parts.status.isDraining) await this.rebuild();
    // It may have been drained in the meantime.
    if (!this.parts.status.isDraining) await this.trade();
  }

  private async rebuild(): Promise<void> {
    const { pair, lifecycle, logger } = this.parts;
    for (const correction of await lifecycle.rebuild(pair)) logger.error(correction, 'A reservation was corrected');
    this.isRebuilt = true;
    logger.info('Orders, fills and intents are as the venue knows them');
  }

  private async trade(): Promise<void> {
    const { cycle, status, logger } = this.parts;
    const result = await cycle.runOnce();
    status.decided(result);
    // The same wish again has the same outcome; it is said aloud once.
    const words = describe(result);
    logger[words === this.said ? 'debug' : 'info']({ epoch: result.epoch }, words);
    this.said = words;
  }
}

function describe({ decision, acted }: CycleResult): string {
  const outcomes = acted.map(
    ({ outcome: { tradeId, outcome, reason } }) => `${outcome} ${reason === undefined ? '' : `(${reason}) `}${tradeId}`,
  );
  return [`Decided ${decision}`, ...outcomes].join(', ');
}
