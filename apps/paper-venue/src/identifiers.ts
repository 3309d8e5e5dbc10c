/**
 * Alpaca names things by UUIDs, Binance by numbers. Ours are one number: a UUID of the venue carries it in its last
 * twelve digits, so that either finds the same thing and nothing has to be looked up.
 */
export class Identifiers {
  private readonly prefix: string;

  /** The identity is twenty hexadecimal digits of the venue's own, so that two venues never give the same UUID. */
  constructor(identity: string) {
    this.prefix = [
      identity.slice(0, 8),
      identity.slice(8, 12),
      `8${identity.slice(12, 15)}`,
      `a${identity.slice(15, 18)}`,
    ].join('-');
  }

  uuid(kind: keyof typeof KINDS, seq: number): string {
    return `${this.prefix}-${KINDS[kind]}${seq.toString(16).padStart(11, '0')}`;
  }

  /** Undefined for what is no UUID of this venue and kind. */
  findSeq(kind: keyof typeof KINDS, uuid: string): number | undefined {
    const digits = uuid.toLowerCase().split(`${this.prefix}-${KINDS[kind]}`)[1];
    return digits !== undefined && /^[0-9a-f]{11}$/.test(digits) ? Number.parseInt(digits, 16) : undefined;
  }
}

/** The first of the twelve digits. */
const KINDS = { order: '0', fill: '1', fee: '2', asset: '3', account: '4' } as const;
