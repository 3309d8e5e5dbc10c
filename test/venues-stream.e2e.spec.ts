import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { Decimal } from '#libs/money';
import { follow, setup, venueState, type Protocol } from './harness/venue-setup.js';

const PROTOCOLS: Protocol[] = [
  { adapter: 'alpaca', symbol: 'BTC/USD', otherSymbol: 'ETH/USD' },
  { adapter: 'ccxt', symbol: 'BTC/USDT', otherSymbol: 'ETH/USDT' },
];

type Options = Parameters<typeof follow>[2];

async function following(protocol: Protocol, options?: Options) {
  const harness = await setup(protocol);
  const { venue, paper, accept, fill, registry } = harness;
  const followed = follow(protocol, venue, options);
  await followed.live();
  /** Ends when the follower knows exactly what the venue knows, fills included. */
  const agree = (): Promise<void> =>
    followed.until(async () => {
      const ours = followed.state();
      const isWhole = ours.every(({ filled, fillsTotal }) => filled === fillsTotal);
      const known = ours.map(({ id, filled, status }) => ({ id, filled, status }));
      return isWhole && isDeepStrictEqual(known, await venueState(paper));
    });
  const counter = async (name: string): Promise<number> =>
    Number(new RegExp(`^${name}\\{venue="paper"\\} (\\d+)$`, 'm').exec(await registry.metrics())?.[1]);
  /** Orders that are filled in parts and whole, cancelled, and left alone. */
  const trade = async (): Promise<void> => {
    const orders = await Promise.all(Array.from({ length: 4 }, () => accept({ quantity: Decimal.parse('0.003') })));
    const [whole, parts, cancelled] = orders.map(({ venueOrderId }) => venueOrderId) as [string, string, string];
    await fill(whole, '0.003');
    await fill(parts, '0.001');
    await fill(parts, '0.0005', '49999.99');
    await fill(cancelled, '0.002');
    await paper.control('POST', `/paper/orders/${cancelled}/cancel`);
  };
  return { ...harness, ...followed, agree, counter, trade };
}

describe.each(PROTOCOLS)('the orders of $adapter', (protocol) => {
  it('are known as they change, from the stream alone', async () => {
    const { trade, agree, counter, registry } = await following(protocol);
    await trade();
    await trade();
    await agree();
    expect(await counter('flotilla_venue_stream_gaps_total')).toBe(0);
    const asked = /verb="openOrders",outcome="answered"\} (\d+)/.exec(await registry.metrics())?.[1];
    expect(asked, 'comparisons, of which the first is due').toBe('1');
  });

  it('are known after the socket was cut, with what happened meanwhile', async () => {
    const { trade, agree, paper, counter, lost } = await following(protocol);
    await trade();
    await agree();
    for (let round = 0; round < 3; round += 1) {
      await paper.control('POST', '/paper/streams/cut');
      await trade();
      await agree();
    }
    expect(lost.length).toBeGreaterThanOrEqual(3);
    expect(await counter('flotilla_venue_stream_reconnects_total')).toBeGreaterThanOrEqual(1);
    expect(await counter('flotilla_venue_stream_gaps_total')).toBeGreaterThanOrEqual(1);
  });

  it('are known after the venue died and came back', async () => {
    const { trade, agree, paper } = await following(protocol);
    await trade();
    await agree();
    await trade();
    await paper.kill('SIGKILL');
    await paper.restart();
    await trade();
    await agree();
  });

  it('are known although every event comes twice', async () => {
    const { trade, agree, paper } = await following(protocol);
    await paper.control('POST', '/paper/faults', { operation: 'stream', fault: 'duplicate-event' });
    await trade();
    await agree();
  });

  it('are known although events overtake each other', async () => {
    const { trade, agree, paper } = await following(protocol);
    await paper.control('POST', '/paper/faults', { operation: 'stream', fault: 'reorder-events' });
    await trade();
    await agree();
  });

  it('are known although a fill was lost, as soon as the quantities disagree', async () => {
    const { until, state, accept, fill, agree, paper } = await following(protocol, { mismatchGraceMs: 50 });
    const { venueOrderId } = await accept({ quantity: Decimal.parse('0.003') });
    await until(() => state().some(({ id }) => id === venueOrderId));
    // Binance tells each fill in two events, of which the report is one.
    const times = protocol.adapter === 'ccxt' ? 2 : 1;
    await paper.control('POST', '/paper/faults', { operation: 'stream', fault: 'drop-event', times });
    await fill(venueOrderId, '0.001');
    await fill(venueOrderId, '0.001');
    await agree();
  });

  it('are known although the stream says nothing, as soon as the lists are compared', async () => {
    const { trade, agree, paper } = await following(protocol, { compareEveryMs: 200 });
    await paper.control('POST', '/paper/faults', { operation: 'stream', fault: 'drop-event' });
    await trade();
    await agree();
  });

  it('are known in the end, whatever befalls stream and lists together', async () => {
    const { trade, agree, paper } = await following(protocol, { compareEveryMs: 200, mismatchGraceMs: 50 });
    for (const fault of ['duplicate-event', 'drop-event', 'reorder-events', 'reset']) {
      await paper.control('POST', '/paper/faults', { operation: 'stream', fault, probability: 0.2 });
    }
    await paper.control('POST', '/paper/faults', { operation: 'open-orders', fault: 'http-500', probability: 0.3 });
    for (let round = 0; round < 4; round += 1) {
      await trade();
      await paper.control('POST', '/paper/streams/cut');
    }
    await paper.control('DELETE', '/paper/faults');
    await agree();
  });
});
