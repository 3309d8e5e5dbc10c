import { Decimal } from '#libs/money';
import { candlesOf, type Candle } from './candles.js';
import { priceScaleOf, type Instrument } from './instruments.js';
import { Liquidity, type Level } from './liquidity.js';
import { noise, noiseSource } from './noise.js';
import { Walk } from './walk.js';

/**
 * A price that an operator set: one level on each side of the book. A size that is given is all there is, and what is
 * taken of it stays taken; without one there is more than anybody wants.
 */
export interface Pin {
  readonly bid: Decimal;
  readonly ask: Decimal;
  readonly bidSize?: Decimal | undefined;
  readonly askSize?: Decimal | undefined;
}

export interface Quote {
  readonly bid: Decimal;
  readonly ask: Decimal;
  readonly last: Decimal;
}

/** A trade among the other participants. */
export interface MarketTrade {
  readonly id: number;
  readonly at: number;
  readonly price: Decimal;
  readonly quantity: Decimal;
  readonly isBuyerMaker: boolean;
}

const SECOND_MS = 1_000;
const LEVELS = 20;

/** Distance of the best prices from the middle, and of each level from the next, as a share of the price. */
const HALF_SPREAD = 0.0001;
const LEVEL_DISTANCE = 0.0002;

/** What one level offers on average, in the currency of the price. */
const USUAL_LEVEL_NOTIONAL = 50_000;
const QUANTITY_SCALE = 4;
const PLENTY = Decimal.fromInteger(1_000_000n);
const TWO = Decimal.fromInteger(2n);

/** Everything about prices and the offers of others; a function of seed and time but for the pins. */
export class Market {
  private readonly walks = new Map<string, Walk>();
  private readonly pins: Map<string, Pin>;

  constructor(
    private readonly seed: number,
    pins: ReadonlyMap<string, Pin> = new Map(),
  ) {
    this.pins = new Map(pins);
  }

  /** Keeps the price where it is set until it is released. */
  pin(instrument: Instrument, pin: Pin): void {
    this.pins.set(instrument.id, pin);
  }

  release(instrument: Instrument): void {
    this.pins.delete(instrument.id);
  }

  pinOf(instrument: Instrument): Pin | undefined {
    return this.pins.get(instrument.id);
  }

  quote(instrument: Instrument, at: number): Quote {
    const pin = this.pins.get(instrument.id);
    if (pin) {
      const last = pin.bid.plus(pin.ask).dividedBy(TWO, { scale: priceScaleOf(instrument) + 1, rounding: 'half-even' });
      return { bid: pin.bid, ask: pin.ask, last };
    }
    const middle = this.walk(instrument).at(at);
    const [bid, ask] = [middle * (1 - HALF_SPREAD), middle * (1 + HALF_SPREAD)].map((price) =>
      this.walk(instrument).toPrice(price),
    ) as [Decimal, Decimal];
    const tick = instrument.rules.binance.priceTick;
    return { bid, ask: ask.compare(bid) > 0 ? ask : bid.plus(tick), last: this.walk(instrument).toPrice(middle) };
  }

  /** The offers of others at a second. */
  liquidity(instrument: Instrument, at: number): Liquidity {
    const { bid, ask } = this.quote(instrument, at);
    const pin = this.pins.get(instrument.id);
    return new Liquidity({
      bids: pin
        ? [{ price: bid, quantity: pin.bidSize ?? PLENTY }]
        : this.levels(instrument, { from: bid, at, sign: -1 }),
      asks: pin
        ? [{ price: ask, quantity: pin.askSize ?? PLENTY }]
        : this.levels(instrument, { from: ask, at, sign: 1 }),
    });
  }

  candles(
    instrument: Instrument,
    ask: { from: number; to: number; intervalMs: number; now: number; limit: number },
  ): Candle[] {
    return candlesOf(this.walk(instrument), ask);
  }

  /** One trade of others each second. */
  tradeAt(instrument: Instrument, at: number): MarketTrade {
    const second = Math.floor(at / SECOND_MS);
    const source = noiseSource(this.seed, `${instrument.id} trade`);
    const isBuyerMaker = noise(source, second) < 0.5;
    const { bid, ask } = this.quote(instrument, at);
    const quantity = (USUAL_LEVEL_NOTIONAL / 100 / instrument.usualPrice) * (0.1 + noise(source + 1, second));
    return {
      id: second,
      at: second * SECOND_MS,
      price: isBuyerMaker ? bid : ask,
      quantity: toQuantity(quantity),
      isBuyerMaker,
    };
  }

  private levels(instrument: Instrument, { from, at, sign }: { from: Decimal; at: number; sign: 1 | -1 }): Level[] {
    const source = noiseSource(this.seed, `${instrument.id} level ${sign}`);
    const second = Math.floor(at / SECOND_MS);
    const scale = priceScaleOf(instrument);
    const levels: Level[] = [];
    for (let index = 0; index < LEVELS; index += 1) {
      const share = Decimal.parse((1 + sign * LEVEL_DISTANCE * index).toFixed(6));
      const price = from.times(share).rounded({ scale: Math.max(scale, from.scale), rounding: 'half-even' });
      const notional = USUAL_LEVEL_NOTIONAL * (0.5 + noise(source, second * LEVELS + index));
      if (price.isPositive()) levels.push({ price, quantity: toQuantity(notional / instrument.usualPrice) });
    }
    return levels;
  }

  private walk(instrument: Instrument): Walk {
    const walk = this.walks.get(instrument.id) ?? new Walk(instrument, this.seed);
    this.walks.set(instrument.id, walk);
    return walk;
  }
}

function toQuantity(value: number): Decimal {
  return Decimal.parse(Math.max(value, 0.0001).toFixed(QUANTITY_SCALE));
}
