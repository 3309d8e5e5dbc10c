import { createHash } from 'node:crypto';
import { inspect } from 'node:util';

const HIDDEN = '[secret]';

/** A value that shows itself only to whoever calls reveal: not to logs, errors, JSON, job payloads or a debugger's eye. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** To be called where the value leaves for the venue, and nowhere else. */
  reveal(): string {
    return this.#value;
  }

  /** Tells keys apart without telling them. */
  fingerprint(): string {
    return createHash('sha256').update(this.#value).digest('hex').slice(0, 12);
  }

  toString(): string {
    return HIDDEN;
  }

  toJSON(): string {
    return HIDDEN;
  }

  [inspect.custom](): string {
    return HIDDEN;
  }
}

/** Shorter values are words of demonstrations; hiding them would tear holes into every sentence. */
const HIDDEN_LENGTH_MIN = 8;

/** A text of others, safe to show: without these secrets, and without what clients put behind an address. */
export function cleaned(text: string, secrets: readonly Secret[]): string {
  const values = secrets.map((secret) => secret.reveal()).filter((value) => value.length >= HIDDEN_LENGTH_MIN);
  return values
    .flatMap((value) => [value, encodeURIComponent(value)])
    .reduce((rest, value) => rest.replaceAll(value, HIDDEN), text)
    .replace(/((?:https?|wss?):\/\/[^\s?"']+)\?[^\s"']*/g, '$1?\u2026')
    .replace(/((?:signature|apiKey|secret|secret_key|key_id)["']?\s*[=:]\s*["']?)[^&\s"',}]+/gi, `$1${HIDDEN}`)
    .slice(0, TEXT_CHARS_MAX);
}

const TEXT_CHARS_MAX = 500;
