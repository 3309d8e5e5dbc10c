import { expect, it } from 'vitest';
import { SWEEP_STEPS, type Sweep, type SweepStep } from '#libs/reconciliation';
import { paperVenueOfFile } from './harness/paper-venue.js';
import { setupSweeping } from './harness/sweeping.js';
import { ADAPTERS, finish, type Adapter } from './harness/trading.js';

const IS_WHOLE = process.env['FLOTILLA_CRASH'] === 'all';
const SEEDS = 4;
const paper = paperVenueOfFile();

interface Crash {
  readonly step: SweepStep;
  readonly adapter: Adapter;
  readonly seed: number;
}

const CRASHES: Crash[] = IS_WHOLE
  ? SWEEP_STEPS.flatMap((step) =>
      ADAPTERS.flatMap((adapter) => Array.from({ length: SEEDS }, (_, seed) => ({ step, adapter, seed }))),
    )
  : SWEEP_STEPS.map((step, seed) => ({ step, adapter: ADAPTERS[seed % 2] ?? 'alpaca', seed }));

/** An entry that the venue has filled in part, or whole, and nobody told. */
async function setup({ adapter, seed }: Pick<Crash, 'adapter' | 'seed'>) {
  const world = await setupSweeping(paper(), { adapter, seed });
  const [victim, successor] = [world.startTrader(), world.startTrader()];
  const id = await world.enter(victim);
  await world.sweep(victim);
  await world.fill(id, world.story.firstFill);
  return { ...world, victim, successor };
}

it.each(CRASHES)(
  'a kill at $step over $adapter with seed $seed loses nothing and does nothing twice',
  async (crash) => {
    const world = await setup(crash);
    const { victim, successor, sweep, endSweepLocks, corrections, broken, expectQuiet } = world;
    await victim.tellUntil(crash.step, { do: 'sweep' });
    await victim.process.stop('SIGKILL');
    await endSweepLocks();
    await sweep(successor);
    expect([await corrections(), await broken()]).toEqual([['entry-fill applied 1'], []]);
    await expectQuiet(successor);
    expect(await finish(world, successor)).toBe('closed');
    await expectQuiet(successor);
    expect(await corrections()).toEqual(['entry-fill applied 1']);
  },
);

it.each(ADAPTERS)('a process that is paused past its lock over %s writes nothing when it wakes', async (adapter) => {
  const { victim, successor, sweep, endSweepLocks, corrections, broken, expectQuiet } = await setup({
    adapter,
    seed: 1,
  });
  const { number } = await victim.tellUntil('sweep:locked', { do: 'sweep' });
  victim.process.child.kill('SIGSTOP');
  await endSweepLocks();
  expect(await sweep(successor)).toMatchObject({ outcome: 'corrected', figures: { corrected: 1 } });
  victim.process.child.kill('SIGCONT');
  victim.goOn();
  expect(await victim.answerOf<Sweep>(number)).toMatchObject({
    outcome: 'clean',
    figures: { corrected: 0, leftAlone: 1 },
  });
  expect(victim.process.output).toContain('contended\n');
  expect([await corrections(), await broken()]).toEqual([['entry-fill applied 1'], []]);
  await expectQuiet(victim);
});
