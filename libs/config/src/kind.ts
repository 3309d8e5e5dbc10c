/** A kind of value that a setting may hold: how to read it, and how to tell a person what is allowed. */
export interface Kind<T> {
  readonly allowed: string;
  /** Undefined when the text is not of this kind. */
  readonly parse: (text: string) => T | undefined;
}

export function integer(range: { min: number; max: number }): Kind<number> {
  return {
    allowed: `a whole number from ${range.min} to ${range.max}`,
    parse: (text) => {
      const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
      return value >= range.min && value <= range.max ? value : undefined;
    },
  };
}

export function oneOf<const T extends string>(values: readonly T[]): Kind<T> {
  return {
    allowed: `one of ${values.join(', ')}`,
    parse: (text) => values.find((value) => value === text),
  };
}

export function text(allowed: string, pattern: RegExp): Kind<string> {
  return { allowed, parse: (value) => (pattern.test(value) ? value : undefined) };
}

export function url(example: string, protocols: readonly string[]): Kind<string> {
  return {
    allowed: `a URL such as ${example}`,
    parse: (value) => {
      const parsed = URL.canParse(value) ? new URL(value) : undefined;
      return parsed && protocols.includes(parsed.protocol) && parsed.hostname ? value : undefined;
    },
  };
}
