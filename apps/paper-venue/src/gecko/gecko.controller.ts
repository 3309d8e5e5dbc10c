import { Controller, Get, Param, Query, UseFilters } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { z } from 'zod';
import { CANDLES_MAX } from '../market/candles.js';
import { Venue } from '../venue.js';
import { WireErrorFilter } from '../wire-error.js';
import { geckoError } from './gecko-error.js';
import { poolJson } from './pool-json.js';
import { addressOf, findPool, NETWORKS, POOLS, type Pool } from './pools.js';

const UNITS_MS: Readonly<Record<string, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };
const PAGE_SIZE = 20;
const MULTI_MAX = 30;

const OhlcvQuery = z.object({
  aggregate: z.coerce.number().int().min(1).max(60).default(1),
  before_timestamp: z.coerce.number().int().min(0).optional(),
  limit: z.coerce.number().int().min(1).max(CANDLES_MAX).default(100),
});

type Json = Record<string, unknown>;

@ApiExcludeController()
@Controller('gecko/api/v2')
@UseFilters(WireErrorFilter)
export class GeckoController {
  constructor(private readonly venue: Venue) {}

  @Get('networks')
  networks(): Json {
    return { data: NETWORKS.map((id) => ({ id, type: 'network', attributes: { name: id } })) };
  }

  @Get('networks/:network/pools')
  topPools(@Param('network') network: string, @Query('page') page = '1'): Json {
    const pools = POOLS.filter((pool) => pool.network === network);
    if (pools.length === 0) throw geckoError(404, 'Not Found');
    const start = (Math.max(1, Number.parseInt(page, 10) || 1) - 1) * PAGE_SIZE;
    return { data: pools.slice(start, start + PAGE_SIZE).map((pool) => poolJson(pool, this.venue)) };
  }

  /** Addresses that are no pools are left out, as GeckoTerminal does. */
  @Get('networks/:network/pools/multi/:addresses')
  manyPools(@Param('network') network: string, @Param('addresses') addresses: string): Json {
    const list = addresses.split(',');
    if (list.length > MULTI_MAX) throw geckoError(422, `Exceeded maximum number of addresses of ${MULTI_MAX}`);
    const pools = list.flatMap((address) => findPool(network, address) ?? []);
    return { data: pools.map((pool) => poolJson(pool, this.venue)) };
  }

  @Get('networks/:network/pools/:address')
  pool(@Param('network') network: string, @Param('address') address: string): Json {
    return { data: poolJson(getPool(network, address), this.venue) };
  }

  @Get('networks/:network/pools/:address/ohlcv/:unit')
  ohlcv(@Param() at: { network: string; address: string; unit: string }, @Query() query: unknown): Json {
    const pool = getPool(at.network, at.address);
    const parsed = OhlcvQuery.safeParse(query);
    const unitMs = UNITS_MS[at.unit];
    if (!parsed.success || unitMs === undefined) throw geckoError(400, 'Invalid timeframe or aggregate');
    const intervalMs = unitMs * parsed.data.aggregate;
    const now = this.venue.parts.clock.now();
    const to = parsed.data.before_timestamp === undefined ? now : parsed.data.before_timestamp * 1_000;
    const { limit } = parsed.data;
    const from = (Math.ceil(to / intervalMs) - limit) * intervalMs;
    const candles = this.venue.parts.market.candles(pool.instrument, { from, to, intervalMs, now, limit });
    return {
      data: {
        id: addressOf(`${pool.address} ohlcv`),
        type: 'ohlcv_request_response',
        attributes: {
          // Newest first, as numbers.
          ohlcv_list: candles
            .map(({ ts, open, high, low, close, volume }) => [
              ts / 1_000,
              ...[open, high, low, close, volume.times(close)].map((value) => Number(value.toString())),
            ])
            .reverse(),
        },
      },
      meta: {
        base: { address: addressOf(`${pool.network} ${pool.instrument.base}`), symbol: pool.instrument.base },
        quote: { address: addressOf(`${pool.network} USDC`), symbol: 'USDC' },
      },
    };
  }

  @Get('search/pools')
  search(@Query('query') query = '', @Query('network') network?: string): Json {
    const wanted = query.toUpperCase();
    const pools = POOLS.filter(
      (pool) =>
        (network === undefined || pool.network === network) &&
        (pool.instrument.base === wanted || pool.address === query.toLowerCase()),
    );
    return { data: pools.slice(0, PAGE_SIZE).map((pool) => poolJson(pool, this.venue)) };
  }
}

function getPool(network: string, address: string): Pool {
  const pool = findPool(network, address);
  if (!pool) throw geckoError(404, 'Not Found');
  return pool;
}
