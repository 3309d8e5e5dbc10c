import { describe, expect, it } from 'vitest';
import { ManualClock } from '#libs/clock';
import { RequestLimits } from './request-limits.js';

const REQUEST = { weight: 1, isOrder: false };

function setup(limits: Parameters<RequestLimits['change']>[0]) {
  const clock = new ManualClock(0);
  const counter = new RequestLimits(clock);
  counter.change(limits);
  return { clock, counter };
}

describe('RequestLimits', () => {
  it('allows as many in each minute of Alpaca as were set', async () => {
    const { clock, counter } = setup({ alpacaRequestsPerMinute: 2 });
    const ask = () => counter.count('alpaca', REQUEST);
    expect([ask().excess, ask().excess, ask().excess]).toEqual([undefined, undefined, { retryAfterSec: 60 }]);
    await clock.advance(60_000);
    expect(ask()).toMatchObject({ headers: { 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': '120' } });
  });

  it('bans whoever goes on asking Binance, for two minutes', async () => {
    const { clock, counter } = setup({ binanceWeightPerMinute: 10 });
    const ask = () => counter.count('binance', { weight: 6, isOrder: false }).excess;
    expect(ask()).toBeUndefined();
    for (let index = 0; index < 10; index += 1) expect(ask()).toMatchObject({ retryAfterSec: 60 });
    expect(ask()).toMatchObject({ isBanned: true, retryAfterSec: 120 });
    await clock.advance(119_000);
    expect(ask()).toMatchObject({ isBanned: true });
    await clock.advance(1_000);
    expect(ask()).toBeUndefined();
  });

  it('counts orders on Binance apart', () => {
    const { counter } = setup({ binanceOrdersPer10Seconds: 1 });
    const order = { weight: 1, isOrder: true };
    expect(counter.count('binance', order)).toMatchObject({ headers: { 'x-mbx-order-count-10s': '1' } });
    expect(counter.count('binance', order).excess).toMatchObject({ isOrderCount: true, retryAfterSec: 10 });
    expect(counter.count('binance', REQUEST).excess).toBeUndefined();
  });
});
