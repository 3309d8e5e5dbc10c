import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decimal, InvalidDecimal, type Rounding } from '../index.js';

const d = (text: string): Decimal => Decimal.parse(text);

const decimals = fc
  .tuple(fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n }), fc.nat({ max: 18 }))
  .map(([coefficient, scale]) => {
    const digits = (coefficient < 0n ? -coefficient : coefficient).toString().padStart(scale + 1, '0');
    const cut = digits.length - scale;
    const fraction = digits.slice(cut);
    return d(`${coefficient < 0n ? '-' : ''}${digits.slice(0, cut)}${fraction && `.${fraction}`}`);
  });
const roundings = fc.constantFrom<Rounding>('down', 'up', 'half-even');

describe('Decimal.parse', () => {
  it.each([
    ['0', '0'],
    ['-0', '0'],
    ['0.000', '0'],
    ['007.50', '7.5'],
    ['-12.340', '-12.34'],
    ['100', '100'],
    ['123456789012345678901234567890.123456789012345678', '123456789012345678901234567890.123456789012345678'],
  ])('reads %s as %s', (text, value) => {
    expect(d(text).toString()).toBe(value);
  });

  it.each([
    '',
    ' ',
    '1 ',
    '+1',
    '.5',
    '5.',
    '1e3',
    '1,000',
    '0x10',
    'NaN',
    'Infinity',
    '-',
    '--1',
    '1.2.3',
    '١',
    '9'.repeat(81),
  ])('refuses %j', (text) => {
    expect(() => d(text)).toThrow(InvalidDecimal);
  });

  it('reads back what it writes', () => {
    fc.assert(fc.property(decimals, (value) => d(value.toString()).equals(value)));
  });
});

describe('Decimal arithmetic', () => {
  it('adds tenths exactly', () => {
    expect(d('0.1').plus(d('0.2')).toString()).toBe('0.3');
  });

  it('gives equal values one representation, whatever their history', () => {
    fc.assert(fc.property(decimals, decimals, (a, b) => a.plus(b).minus(b).toString() === a.toString()));
  });

  it('is commutative, associative and distributive, to the last digit', () => {
    fc.assert(
      fc.property(decimals, decimals, decimals, (a, b, c) => {
        expect(a.plus(b).toString()).toBe(b.plus(a).toString());
        expect(a.times(b).times(c).toString()).toBe(a.times(b.times(c)).toString());
        expect(a.times(b.plus(c)).toString()).toBe(a.times(b).plus(a.times(c)).toString());
      }),
    );
  });

  it('orders values as subtraction does', () => {
    fc.assert(
      fc.property(decimals, decimals, (a, b) => {
        const difference = a.minus(b);
        expect(a.compare(b)).toBe(difference.isZero() ? 0 : difference.isNegative() ? -1 : 1);
        expect(a.equals(b)).toBe(difference.isZero());
      }),
    );
  });
});

describe('Decimal.dividedBy', () => {
  it.each([
    ['1', '3', 2, 'down', '0.33'],
    ['1', '3', 2, 'up', '0.34'],
    ['-1', '3', 2, 'down', '-0.33'],
    ['-1', '3', 2, 'up', '-0.34'],
    ['0.125', '1', 2, 'half-even', '0.12'],
    ['0.135', '1', 2, 'half-even', '0.14'],
    ['-0.125', '1', 2, 'half-even', '-0.12'],
    ['0.1251', '1', 2, 'half-even', '0.13'],
    ['10', '0.25', 0, 'down', '40'],
  ] as const)('%s / %s at scale %d, rounded %s, is %s', (dividend, divisor, scale, rounding, quotient) => {
    expect(d(dividend).dividedBy(d(divisor), { scale, rounding }).toString()).toBe(quotient);
  });

  it('misses the exact quotient by less than one unit of the last digit, on the side that was asked for', () => {
    const nonZero = decimals.filter((value) => !value.isZero());
    fc.assert(
      fc.property(decimals, nonZero, fc.nat({ max: 20 }), roundings, (a, b, scale, rounding) => {
        const product = a.dividedBy(b, { scale, rounding }).times(b);
        const unit = d(`1${'0'.repeat(20 - scale)}`).dividedBy(d(`1${'0'.repeat(20)}`), {
          scale: 20,
          rounding: 'down',
        });
        const miss = product.minus(a).abs();
        const bound = unit.times(b.abs());
        expect(miss.compare(bound)).toBe(-1);
        if (rounding === 'down') expect(product.abs().compare(a.abs())).toBeLessThanOrEqual(0);
        if (rounding === 'up') expect(product.abs().compare(a.abs())).toBeGreaterThanOrEqual(0);
        if (rounding === 'half-even') expect(miss.plus(miss).compare(bound)).toBeLessThanOrEqual(0);
      }),
    );
  });

  it('refuses to divide by zero and to round to an impossible scale', () => {
    expect(() => d('1').dividedBy(Decimal.zero, { scale: 2, rounding: 'down' })).toThrow(RangeError);
    expect(() => d('1').dividedBy(d('3'), { scale: -1, rounding: 'down' })).toThrow(RangeError);
    expect(() => d('1').dividedBy(d('3'), { scale: 1.5, rounding: 'down' })).toThrow(RangeError);
  });
});

describe('Decimal.rounded', () => {
  it('leaves a value alone that fits, and rounds one that does not', () => {
    expect(d('1.25').rounded({ scale: 2, rounding: 'up' }).toString()).toBe('1.25');
    expect(d('1.251').rounded({ scale: 2, rounding: 'up' }).toString()).toBe('1.26');
  });
});

describe('Decimal on the wire', () => {
  it('is a string in JSON', () => {
    expect(JSON.stringify({ amount: d('10.50') })).toBe('{"amount":"10.5"}');
  });

  it('never turns into a number by accident', () => {
    expect(() => Number(d('1'))).toThrow(TypeError);
    expect(() => (d('1') as unknown as number) < 2).toThrow(TypeError);
    expect(String(d('1.5'))).toBe('1.5');
  });
});
