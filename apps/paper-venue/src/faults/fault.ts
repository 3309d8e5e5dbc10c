import { z } from 'zod';

export const OPERATIONS = ['submit', 'lookup', 'open-orders', 'cancel', 'stream', 'any'] as const;
export type Operation = (typeof OPERATIONS)[number];

const EVENT_FAULTS = ['duplicate-event', 'drop-event', 'reorder-events'] as const;
const LIST_FAULTS = ['stale-list', 'truncated-list'] as const;
const REQUEST_FAULTS = ['drop-request', 'drop-response', 'delay', 'http-500', 'http-429', 'reset'] as const;
export type FaultName = (typeof REQUEST_FAULTS | typeof EVENT_FAULTS | typeof LIST_FAULTS)[number];
export type EventFault = (typeof EVENT_FAULTS)[number];

const DELAY_MS_DEFAULT = 1_000;
const DELAY_MS_MAX = 600_000;
const TIMES_MAX = 1_000_000;

/** What an operator asks for. */
export const FaultBody = z
  .strictObject({
    operation: z.enum(OPERATIONS).meta({ description: 'which requests; any means all of every protocol' }),
    fault: z.enum([...REQUEST_FAULTS, ...EVENT_FAULTS, ...LIST_FAULTS]),
    times: z
      .number()
      .int()
      .min(1)
      .max(TIMES_MAX)
      .optional()
      .meta({ description: 'how often it happens; until it is deleted when left out' }),
    probability: z.number().gt(0).max(1).default(1),
    delayMs: z
      .number()
      .int()
      .min(0)
      .max(DELAY_MS_MAX)
      .default(DELAY_MS_DEFAULT)
      .meta({ description: 'for delay: how long' }),
    phase: z.enum(['request', 'response']).optional().meta({
      description:
        'for delay, http-500, http-429 and reset: before the request reaches the matching engine, or after it did its work. A delay is after it unless told otherwise, the others before',
    }),
  })
  .refine(({ operation, fault }) => !isEventFault(fault) || operation === 'stream' || operation === 'any', {
    path: ['operation'],
    message: 'duplicate-event, drop-event and reorder-events happen to a stream: set operation to "stream".',
  })
  .refine(({ operation, fault }) => !isListFault(fault) || operation === 'open-orders', {
    path: ['operation'],
    message: 'stale-list and truncated-list happen to a list: set operation to "open-orders".',
  });

export type Fault = z.infer<typeof FaultBody> & { readonly id: number };

export function isEventFault(fault: FaultName): fault is EventFault {
  return EVENT_FAULTS.some((name) => name === fault);
}

export function isListFault(fault: FaultName): boolean {
  return LIST_FAULTS.some((name) => name === fault);
}

/** Before the matching engine sees the request, or after. */
export function phaseOf({ fault, phase }: Pick<Fault, 'fault' | 'phase'>): 'request' | 'response' {
  if (fault === 'drop-request') return 'request';
  if (fault === 'drop-response') return 'response';
  return phase ?? (fault === 'delay' ? 'response' : 'request');
}
