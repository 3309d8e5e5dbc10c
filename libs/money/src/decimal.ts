/** 'down' goes toward zero, 'up' away from it, 'half-even' to the nearest, ties to the even digit. */
export type Rounding = 'down' | 'up' | 'half-even';

/** Bounds what a stranger can make us compute; far beyond any amount, price or product of two of them. */
const DIGITS_MAX = 80;

const PLAIN_DECIMAL = /^(?<sign>-?)(?<whole>\d+)(?:\.(?<fraction>\d+))?$/;

export class InvalidDecimal extends Error {
  constructor(readonly text: string) {
    super(
      `Expected a plain decimal such as "12.5" with at most ${DIGITS_MAX} digits, got ${JSON.stringify(text.slice(0, 100))}.`,
    );
    this.name = 'InvalidDecimal';
  }
}

/**
 * An exact decimal number: amounts, prices, quantities. Sums, differences and products never lose a digit;
 * whatever must round says how at the call. Equal values have one representation.
 */
export class Decimal {
  static readonly zero = new Decimal(0n, 0);

  /** The value is coefficient / 10^scale, with no trailing zero in the coefficient unless scale is 0. */
  private constructor(
    private readonly coefficient: bigint,
    readonly scale: number,
  ) {}

  /** Reads what a person, a venue or Postgres writes: no exponent, no sign but minus, no blanks, no NaN. */
  static parse(text: string): Decimal {
    const parts = text.length <= DIGITS_MAX + 2 ? PLAIN_DECIMAL.exec(text)?.groups : undefined;
    if (!parts) throw new InvalidDecimal(text);
    const { sign = '', whole = '', fraction = '' } = parts;
    if (whole.length + fraction.length > DIGITS_MAX) throw new InvalidDecimal(text);
    return Decimal.normalised(BigInt(sign + whole + fraction), fraction.length);
  }

  static fromInteger(value: bigint): Decimal {
    return new Decimal(value, 0);
  }

  plus(other: Decimal): Decimal {
    const scale = Math.max(this.scale, other.scale);
    return Decimal.normalised(this.atScale(scale) + other.atScale(scale), scale);
  }

  minus(other: Decimal): Decimal {
    return this.plus(other.negated());
  }

  times(other: Decimal): Decimal {
    return Decimal.normalised(this.coefficient * other.coefficient, this.scale + other.scale);
  }

  dividedBy(divisor: Decimal, to: { scale: number; rounding: Rounding }): Decimal {
    if (divisor.isZero()) throw new RangeError(`Expected a divisor other than zero for ${this.toString()}.`);
    assertScale(to.scale);
    const shift = to.scale + divisor.scale - this.scale;
    const numerator = shift >= 0 ? this.coefficient * 10n ** BigInt(shift) : this.coefficient;
    const denominator = shift >= 0 ? divisor.coefficient : divisor.coefficient * 10n ** BigInt(-shift);
    return Decimal.normalised(divided(numerator, denominator, to.rounding), to.scale);
  }

  rounded(to: { scale: number; rounding: Rounding }): Decimal {
    return this.scale <= to.scale ? this : this.dividedBy(Decimal.fromInteger(1n), to);
  }

  negated(): Decimal {
    return new Decimal(-this.coefficient, this.scale);
  }

  abs(): Decimal {
    return this.isNegative() ? this.negated() : this;
  }

  isZero(): boolean {
    return this.coefficient === 0n;
  }

  isNegative(): boolean {
    return this.coefficient < 0n;
  }

  isPositive(): boolean {
    return this.coefficient > 0n;
  }

  equals(other: Decimal): boolean {
    return this.compare(other) === 0;
  }

  /** Negative, zero or positive, as sort() expects. */
  compare(other: Decimal): number {
    const scale = Math.max(this.scale, other.scale);
    const difference = this.atScale(scale) - other.atScale(scale);
    return difference === 0n ? 0 : difference < 0n ? -1 : 1;
  }

  /** Plain notation, the shortest that is exact; Decimal.parse reads it back. */
  toString(): string {
    const digits = this.abs()
      .coefficient.toString()
      .padStart(this.scale + 1, '0');
    const whole = digits.slice(0, digits.length - this.scale);
    const fraction = digits.slice(digits.length - this.scale);
    return `${this.isNegative() ? '-' : ''}${whole}${fraction && `.${fraction}`}`;
  }

  /** A string on the wire, never a number. */
  toJSON(): string {
    return this.toString();
  }

  /** Keeps `a < b` and `a + b` from quietly turning money into floating point; use compare and plus. */
  valueOf(): never {
    throw new TypeError('Expected compare, plus, minus or times: a Decimal does not turn into a number.');
  }

  private atScale(scale: number): bigint {
    return this.coefficient * 10n ** BigInt(scale - this.scale);
  }

  private static normalised(coefficient: bigint, scale: number): Decimal {
    if (coefficient === 0n) return Decimal.zero;
    while (scale > 0 && coefficient % 10n === 0n) {
      coefficient /= 10n;
      scale -= 1;
    }
    return new Decimal(coefficient, scale);
  }
}

function divided(numerator: bigint, denominator: bigint, rounding: Rounding): bigint {
  const quotient = numerator / denominator;
  const remainder = numerator % denominator;
  if (remainder === 0n) return quotient;
  const awayFromZero = numerator < 0n === denominator < 0n ? 1n : -1n;
  switch (rounding) {
    case 'down':
      return quotient;
    case 'up':
      return quotient + awayFromZero;
    case 'half-even': {
      const twice = 2n * magnitude(remainder) - magnitude(denominator);
      const roundsUp = twice > 0n || (twice === 0n && quotient % 2n !== 0n);
      return roundsUp ? quotient + awayFromZero : quotient;
    }
  }
}

function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value;
}

function assertScale(scale: number): void {
  if (!Number.isInteger(scale) || scale < 0 || scale > DIGITS_MAX) {
    throw new RangeError(`Expected a scale between 0 and ${DIGITS_MAX}, got ${scale}.`);
  }
}
