import { z } from 'zod';

const WINDOW_MAX = 1_000;

/** Of the example strategy: over how many closes each of its two moving averages goes. */
export const ExampleParams = z
  .strictObject({
    fast: z.int().min(1).max(WINDOW_MAX).default(5),
    slow: z.int().min(1).max(WINDOW_MAX).default(20),
  })
  .refine(({ fast, slow }) => fast < slow, { path: ['fast'], message: 'Expected fast to be smaller than slow' });
export type ExampleParams = z.infer<typeof ExampleParams>;

/** The known strategies, each with its parameters: a pair is refused whole before a worker stumbles over a part. */
export const Strategy = z.discriminatedUnion('name', [
  z.strictObject({ name: z.literal('example'), params: ExampleParams.prefault({}) }),
]);
