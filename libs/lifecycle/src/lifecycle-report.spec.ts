import pino from 'pino';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { LifecycleReport } from './lifecycle-report.js';

it('tells how many intents of a venue are unknown over all its symbols, and the age of the oldest', async () => {
  const register = new Registry();
  const report = new LifecycleReport(pino({ level: 'silent' }), register);
  const told = async (name: string) =>
    (await register.getSingleMetric(name)?.get())?.values.map(({ labels, value }) => [labels['venue'], value]);
  report.undecided({ venue: 'a', symbol: 'BTC/USD' }, { count: 2, oldestMs: 90_000 });
  report.undecided({ venue: 'a', symbol: 'ETH/USD' }, { count: 1, oldestMs: 5_000 });
  report.undecided({ venue: 'b', symbol: 'BTC/USD' }, { count: 0, oldestMs: 0 });
  expect(await told('flotilla_unknown_intents')).toEqual([
    ['a', 3],
    ['b', 0],
  ]);
  expect(await told('flotilla_oldest_unknown_intent_seconds')).toEqual([
    ['a', 90],
    ['b', 0],
  ]);
  report.undecided({ venue: 'a', symbol: 'BTC/USD' }, { count: 0, oldestMs: 0 });
  expect(await told('flotilla_oldest_unknown_intent_seconds')).toContainEqual(['a', 5]);
});
