import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { alpacaWords } from './alpaca/alpaca-errors.js';
import { dialectOf } from './ccxt/dialect.js';
import { judge, lookupOf, submitOutcomeOf, type ErrorWords, type Fault, type FaultyAnswer } from './fault.js';

const binance = dialectOf('binance');
const VENUES: [string, ErrorWords][] = [
  ['alpaca', alpacaWords],
  ['binance', binance.words],
  ['others', dialectOf('okx').words],
];

function answer(status: number, code: string | undefined, message = ''): FaultyAnswer {
  return { kind: 'answer', status, code, message };
}

const anyCode = fc.oneof(
  fc.constant(undefined),
  fc.constantFrom('-1006', '-1007', '-1021', '-2010', '-2011', '-2013', '40010001', '40410000', 'OrderNotFound'),
  fc.string(),
);
const anyMessage = fc.oneof(
  fc.constantFrom('Duplicate order sent.', 'client_order_id must be unique', 'Unknown order sent.', 'order not found'),
  fc.string(),
);

describe.each(VENUES)('%s', (_venue, words) => {
  it('takes nothing that stands between us and the venue for a refusal, a duplicate or an absence', () => {
    const open = fc.oneof(
      fc.record({
        kind: fc.constant('transport' as const),
        reason: fc.constantFrom('timeout' as const, 'aborted' as const, 'connection' as const, 'unreadable' as const),
        message: anyMessage,
      }),
      fc.record({
        kind: fc.constant('answer' as const),
        status: fc.oneof(fc.integer({ min: 500, max: 599 }), fc.constantFrom(100, 301, 302, 307, 408, 418, 425, 429)),
        code: fc.constant(undefined),
        message: anyMessage,
      }),
      fc.record({
        kind: fc.constant('answer' as const),
        status: fc.oneof(fc.integer({ min: 500, max: 599 }), fc.constantFrom(301, 307, 418, 429)),
        code: anyCode,
        message: anyMessage,
      }),
      fc.record({
        kind: fc.constant('answer' as const),
        status: fc.integer({ min: 200, max: 599 }),
        code: fc.constant(undefined),
        message: anyMessage,
      }),
    );
    fc.assert(
      fc.property(open, (fault: Fault) => {
        expect(submitOutcomeOf(fault, words).outcome).toBe('unknown');
        expect(lookupOf(fault, words).outcome).toBe('unknown');
      }),
      { numRuns: 1_000 },
    );
  });

  it('takes what was never sent for a refusal of a submission, and for no answer to a question', () => {
    for (const reason of ['budget', 'aborted', 'invalid-request', 'not-ready'] as const) {
      const fault = { kind: 'not-sent' as const, reason, message: 'nothing was sent' };
      expect(submitOutcomeOf(fault, words)).toMatchObject({ outcome: 'refused', reason });
      expect(lookupOf(fault, words)).toMatchObject({ outcome: 'unknown', reason });
    }
  });
});

describe('what the venues say', () => {
  const cases: [string, ErrorWords, FaultyAnswer, object][] = [
    [
      'alpaca: a used id',
      alpacaWords,
      answer(422, '40010001', 'client_order_id must be unique'),
      { outcome: 'duplicate' },
    ],
    [
      'alpaca: the other spelling',
      alpacaWords,
      answer(422, '40010001', 'client order id must be unique'),
      { outcome: 'duplicate' },
    ],
    [
      'alpaca: another fault of the body',
      alpacaWords,
      answer(422, '40010001', 'qty must be > 0'),
      { outcome: 'refused', reason: 'invalid-order', code: '40010001' },
    ],
    [
      'alpaca: the words of a duplicate with another status',
      alpacaWords,
      answer(403, '40310000', 'client_order_id must be unique'),
      { outcome: 'refused' },
    ],
    [
      'alpaca: too little money',
      alpacaWords,
      answer(403, '40310000', 'insufficient buying power'),
      { outcome: 'refused', reason: 'insufficient-funds' },
    ],
    [
      'alpaca: a wrong key',
      alpacaWords,
      answer(401, '40110000', 'unauthorized'),
      { outcome: 'refused', reason: 'not-permitted' },
    ],
    ['alpaca: no such order', alpacaWords, answer(404, '40410000', 'order not found'), { outcome: 'not-found' }],
    ['alpaca: a gateway without the order', alpacaWords, answer(404, undefined, '<html>'), { outcome: 'unknown' }],
    ['alpaca: a conflict', alpacaWords, answer(409, '40910000', 'conflict'), { outcome: 'unknown' }],
    [
      'binance: a used id',
      binance.words,
      answer(400, '-2010', 'binance {"code":-2010,"msg":"Duplicate order sent."}'),
      { outcome: 'duplicate' },
    ],
    [
      'binance: too little money',
      binance.words,
      answer(400, '-2010', 'Account has insufficient balance for requested action.'),
      { outcome: 'refused', reason: 'insufficient-funds' },
    ],
    [
      'binance: another refusal',
      binance.words,
      answer(400, '-2010', 'Market is closed.'),
      { outcome: 'refused', reason: 'invalid-order' },
    ],
    [
      'binance: our clock',
      binance.words,
      answer(400, '-1021', 'Timestamp for this request is outside of the recvWindow.'),
      { outcome: 'refused', reason: 'clock' },
    ],
    ['binance: no such order', binance.words, answer(400, '-2013', 'Order does not exist.'), { outcome: 'not-found' }],
    [
      'binance: an archived order',
      binance.words,
      answer(400, '-2026', 'It has been archived.'),
      { outcome: 'not-found' },
    ],
    [
      'binance: unexpected answer',
      binance.words,
      answer(400, '-1006', ''),
      { outcome: 'unknown', reason: 'venue-unsure' },
    ],
    [
      'binance: matching engine late',
      binance.words,
      answer(504, '-1007', ''),
      { outcome: 'unknown', reason: 'venue-unsure' },
    ],
    [
      'binance: a firewall',
      binance.words,
      answer(403, undefined, '<html>'),
      { outcome: 'unknown', reason: 'unreadable' },
    ],
    ['binance: too many requests, said in a 400', binance.words, answer(400, '-1003', ''), { outcome: 'unknown' }],
    ['binance: a wrong key', binance.words, answer(401, '-2015', ''), { outcome: 'refused', reason: 'not-permitted' }],
  ];
  it.each(cases)('%s', (_name, words, fault, expected) => {
    expect(judge(fault, words)).toMatchObject(expected);
  });

  it('reads the code of Binance from its own kind of body only', () => {
    expect(binance.codeOf('{"code":-2010,"msg":"Duplicate order sent."}', 'InvalidOrder')).toBe('-2010');
    expect(binance.codeOf('<html>{"code":-2010,"msg":""}</html>', 'ExchangeError')).toBeUndefined();
    expect(binance.codeOf('', 'ExchangeError')).toBeUndefined();
  });
});
