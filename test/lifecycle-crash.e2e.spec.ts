import { expect, it } from 'vitest';
import { STEPS, type Step } from '#libs/lifecycle';
import { paperVenueOfFile } from './harness/paper-venue.js';
import {
  ADAPTERS,
  buy,
  finish,
  rebuild,
  setupTrading,
  type Adapter,
  type Trader,
  type Trading,
} from './harness/trading.js';

const IS_WHOLE = process.env['FLOTILLA_CRASH'] === 'all';
const SEEDS = 6;
const paper = paperVenueOfFile();

interface Crash {
  readonly step: Step;
  readonly adapter: Adapter;
  readonly seed: number;
}

/** Every step in every run; with every venue and many orders when asked for. */
const CRASHES: Crash[] = IS_WHOLE
  ? STEPS.flatMap((step) =>
      ADAPTERS.flatMap((adapter) => Array.from({ length: SEEDS }, (_, seed) => ({ step, adapter, seed }))),
    )
  : STEPS.map((step, index) => ({ step, adapter: ADAPTERS[index % 2] ?? 'alpaca', seed: index }));

it.each(CRASHES)(
  'a kill at $step over $adapter with seed $seed breaks no invariant, and leaves every order known (invariant 12)',
  async ({ step, adapter, seed }) => {
    const trading = await setupTrading(paper(), { adapter, seed });
    const successor = trading.startTrader();
    const victim = trading.startTrader();
    await bringTo(step, { trading, victim, seed });
    await victim.process.stop('SIGKILL');
    await trading.endLocks();

    await rebuild(trading, successor);
    if (step.startsWith('cancel:')) expect(await trading.openOrders(), 'the wish to cancel is carried on').toEqual([]);
    const state = await finish(trading, successor);
    expect(state).toBe(endOf(step, seed));
    expect(await trading.reserved()).toBe('0');
  },
);

interface Part {
  readonly trading: Trading;
  readonly victim: Trader;
  readonly seed: number;
}

/** Resolves when the victim waits at the step. */
async function bringTo(step: Step, part: Part): Promise<void> {
  const { trading, victim, seed } = part;
  const { signal, symbol, endLocks } = trading;
  switch (step) {
    case 'entry:locked':
    case 'entry:begun':
    case 'entry:answered':
    case 'entry:persisted':
      await victim.tellUntil(step, { do: 'enter', signal });
      return;
    case 'exit:locked':
    case 'exit:begun':
    case 'exit:answered':
    case 'exit:persisted':
      await victim.tellUntil(step, await buy(trading, victim));
      return;
    case 'cancel:requested':
    case 'cancel:answered':
      await victim.tell({ do: 'enter', signal });
      if (isPartlyFilled(seed)) await fillFirst(part);
      await victim.tellUntil(step, { do: 'cancel', ...(await refOf(trading)) });
      return;
    case 'report:received':
    case 'report:applied':
      await victim.tell({ do: 'enter', signal });
      await fillFirst(part);
      await victim.tellUntil(step, { do: 'report', symbol });
      return;
    case 'resolve:locked':
    case 'resolve:answered':
    case 'resolve:decided':
      // It waits for ever in the recipe whose intent is resolved, as if the one that had begun it were dead.
      if (isOfExit(seed)) await victim.tellUntil('exit:answered', await buy(trading, victim));
      else await victim.tellUntil(isNeverSent(seed) ? 'entry:begun' : 'entry:answered', { do: 'enter', signal });
      await endLocks();
      await victim.tellUntil(step, { do: 'resolve', symbol });
  }
}

/** What becomes of the trade: whatever was not sent is given up, whatever was sent is carried through. */
function endOf(step: Step, seed: number): string {
  if (step === 'entry:begun') return 'rejected';
  if (step.startsWith('resolve:')) return isNeverSent(seed) ? 'rejected' : 'closed';
  return step.startsWith('cancel:') && !isPartlyFilled(seed) ? 'cancelled' : 'closed';
}

const isPartlyFilled = (seed: number): boolean => seed % 2 === 1;
const isOfExit = (seed: number): boolean => seed % 3 === 1;
const isNeverSent = (seed: number): boolean => seed % 3 === 2;

async function fillFirst({ trading }: Part): Promise<void> {
  const [order] = await trading.openOrders();
  await trading.fill(order?.id ?? '', trading.story.firstFill);
}

async function refOf({ profileId, trade }: Trading): Promise<{ profileId: string; tradeId: string }> {
  return { profileId, tradeId: (await trade())?.tradeId ?? '' };
}
