import { z } from 'zod';
import type { Clock } from '#libs/clock';
import type { Excess, WireProtocol } from '../wire-protocol.js';

const Limit = z.number().int().min(0).max(1_000_000_000);

export const LimitsBody = z.strictObject({
  alpacaRequestsPerMinute: Limit.optional().meta({ description: 'Alpaca itself allows 200' }),
  binanceWeightPerMinute: Limit.optional().meta({ description: 'Binance itself allows 6000' }),
  binanceOrdersPer10Seconds: Limit.optional().meta({ description: 'Binance itself allows 100' }),
  geckoRequestsPerMinute: Limit.optional().meta({ description: 'GeckoTerminal itself allows 30' }),
});

export type Limits = Required<{ [Name in keyof z.infer<typeof LimitsBody>]: number }>;

/** Wide enough not to be noticed; the venues' own are set by whoever wants to meet them. */
const WIDE: Limits = {
  alpacaRequestsPerMinute: 1_000_000,
  binanceWeightPerMinute: 10_000_000,
  binanceOrdersPer10Seconds: 1_000_000,
  geckoRequestsPerMinute: 1_000_000,
};

const MINUTE_MS = 60_000;
const TEN_SECONDS_MS = 10_000;
const DAY_MS = 86_400_000;

/** Refused requests in a row after which Binance shuts the caller out. */
const BAN_AFTER = 10;
const BAN_MS = 120_000;

/** How often something happened in the span of time that runs. */
class Window {
  private startedAt = 0;
  private used = 0;

  constructor(private readonly lengthMs: number) {}

  count(by: number, now: number): { used: number; endsInMs: number } {
    const start = Math.floor(now / this.lengthMs) * this.lengthMs;
    if (start !== this.startedAt) this.used = 0;
    this.startedAt = start;
    this.used += by;
    return { used: this.used, endsInMs: start + this.lengthMs - now };
  }
}

export interface Allowance {
  readonly headers: Readonly<Record<string, string>>;
  readonly excess?: Excess;
}

/** Counts requests as each venue does, and says when there are too many. */
export class RequestLimits {
  private limits = WIDE;
  private windows = newWindows();
  private refusedInRow = 0;
  private bannedUntil = 0;

  constructor(private readonly clock: Clock) {}

  change(limits: z.infer<typeof LimitsBody>): Limits {
    this.limits = { ...this.limits, ...limits } as Limits;
    this.windows = newWindows();
    this.refusedInRow = 0;
    this.bannedUntil = 0;
    return this.limits;
  }

  count(protocol: WireProtocol, request: { weight: number; isOrder: boolean }): Allowance {
    switch (protocol) {
      case 'alpaca':
        return this.countAlpaca();
      case 'binance':
        return this.countBinance(request);
      case 'gecko':
        return this.countGecko();
    }
  }

  private countAlpaca(): Allowance {
    const now = this.clock.now();
    const limit = this.limits.alpacaRequestsPerMinute;
    const { used, endsInMs } = this.windows.alpaca.count(1, now);
    const headers = {
      'x-ratelimit-limit': String(limit),
      'x-ratelimit-remaining': String(Math.max(0, limit - used)),
      'x-ratelimit-reset': String(Math.ceil((now + endsInMs) / 1_000)),
    };
    return used > limit ? { headers, excess: { retryAfterSec: seconds(endsInMs) } } : { headers };
  }

  private countBinance({ weight, isOrder }: { weight: number; isOrder: boolean }): Allowance {
    const now = this.clock.now();
    if (now < this.bannedUntil) {
      return { headers: {}, excess: { retryAfterSec: seconds(this.bannedUntil - now), isBanned: true } };
    }
    const minute = this.windows.binanceWeight.count(weight, now);
    const orders = this.windows.binanceOrders.count(isOrder ? 1 : 0, now);
    const headers = {
      'x-mbx-used-weight': String(minute.used),
      'x-mbx-used-weight-1m': String(minute.used),
      ...(isOrder && {
        'x-mbx-order-count-10s': String(orders.used),
        'x-mbx-order-count-1d': String(this.windows.binanceDay.count(1, now).used),
      }),
    };
    if (minute.used > this.limits.binanceWeightPerMinute) {
      return { headers, excess: this.refuseBinance(minute.endsInMs, now) };
    }
    this.refusedInRow = 0;
    const isTooManyOrders = isOrder && orders.used > this.limits.binanceOrdersPer10Seconds;
    return isTooManyOrders
      ? { headers, excess: { retryAfterSec: seconds(orders.endsInMs), isOrderCount: true } }
      : { headers };
  }

  /** Whoever does not heed the refusals is shut out. */
  private refuseBinance(endsInMs: number, now: number): Excess {
    this.refusedInRow += 1;
    if (this.refusedInRow <= BAN_AFTER) return { retryAfterSec: seconds(endsInMs) };
    this.bannedUntil = now + BAN_MS;
    return { retryAfterSec: seconds(BAN_MS), isBanned: true };
  }

  private countGecko(): Allowance {
    const { used, endsInMs } = this.windows.gecko.count(1, this.clock.now());
    const isTooMany = used > this.limits.geckoRequestsPerMinute;
    return isTooMany ? { headers: {}, excess: { retryAfterSec: seconds(endsInMs) } } : { headers: {} };
  }
}

function newWindows(): Record<'alpaca' | 'gecko' | 'binanceWeight' | 'binanceOrders' | 'binanceDay', Window> {
  return {
    alpaca: new Window(MINUTE_MS),
    gecko: new Window(MINUTE_MS),
    binanceWeight: new Window(MINUTE_MS),
    binanceOrders: new Window(TEN_SECONDS_MS),
    binanceDay: new Window(DAY_MS),
  };
}

function seconds(ms: number): number {
  return Math.ceil(ms / 1_000);
}
