import { createHash, timingSafeEqual } from 'node:crypto';

/** The token of an Authorization header, or undefined. */
export function bearerOf(header: string | undefined): string | undefined {
  return /^Bearer ([\x21-\x7e]+)$/i.exec(header ?? '')?.[1];
}

/** Compares in a time that tells nothing about the secret, its length included. */
export function secretsEqual(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
