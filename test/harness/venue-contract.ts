import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Decimal } from '#libs/money';
import { VenueUnavailable } from '#libs/venues';
import { setup, ownConfig, type Protocol } from './venue-setup.js';

const REQUEST_FAULTS = [
  { fault: 'drop-request' },
  { fault: 'drop-response' },
  { fault: 'delay', delayMs: 5_000 },
  { fault: 'delay', delayMs: 5_000, phase: 'request' },
  { fault: 'http-500' },
  { fault: 'http-500', phase: 'response' },
  { fault: 'http-429' },
  { fault: 'http-429', phase: 'response' },
  { fault: 'reset' },
  { fault: 'reset', phase: 'response' },
] as const;

/** What every adapter must do, against the paper venue over the wire. */
export function describeVenue(protocol: Protocol): void {
  const { symbol, otherSymbol } = protocol;

  describe(`submit by ${protocol.adapter}`, () => {
    it('tells the order as the venue took it, digit for digit', async () => {
      const { venue, request, paper } = await setup(protocol);
      const wanted = request();
      const outcome = await venue.submit(wanted);
      const [stored] = await paper.orders();
      expect(outcome).toMatchObject({
        outcome: 'accepted',
        order: { venueOrderId: stored?.id, clientOrderId: wanted.clientOrderId, symbol, side: 'buy', type: 'limit' },
      });
      if (outcome.outcome !== 'accepted') return;
      expect(JSON.parse(JSON.stringify(outcome.order))).toMatchObject({
        quantity: '0.00123',
        limitPrice: '50000.01',
        filledQuantity: '0',
      });
      expect(['pending', 'open']).toContain(outcome.order.status);
      expect(outcome.order.createdAt).toBeInstanceOf(Date);
    });

    it('recognises an id that the venue knows, and leaves one order', async () => {
      const { venue, request, paper, submissionsOf } = await setup(protocol);
      const wanted = request();
      await venue.submit(wanted);
      expect(await venue.submit(wanted)).toEqual({ outcome: 'duplicate' });
      expect(await paper.orders()).toHaveLength(1);
      expect(await submissionsOf(wanted.clientOrderId)).toBe(2);
    });

    it('tells why the venue refused', async () => {
      const { venue, request, paper } = await setup(protocol);
      expect(await venue.submit(request({ quantity: Decimal.parse('900000') }))).toMatchObject({
        outcome: 'refused',
        reason: 'insufficient-funds',
        code: expect.any(String),
      });
      expect(await venue.submit(request({ symbol: 'NOBODY/KNOWS' }))).toMatchObject({ outcome: 'refused' });
      expect(await paper.orders()).toEqual([]);
    });

    it('sends nothing under an id that the venue would not take', async () => {
      const { venue, request, submissionsOf } = await setup(protocol);
      const clientOrderId = 'ä'.repeat(10);
      expect(await venue.submit(request({ clientOrderId }))).toMatchObject({
        outcome: 'refused',
        reason: 'invalid-request',
      });
      expect(await submissionsOf(clientOrderId)).toBe(0);
    });

    it('knows nothing after a fault on the way, and sent once', async () => {
      const { open, request, paper, submissionsOf } = await setup(protocol);
      for (const operation of ['submit', 'any']) {
        for (const fault of REQUEST_FAULTS) {
          const name = `${operation} ${JSON.stringify(fault)}`;
          // Each with a budget of its own: a 429 silences the one it happens to.
          const venue = open({ context: { config: ownConfig() } });
          await venue.instrument(symbol);
          const wanted = request();
          await paper.control('POST', '/paper/faults', { operation, ...fault });
          const outcome = await venue.submit(wanted);
          await paper.control('DELETE', '/paper/faults');
          expect(outcome.outcome, name).toBe('unknown');
          const accepted = (await paper.orders()).filter(({ clientOrderId }) => clientOrderId === wanted.clientOrderId);
          expect(accepted.length, name).toBeLessThanOrEqual(1);
          expect(await submissionsOf(wanted.clientOrderId), name).toBe(accepted.length);
          const after = await open({ context: { config: ownConfig() } }).findByClientOrderId(wanted);
          if (isDelay(fault)) continue;
          expect(after.outcome, name).toBe(accepted.length === 1 ? 'found' : 'not-found');
        }
      }
    });

    it('gives up when the caller does, and sends nothing when the caller already has', async () => {
      const { open, request, paper, submissionsOf } = await setup(protocol);
      const venue = open({ context: { config: { ...ownConfig(), SUBMIT_TIMEOUT_MS: 50_000 } } });
      await venue.instrument(symbol);
      const early = request();
      expect(await venue.submit(early, { signal: AbortSignal.abort() })).toMatchObject({
        outcome: 'refused',
        reason: 'aborted',
      });
      await paper.control('POST', '/paper/faults', { operation: 'submit', fault: 'delay', delayMs: 60_000 });
      const giveUp = new AbortController();
      const late = venue.submit(request(), { signal: giveUp.signal });
      await paper.control('GET', '/paper/orders');
      giveUp.abort();
      expect(await late).toMatchObject({ outcome: 'unknown', reason: 'aborted' });
      expect(await submissionsOf(early.clientOrderId)).toBe(0);
    });

    it('sends nothing when the rate budget is spent, and says so', async () => {
      const { open, request, submissionsOf } = await setup(protocol);
      const venue = open({ settings: { requestsPerMinute: 130, id: 'narrow' } });
      let outcome = await venue.submit(request());
      let sent = 0;
      for (; outcome.outcome === 'accepted'; sent += 1) outcome = await venue.submit(request());
      expect(sent).toBeGreaterThan(0);
      const wanted = request();
      expect(await venue.submit(wanted)).toMatchObject({ outcome: 'refused', reason: 'budget' });
      expect(await submissionsOf(wanted.clientOrderId)).toBe(0);
    });

    it('keeps every process quiet after the venue asked one of them to be', async () => {
      const { venue, open, request, paper, submissionsOf } = await setup(protocol);
      const another = open();
      await Promise.all([venue.instrument(symbol), another.instrument(symbol)]);
      await paper.control('POST', '/paper/faults', { operation: 'submit', fault: 'http-429', times: 1 });
      expect(await venue.submit(request())).toMatchObject({ outcome: 'unknown', reason: 'rate-limited' });
      const wanted = request({ purpose: 'exit' });
      expect(await another.submit(wanted)).toMatchObject({ outcome: 'refused', reason: 'budget' });
      expect(await submissionsOf(wanted.clientOrderId)).toBe(0);
    });
  });

  describe(`find and cancel by ${protocol.adapter}`, () => {
    it('finds by either id, and is told of what is not there', async () => {
      const { venue, accept } = await setup(protocol);
      const order = await accept();
      expect(await venue.findByClientOrderId(order)).toMatchObject({
        outcome: 'found',
        order: { venueOrderId: order.venueOrderId },
      });
      expect(await venue.findByVenueOrderId(order)).toMatchObject({
        outcome: 'found',
        order: { clientOrderId: order.clientOrderId },
      });
      expect(await venue.findByClientOrderId({ symbol, clientOrderId: 'nobody' })).toEqual({ outcome: 'not-found' });
      const unknownId = protocol.adapter === 'alpaca' ? randomUUID() : '999999999';
      expect(await venue.findByVenueOrderId({ symbol, venueOrderId: unknownId })).toEqual({ outcome: 'not-found' });
      expect(await venue.cancel({ symbol, venueOrderId: unknownId })).toEqual({ outcome: 'not-found' });
    });

    it('cancels what works, and tells what had ended', async () => {
      const { venue, accept, fill } = await setup(protocol);
      const [cancelled, filled] = [await accept(), await accept()];
      await fill(filled.venueOrderId, '0.00123');
      expect(await venue.cancel(cancelled)).toEqual({ outcome: 'accepted' });
      expect(await venue.cancel(cancelled)).toMatchObject({
        outcome: 'already-terminal',
        order: { status: 'cancelled' },
      });
      expect(await venue.cancel(filled)).toMatchObject({ outcome: 'already-terminal', order: { status: 'filled' } });
    });

    it('takes no fault on the way for an absence or a refusal', async () => {
      const { open, accept, paper } = await setup(protocol);
      const order = await accept();
      for (const fault of REQUEST_FAULTS) {
        const venue = open({ context: { config: ownConfig() } });
        await venue.instrument(symbol);
        await paper.control('POST', '/paper/faults', { operation: 'lookup', ...fault });
        expect((await venue.findByClientOrderId(order)).outcome, JSON.stringify(fault)).toBe('unknown');
        await paper.control('DELETE', '/paper/faults');
      }
      for (const fault of REQUEST_FAULTS) {
        const venue = open({ context: { config: ownConfig() } });
        await venue.instrument(symbol);
        const target = await accept();
        await paper.control('POST', '/paper/faults', { operation: 'cancel', ...fault });
        expect((await venue.cancel(target)).outcome, JSON.stringify(fault)).toBe('unknown');
        await paper.control('DELETE', '/paper/faults');
      }
    });
  });

  describe(`lists by ${protocol.adapter}`, () => {
    it('reads every open order, beyond any page', async () => {
      const { venue, paper, accept } = await setup(protocol);
      const count = 1_050;
      for (let done = 0; done < count; done += 50) await Promise.all(Array.from({ length: 50 }, () => accept()));
      const open = await venue.openOrders();
      const stored = await paper.orders();
      expect(open.map(({ venueOrderId }) => venueOrderId).toSorted()).toEqual(stored.map(({ id }) => id).toSorted());
    });

    it('reads what closed, and leaves out what works', async () => {
      const { venue, accept, fill } = await setup(protocol);
      const since = new Date((await accept()).createdAt.getTime() - 1_000);
      const [cancelled, filled] = [await accept(), await accept()];
      await venue.cancel(cancelled);
      await fill(filled.venueOrderId, '0.00123');
      const closed = await venue.closedOrders({ since, symbols: [symbol] });
      expect(closed.map(({ venueOrderId, status }) => [venueOrderId, status])).toEqual([
        [cancelled.venueOrderId, 'cancelled'],
        [filled.venueOrderId, 'filled'],
      ]);
    });

    it('reads every fill once, from any point on, beyond any page', async () => {
      const { venue, accept, fill } = await setup(protocol);
      const order = await accept({ quantity: Decimal.parse('0.003') });
      const since = new Date(order.createdAt.getTime() - 1_000);
      for (let index = 0; index < 205; index += 1) await fill(order.venueOrderId, '0.00001', `5000${index % 10}.5`);
      const first = await venue.fills({ symbols: [symbol], start: { since } });
      expect(first.fills).toHaveLength(205);
      expect(new Set(first.fills.map(({ fillId }) => fillId)).size).toBe(205);
      expect(first.fills[3]?.price.toString()).toBe('50003.5');
      expect(first.fills[0]).toMatchObject({ venueOrderId: order.venueOrderId, symbol, side: 'buy' });
      const none = await venue.fills({ symbols: [symbol], start: { cursor: first.cursor } });
      expect(none.fills).toEqual([]);
      await fill(order.venueOrderId, '0.00002');
      const next = await venue.fills({ symbols: [symbol], start: { cursor: none.cursor } });
      expect(next.fills.map(({ quantity }) => quantity.toString())).toEqual(['0.00002']);
      expect((await venue.fills({ symbols: [otherSymbol], start: { since } })).fills).toEqual([]);
    });

    it('throws rather than give half a list, whatever the fault', async () => {
      const { open, accept, paper } = await setup(protocol);
      await accept();
      for (const fault of REQUEST_FAULTS) {
        const venue = open({ context: { config: ownConfig() } });
        await venue.instrument(symbol);
        await paper.control('POST', '/paper/faults', { operation: 'open-orders', ...fault });
        await expect(venue.openOrders(), JSON.stringify(fault)).rejects.toThrow(VenueUnavailable);
        await paper.control('DELETE', '/paper/faults');
        await paper.control('POST', '/paper/faults', { operation: 'any', ...fault });
        const since = new Date(0);
        await expect(venue.fills({ symbols: [symbol], start: { since } }), JSON.stringify(fault)).rejects.toThrow(
          VenueUnavailable,
        );
        await expect(venue.balances()).rejects.toThrow(VenueUnavailable);
        await paper.control('DELETE', '/paper/faults');
      }
    });

    it('reads balances, prices, candles and steps exactly', async () => {
      const { venue, paper } = await setup(protocol);
      await paper.control('POST', '/paper/prices', { symbol: protocol.symbol, bid: '61234.56', ask: '61235.07' });
      const ticker = await venue.ticker(symbol);
      expect([ticker.symbol, ticker.bid.toString(), ticker.ask.toString()]).toEqual([symbol, '61234.56', '61235.07']);
      const balances = await venue.balances();
      expect(balances.every(({ total, available }) => total.compare(available) >= 0)).toBe(true);
      expect(balances.map(({ asset }) => asset)).toContain(protocol.adapter === 'alpaca' ? 'USD' : 'USDT');
      const since = new Date(ticker.at.getTime() - 3_600_000);
      const candles = await venue.candles({ symbol, intervalMin: 1, since, countMax: 30 });
      expect(candles.length).toBeGreaterThan(0);
      expect(candles.length).toBeLessThanOrEqual(30);
      for (const { high, low } of candles) expect(high.compare(low)).toBeGreaterThanOrEqual(0);
      const instrument = await venue.instrument(symbol);
      expect(instrument.quantityStep.isPositive() && instrument.priceTick.isPositive()).toBe(true);
    });

    it('counts and times what it is asked', async () => {
      const { venue, request, registry } = await setup(protocol);
      const wanted = request();
      await venue.submit(wanted);
      await venue.submit(wanted);
      const text = await registry.metrics();
      expect(text).toContain('flotilla_venue_calls_total{venue="paper",verb="submit",outcome="accepted"} 1');
      expect(text).toContain('flotilla_venue_calls_total{venue="paper",verb="submit",outcome="duplicate"} 1');
      expect(text).toContain('flotilla_venue_call_duration_seconds_count{venue="paper",verb="submit"} 2');
      expect(text).toMatch(/flotilla_venue_budget_left\{venue="paper"\} \d+/);
      expect(text).toContain('flotilla_venue_stream_gaps_total{venue="paper"} 0');
    });
  });
}

function isDelay({ fault }: { fault: string }): boolean {
  return fault === 'delay';
}
