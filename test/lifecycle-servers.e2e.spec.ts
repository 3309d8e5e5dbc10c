import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { STEPS, type Step } from '#libs/lifecycle';
import { startKillablePostgres, startKillableRedis } from './harness/killable-servers.js';
import { paperVenueOfFile } from './harness/paper-venue.js';
import { buy, finish, setupTrading, type Trader, type Trading } from './harness/trading.js';

const IS_WHOLE = process.env['FLOTILLA_CRASH'] === 'all';
const paper = paperVenueOfFile();

/** Where a server goes away: before the intent is written, before and after the order is sent, and while fills come in. */
const MOMENTS: readonly Step[] = IS_WHOLE
  ? STEPS.filter((step) => !step.startsWith('resolve:'))
  : ['entry:locked', 'entry:begun', 'entry:answered', 'exit:begun', 'exit:answered', 'report:received'];

const ofStep = (trading: Trading, step: Step): Trading => ({
  ...trading,
  signal: { ...trading.signal, signalId: step },
});

/** Resolves when the trader waits at the step; goOn lets it, and resolves when it has said what came of it. */
async function bringTo(step: Step, trading: Trading, trader: Trader): Promise<{ goOn: () => Promise<unknown> }> {
  const { signal, symbol, profileId, openOrders, fill, story } = trading;
  const stop = async (command: Parameters<Trader['tell']>[0]) => {
    const { number } = await trader.tellUntil(step, command);
    const goOn = (): Promise<unknown> => {
      trader.goOn();
      return trader.process.says(new RegExp(`^(done|failed) ${number} `, 'm'));
    };
    return { goOn };
  };
  if (step.startsWith('entry:')) return stop({ do: 'enter', signal });
  if (step.startsWith('exit:')) return stop(await buy(trading, trader));
  await trader.tell({ do: 'enter', signal });
  for (const { id } of await openOrders()) await fill(id, story.firstFill);
  if (step.startsWith('report:')) return stop({ do: 'report', symbol });
  const tradeId = (await trading.trade(signal.signalId))?.tradeId ?? '';
  return stop({ do: 'cancel', profileId, tradeId });
}

describe('Postgres', () => {
  it('that is killed in mid trade and started again takes no order and no fill with it, at any step', async () => {
    const postgres = await startKillablePostgres();
    const { url, adminUrl } = postgres;
    const trading = await setupTrading(paper(), { adapter: 'alpaca', seed: 4, url, adminUrl });
    const trader = trading.startTrader();
    for (const step of MOMENTS) {
      const story = ofStep(trading, step);
      const { goOn } = await bringTo(step, story, trader);
      postgres.kill();
      // The order of an intent is sent although nobody can write down what became of it.
      await goOn();
      await postgres.restart();
      await trading.endLocks();
      const state = await finish(story, trader);
      expect([step, state]).toEqual([step, 'closed']);
      expect(await trading.reserved()).toBe('0');
    }
  });
});

describe('Redis', () => {
  it.each(['flushed', 'killed'])('that is %s in mid trade is missed by nobody, at any step', async (how) => {
    const redis = await startKillableRedis();
    const trading = await setupTrading(paper(), {
      ...{ adapter: how === 'flushed' ? 'ccxt' : 'alpaca', seed: 4, trader: { redisUrl: redis.url } },
    });
    const trader = trading.startTrader();
    for (const step of MOMENTS) {
      const story = ofStep(trading, step);
      const { goOn } = await bringTo(step, story, trader);
      if (how === 'killed') redis.kill();
      else await flush(redis.url);
      await goOn();
      expect(await finish(story, trader)).toBe('closed');
      expect(await trading.reserved()).toBe('0');
      if (how === 'killed') await redis.restart();
    }
  });
});

/** Of all that the fleet keeps there. */
async function flush(url: string): Promise<void> {
  const redis = new Redis(url);
  expect(await redis.dbsize(), 'there was something to lose').toBeGreaterThan(0);
  await redis.flushall();
  redis.disconnect();
}
