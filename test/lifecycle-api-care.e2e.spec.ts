import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { expectProblem, makeProfile, startApi } from './harness/api.js';
import { startPaperVenue } from './harness/paper-venue.js';
import { temporaryFolder } from './harness/process.js';
import { handsOf, PATIENCE, startTrading, tradeIdOf, venuesFile } from './harness/trading-api.js';

describe('trades without a worker', () => {
  it('are looked after by the next orchestrator too, and one venue that is gone does not stand in the way', async () => {
    const venue = await startPaperVenue();
    await venue.control('POST', '/paper/fees', { makerBps: 0, takerBps: 0 });
    const gone = { id: 'gone', adapter: 'ccxt', exchange: 'binance', baseUrl: `${venue.url}/binance` };
    const first = await startApi({ VENUES_FILE: venuesFile(venue, [gone]), ORDER_SYNC_INTERVAL_MS: '50' });
    const profileId = await makeProfile(first.admin, 'alice', '100000');
    const resting = { quantity: '1', type: 'limit', limitPrice: '20' };
    const before = handsOf(first.admin, profileId);
    const lost = await before.enter({ ...resting, venue: 'gone', symbol: 'ETH/USDT', signalId: 'lost' });
    const kept = await before.enter({ ...resting, symbol: 'ETH/USD', signalId: 'kept' });
    expect([lost.status, kept.status]).toEqual([201, 201]);
    await first.orchestrator.stop('SIGKILL');

    const second = await startApi({
      ...{ VENUES_FILE: venuesFile(venue), ORDER_SYNC_INTERVAL_MS: '50', DATABASE_URL: first.databaseUrl },
    });
    const after = handsOf(second.admin, profileId);
    const orders = await venue.orders();
    const order = orders.find(({ clientOrderId }) => clientOrderId === kept.body['clientOrderId']);
    await venue.control('POST', `/paper/orders/${order?.id ?? ''}/fill`, {});
    expect(await after.whenTrade(tradeIdOf(kept), 'open')).toMatchObject({ positionQuantity: '1' });
    expect(second.orchestrator.output).toContain('ETH/USDT at gone');
    const exit = await second.admin('POST', `${after.path}/trades/${tradeIdOf(lost)}/exit`, {});
    expectProblem(exit, { status: 422, code: 'unknown_venue' });
  });

  it('are those of symbols that no enabled pair works on; the others are left to their workers', async () => {
    const PAIRS_FILE = join(temporaryFolder(), 'pairs.yaml');
    const pair = { venue: 'paper', strategy: { name: 'example' }, intervalSec: 3600 };
    const pairs = [
      { id: 'BTC-USD', symbol: 'BTC/USD', ...pair },
      { id: 'ETH-USD', symbol: 'ETH/USD', ...pair, enabled: false },
    ];
    writeFileSync(PAIRS_FILE, JSON.stringify({ pairs }));
    const { admin, path, enter, trade, whenTrade } = await startTrading({
      ...{ PAIRS_FILE, WORKER_HEARTBEAT_INTERVAL_MS: '50', SHUTDOWN_GRACE_MS: '5000' },
    });
    const worker = await vi.waitUntil(async () => {
      const { statuses } = (await admin('GET', '/api/orchestrator/status')).body as {
        statuses: Record<string, { alive: boolean; pid?: number }>;
      };
      const btc = statuses['BTC-USD'];
      return btc?.alive && btc.pid !== undefined ? btc.pid : false;
    }, PATIENCE);
    process.kill(worker, 'SIGSTOP');
    const workedOn = tradeIdOf(await enter());
    for (const signalId of ['first', 'second']) {
      const other = tradeIdOf(await enter({ symbol: 'ETH/USD', signalId, quantity: '1' }));
      await whenTrade(other, 'open');
      expect((await admin('POST', `${path}/trades/${other}/exit`, {})).body).toMatchObject({ outcome: 'submitted' });
      await whenTrade(other, 'closed');
    }
    expect(await trade(workedOn)).toMatchObject({ state: 'entering' });
    process.kill(worker, 'SIGCONT');
    await whenTrade(workedOn, 'open');
  });
});
