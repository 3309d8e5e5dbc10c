import { z } from 'zod';

const WINDOW_MAX = 1_000;
const PERIOD_SEC_MAX = 86_400;

/** How much money each entry is for. */
const Notional = z
  .string()
  .regex(/^\d{1,18}(\.\d{1,18})?$/, 'expected an amount as a string, such as "100"')
  .default('100')
  .meta({ description: 'money for each entry', examples: ['100'] });

/** Of the example strategy: over how many closes each of its two moving averages goes. */
export const ExampleParams = z
  .strictObject({
    fast: z.int().min(1).max(WINDOW_MAX).default(5),
    slow: z.int().min(1).max(WINDOW_MAX).default(20),
    notional: Notional,
  })
  .refine(({ fast, slow }) => fast < slow, { path: ['fast'], message: 'Expected fast to be smaller than slow' });
export type ExampleParams = z.infer<typeof ExampleParams>;

/** Of the strategy that enters and leaves by the clock. */
export const MetronomeParams = z.strictObject({
  periodSec: z.int().min(2).max(PERIOD_SEC_MAX).default(30).meta({ description: 'in for one half, out for the other' }),
  notional: Notional,
});
export type MetronomeParams = z.infer<typeof MetronomeParams>;

/** The known strategies, each with its parameters: a pair is refused whole before a worker stumbles over a part. */
export const Strategy = z.discriminatedUnion('name', [
  z.strictObject({ name: z.literal('example'), params: ExampleParams.prefault({}) }),
  z.strictObject({ name: z.literal('metronome'), params: MetronomeParams.prefault({}) }),
]);
export type Strategy = z.infer<typeof Strategy>;
