import { Decimal } from '#libs/money';
import { priceScaleOf, type Instrument } from './instruments.js';
import { noise, noiseSource } from './noise.js';

export const MINUTE_MS = 60_000;
const SECOND_MS = 1_000;

/**
 * Waves of noise over each other: each is four times as long as the one before and twice as high, which is how a
 * random walk looks from close up and from afar. The longest lasts 45 days. Together they sway by at most 15.4 % of
 * the usual price, so that the price always comes back to it and stays above zero.
 */
const WAVES = Array.from({ length: 9 }, (_, index) => ({ minutes: 1 << (2 * index), height: 0.0003 * (1 << index) }));

/** How far high and low of a minute may lie beyond its open and close, as a share of the price. */
const WICK_MAX = 0.0004;

/** What is traded in a minute on average, in the currency of the price. */
const USUAL_TURNOVER = 500_000;

interface MinuteShape {
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  readonly volume: number;
}

/**
 * The price of one instrument as a function of seed, name and time alone: whoever asks, whenever, gets the same.
 * Sums and products only: IEEE 754 gives them one result on every machine, which it does not for exp or sin.
 */
export class Walk {
  private readonly waves: readonly { readonly minutes: number; readonly height: number; readonly source: number }[];
  private readonly sources: Record<'high' | 'low' | 'volume' | 'tick', number>;

  constructor(
    private readonly instrument: Instrument,
    seed: number,
  ) {
    const source = (name: string): number => noiseSource(seed, `${instrument.id} ${name}`);
    this.waves = WAVES.map((wave) => ({ ...wave, source: source(`wave ${wave.minutes}`) }));
    this.sources = { high: source('high'), low: source('low'), volume: source('volume'), tick: source('tick') };
  }

  /** The minute that starts at minute × 60 s. */
  minute(minute: number): MinuteShape {
    const open = this.priceAfter(minute - 1);
    const close = this.priceAfter(minute);
    return {
      open,
      close,
      high: Math.max(open, close) * (1 + WICK_MAX * noise(this.sources.high, minute)),
      low: Math.min(open, close) * (1 - WICK_MAX * noise(this.sources.low, minute)),
      volume: (USUAL_TURNOVER / this.instrument.usualPrice) * (0.5 + noise(this.sources.volume, minute)),
    };
  }

  /** The price at a second: on the way from open to close of its minute, and never beyond its high and low. */
  at(ms: number): number {
    const second = Math.floor(ms / SECOND_MS);
    const { open, high, low, close } = this.minute(Math.floor(ms / MINUTE_MS));
    const share = (second % 60) / 60;
    const base = open + (close - open) * share;
    const room = Math.min(high - base, base - low) * 4 * share * (1 - share);
    return base + room * (2 * noise(this.sources.tick, second) - 1);
  }

  /** The one place where a price becomes exact. It keeps the order of values, so high and low stay on their sides. */
  toPrice(value: number): Decimal {
    return Decimal.parse(value.toFixed(priceScaleOf(this.instrument)));
  }

  private priceAfter(minute: number): number {
    const sway = this.waves.reduce((sum, wave) => sum + wave.height * waveAt(wave, minute), 0);
    return this.instrument.usualPrice * (1 + sway);
  }
}

/** Between -1 and 1: random at each multiple of the wave's length, and smooth in between. */
function waveAt({ minutes, source }: { minutes: number; source: number }, minute: number): number {
  const step = Math.floor(minute / minutes);
  const share = minute / minutes - step;
  const left = 2 * noise(source, step) - 1;
  const right = 2 * noise(source, step + 1) - 1;
  return left + (right - left) * share * share * (3 - 2 * share);
}
