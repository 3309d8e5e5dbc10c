import { isIPv4 } from 'node:net';

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

/** A secret that is used as a key: what counts is how much of it there is. */
export function keyBytes(bytesMin: number): Kind<string> {
  return {
    allowed: `at least ${bytesMin} bytes`,
    parse: (value) => (Buffer.byteLength(value) >= bytesMin ? value : undefined),
  };
}

/** Whoever can change what is read from there must not be able to; so it is encrypted, or does not leave the machine. */
export function trustedUrl(example: string): Kind<string> {
  return {
    allowed: `a URL such as ${example}; http only to this machine`,
    parse: (value) => {
      const parsed = URL.canParse(value) ? new URL(value) : undefined;
      if (!parsed || parsed.username || parsed.password) return undefined;
      const isTrusted = parsed.protocol === 'https:' || (parsed.protocol === 'http:' && isLoopback(parsed.hostname));
      return isTrusted ? value : undefined;
    },
  };
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || (isIPv4(hostname) && hostname.startsWith('127.'));
}
