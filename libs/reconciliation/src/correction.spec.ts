import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { correctionOf, type Evidence, type Finding } from './correction.js';
import { KINDS, RULES } from './rules.js';

const evidence: fc.Arbitrary<Evidence | null> = fc.option(
  fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.integer(), fc.constant(null)), { maxKeys: 5 }),
);
const finding: fc.Arbitrary<Finding> = fc.record(
  {
    ...{ venue: fc.string(), kind: fc.constantFrom(...KINDS), recorded: evidence, reported: evidence },
    ...{ profileId: fc.uuid(), tradeId: fc.uuid(), symbol: fc.string(), orderId: fc.string() },
  },
  { requiredKeys: ['venue', 'kind', 'recorded', 'reported'] },
);
const backwards = <T extends object>(record: T): T => Object.fromEntries(Object.entries(record).toReversed()) as T;
const OF_CONTENT = ['venue', 'kind', 'profileId', 'orderId', 'recorded', 'reported'] as const;

describe('the id of a correction', () => {
  it('is the same for the same content, whatever the order of its keys and whatever is told', () => {
    fc.assert(
      fc.property(finding, (found) => {
        const { recorded, reported } = found;
        const same = {
          ...backwards(found),
          recorded: recorded && backwards(recorded),
          reported: reported && backwards(reported),
        };
        expect(correctionOf(same).id).toBe(correctionOf(found).id);
        expect(correctionOf({ ...found, report: { fills: [] as never } }).id).toBe(correctionOf(found).id);
      }),
    );
  });

  it('is another for other content', () => {
    fc.assert(
      fc.property(finding, finding, (one, other) => {
        const isSame = OF_CONTENT.every(
          (key) => JSON.stringify(sorted(one[key])) === JSON.stringify(sorted(other[key])),
        );
        expect(correctionOf(one).id === correctionOf(other).id).toBe(isSame);
      }),
      { numRuns: 1_000 },
    );
  });

  it('changes with each part of the content', () => {
    const whole: Finding = {
      ...{ venue: 'paper', kind: 'cancel', profileId: 'p', orderId: 'o', recorded: { a: '1' }, reported: { b: 2 } },
    };
    const others: Partial<Finding>[] = [
      ...[{ venue: 'other' }, { kind: 'status' as const }, { profileId: 'q' }, { orderId: 'x' }],
      ...[
        { recorded: { a: '2' } },
        { recorded: { b: '1' } },
        { recorded: null },
        { reported: { b: '2' } },
        { reported: {} },
      ],
    ];
    const ids = [whole, ...others.map((change) => ({ ...whole, ...change }))].map((each) => correctionOf(each).id);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

it('a correction carries the rule and the action of its kind; rules are numbered without a gap', () => {
  for (const kind of KINDS) {
    const { rule, action } = correctionOf({ venue: 'paper', kind, recorded: null, reported: null });
    expect([rule, action]).toEqual([RULES[kind].number, RULES[kind].action]);
  }
  expect(KINDS.map((kind) => RULES[kind].number)).toEqual(KINDS.map((_, index) => index + 1));
});

function sorted(value: string | Evidence | null | undefined): unknown {
  return typeof value === 'object' && value !== null
    ? Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
    : (value ?? null);
}
