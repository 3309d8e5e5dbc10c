import { Decimal } from '#libs/money';
import { noise, noiseSource } from '../market/noise.js';
import type { Venue } from '../venue.js';
import { addressOf, type Pool } from './pools.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const HUNDRED = Decimal.fromInteger(100n);
const PERCENT_SCALE = 3;

/** What lies in a pool and what is traded in it in a day, in dollars, on average. */
const USUAL_RESERVE_USD = 20_000_000;
const USUAL_DAY_VOLUME_USD = 5_000_000;

type Json = Record<string, unknown>;

/** A pool as GeckoTerminal describes it: every number is text. */
export function poolJson(pool: Pool, venue: Venue): Json {
  const { network, address, instrument } = pool;
  const now = venue.parts.clock.now();
  const price = venue.quote(instrument).last;
  const size = noise(noiseSource(1, address), 0) + 0.2;
  const dayVolume =
    USUAL_DAY_VOLUME_USD * size * (0.5 + noise(noiseSource(1, `${address} volume`), Math.floor(now / HOUR_MS)));
  const change = (ms: number): string => {
    const before = venue.parts.market.quote(instrument, now - ms).last;
    const percent = price.minus(before).times(HUNDRED);
    return percent.dividedBy(before, { scale: PERCENT_SCALE, rounding: 'half-even' }).toString();
  };
  const name = `${instrument.base} / USDC ${pool.feePercent}%`;
  return {
    id: `${network}_${address}`,
    type: 'pool',
    attributes: {
      address,
      name,
      pool_name: `${instrument.base} / USDC`,
      pool_created_at: '2026-01-01T00:00:00Z',
      pool_fee_percentage: pool.feePercent,
      base_token_price_usd: price.toString(),
      quote_token_price_usd: '1',
      base_token_price_native_currency: '1',
      quote_token_price_native_currency: '1',
      base_token_price_quote_token: price.toString(),
      quote_token_price_base_token: Decimal.fromInteger(1n)
        .dividedBy(price, { scale: 18, rounding: 'half-even' })
        .toString(),
      token_price_usd: price.toString(),
      fdv_usd: null,
      market_cap_usd: null,
      reserve_in_usd: (USUAL_RESERVE_USD * size).toFixed(4),
      price_change_percentage: {
        m5: change(HOUR_MS / 12),
        h1: change(HOUR_MS),
        h6: change(6 * HOUR_MS),
        h24: change(DAY_MS),
      },
      volume_usd: {
        m5: (dayVolume / 288).toFixed(4),
        h1: (dayVolume / 24).toFixed(4),
        h6: (dayVolume / 4).toFixed(4),
        h24: dayVolume.toFixed(4),
      },
    },
    relationships: {
      base_token: { data: { id: `${network}_${addressOf(`${network} ${instrument.base}`)}`, type: 'token' } },
      quote_token: { data: { id: `${network}_${addressOf(`${network} USDC`)}`, type: 'token' } },
      dex: { data: { id: 'paper_swap', type: 'dex' } },
    },
  };
}
