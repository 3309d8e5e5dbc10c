/**
 * What a sweep does about a difference. apply: the venue's word is carried into our tables by a verb of the lifecycle.
 * ask: nobody but a person should decide; entries of the symbol are halted until one did. note: it is written down.
 */
export type Action = 'apply' | 'ask' | 'note';

interface Rule {
  readonly number: number;
  readonly action: Action;
  /** What was found, for a person who reads of it in a log or a halt. */
  readonly says: string;
}

/** In the order of docs/reconciliation.md, which tells why each is what it is. */
export const RULES = {
  'entry-fill': { number: 1, action: 'apply', says: 'the venue has filled more of an entry than is booked' },
  'exit-fill': { number: 2, action: 'apply', says: 'the venue has filled more of an exit than is booked' },
  cancel: { number: 3, action: 'apply', says: 'the venue has ended an order that works by our tables' },
  status: { number: 4, action: 'apply', says: 'the venue works on an order that waits by our tables' },
  'log-order': {
    number: 5,
    action: 'apply',
    says: 'the venue has an order of one of our intents that was not recorded',
  },
  'vanished-entry': { number: 6, action: 'apply', says: 'the venue knows an entry neither by its ids nor by fills' },
  'vanished-exit': { number: 7, action: 'ask', says: 'the venue knows an exit neither by its ids nor by fills' },
  overstated: { number: 8, action: 'ask', says: 'more is booked than the venue has filled' },
  'extra-fill': { number: 9, action: 'ask', says: 'a fill is booked that the venue does not list' },
  'fill-differs': { number: 10, action: 'ask', says: 'a fill is booked with another quantity, price or fee' },
  'order-differs': {
    number: 11,
    action: 'ask',
    says: 'an order is recorded with another quantity, side, symbol or price',
  },
  reopened: { number: 12, action: 'ask', says: 'the venue works on an order that has ended by our tables' },
  'stray-order': {
    number: 13,
    action: 'ask',
    says: 'the venue has an order with our mark that no intent of ours made',
  },
  'holding-short': { number: 14, action: 'ask', says: 'the account holds less than our trades do' },
  'holding-moved': { number: 15, action: 'note', says: 'the account holds more or less than our fills explain' },
} as const satisfies Record<string, Rule>;

export type Kind = keyof typeof RULES;
export const KINDS = Object.keys(RULES) as Kind[];
