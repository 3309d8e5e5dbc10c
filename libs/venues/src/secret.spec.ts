import { format, inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { cleaned, Secret } from './secret.js';

const VALUE = 'AKq9-very+secret/value';

describe('Secret', () => {
  it('shows itself to nobody who does not ask', () => {
    const holder = { venue: { key: new Secret(VALUE) } };
    const shown = [
      JSON.stringify(holder),
      inspect(holder, { depth: null, showHidden: true }),
      format('%s %o %j', holder.venue.key, holder, holder),
      `${holder.venue.key.toString()}`,
      JSON.stringify(structuredClone({ ...holder.venue.key })),
      Object.values(holder.venue.key).join(),
    ].join('\n');
    expect(shown).not.toContain(VALUE);
    expect(holder.venue.key.reveal()).toBe(VALUE);
  });

  it('has a fingerprint that tells keys apart and does not hold them', () => {
    expect(new Secret(VALUE).fingerprint()).toMatch(/^[0-9a-f]{12}$/);
    expect(new Secret(VALUE).fingerprint()).not.toBe(new Secret(`${VALUE}x`).fingerprint());
  });
});

describe('cleaned', () => {
  it.each([
    [`binance GET https://api.binance.com/api/v3/order?symbol=BTCUSDT&signature=abcdef123 request timed out`],
    [`body was {"apiKey":"${VALUE}","signature":"abcdef123"}`],
    [`key ${VALUE}, encoded ${encodeURIComponent(VALUE)}`],
    [`timestamp=1&signature=abcdef123`],
  ])('takes keys and signatures out of %j', (text) => {
    expect(cleaned(text, [new Secret(VALUE)])).not.toMatch(/AKq9|abcdef123/);
  });

  it('leaves an innocent sentence alone', () => {
    expect(cleaned('insufficient balance for BTC/USDT', [new Secret('paper')])).toBe(
      'insufficient balance for BTC/USDT',
    );
  });
});
