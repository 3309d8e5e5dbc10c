import { randomBytes } from 'node:crypto';
import { Controller, Delete, Get, HttpCode, Post, UseFilters, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { isOpen, type Order } from '../engine/order.js';
import { OpenList } from '../faults/open-list.js';
import { INSTRUMENTS } from '../market/instruments.js';
import type { FiledOrder } from '../store/archive.js';
import { Venue } from '../venue.js';
import { WireErrorFilter } from '../wire-error.js';
import { archivedOrder, invalidParameter, mandatory, noSuchOrder, refused, unknownOrder } from './binance-error.js';
import { acceptedJson, canceledJson, orderJson, tradeJson } from './order-json.js';
import { parseOrder } from './order-request.js';
import { BinanceParameters, Parameters } from './parameters.js';
import { SignedGuard } from './signed.guard.js';

const LIST_DEFAULT = 500;
const LIST_MAX = 1_000;

/** Without a limit of Binance's own; no account has as many open orders. */
const OPEN_ORDERS_MAX = 100_000;
const TRADED = INSTRUMENTS.filter(({ names }) => names.binance !== undefined);

type Json = Record<string, unknown>;

@ApiExcludeController()
@Controller('binance/api/v3')
@UseGuards(SignedGuard)
@UseFilters(WireErrorFilter)
export class BinanceOrdersController {
  constructor(
    private readonly venue: Venue,
    private readonly openList: OpenList,
  ) {}

  @Post('order')
  @HttpCode(200)
  async submit(@BinanceParameters() parameters: Parameters): Promise<Json> {
    const request = parseOrder(parameters);
    const submitted = await this.venue.submit(request);
    if ('refusal' in submitted) throw refused(submitted.refusal);
    const fills = submitted.events.flatMap((event) =>
      event.kind === 'fill' && event.order.seq === submitted.order.seq ? [event.fill] : [],
    );
    const usual = request.type === 'market' || request.type === 'limit' ? 'FULL' : 'ACK';
    return acceptedJson(submitted.order, fills, parameters.find('newOrderRespType') ?? usual);
  }

  @Get('order')
  async find(@BinanceParameters() parameters: Parameters): Promise<Json> {
    const filed = await this.lookUp(parameters);
    if (!filed) throw noSuchOrder();
    if (filed.isPurged) throw filed.order.filledQuantity.isZero() ? archivedOrder() : noSuchOrder();
    return orderJson(filed.order);
  }

  @Delete('order')
  async cancel(@BinanceParameters() parameters: Parameters): Promise<Json> {
    const filed = await this.lookUp(parameters);
    const canceled = filed && isOpen(filed.order) ? await this.venue.cancel(filed.order.seq) : undefined;
    if (!canceled) throw unknownOrder();
    return canceledJson(canceled, parameters.find('newClientOrderId') ?? randomBytes(11).toString('hex'));
  }

  @Get('openOrders')
  async listOpen(@BinanceParameters() parameters: Parameters): Promise<Json[]> {
    const instrument = parameters.findInstrument();
    const instruments = instrument ? [instrument] : TRADED;
    const orders = await this.openList.read({ instruments, newestFirst: false, limit: OPEN_ORDERS_MAX });
    return orders.map(orderJson);
  }

  @Delete('openOrders')
  async cancelAll(@BinanceParameters() parameters: Parameters): Promise<Json[]> {
    const instrument = parameters.getInstrument();
    const open = [...this.venue.parts.engine.openOrders()].filter((order) => order.instrument === instrument);
    if (open.length === 0) throw unknownOrder();
    const canceled = await Promise.all(open.map(({ seq }) => this.venue.cancel(seq)));
    return canceled
      .filter((order): order is Order => order !== undefined)
      .map((order) => canceledJson(order, randomBytes(11).toString('hex')));
  }

  @Get('allOrders')
  async list(@BinanceParameters() parameters: Parameters): Promise<Json[]> {
    const instrument = parameters.getInstrument();
    const fromId = parameters.findInteger('orderId');
    const startTime = parameters.findInteger('startTime');
    const orders = await this.venue.read((archive) =>
      archive.listOrders({
        status: 'all',
        instruments: [instrument],
        afterSeq: fromId === undefined ? undefined : fromId - 1,
        createdAfter: startTime === undefined ? undefined : startTime - 1,
        createdBefore: parameters.findInteger('endTime'),
        newestFirst: fromId === undefined && startTime === undefined,
        limit: limitOf(parameters),
      }),
    );
    return orders.sort((a, b) => a.seq - b.seq).map(orderJson);
  }

  @Get('myTrades')
  async trades(@BinanceParameters() parameters: Parameters): Promise<Json[]> {
    const instrument = parameters.getInstrument();
    const fromId = parameters.findInteger('fromId');
    const startTime = parameters.findInteger('startTime');
    const orderSeq = parameters.findInteger('orderId');
    const fills = await this.venue.read((archive) =>
      archive.listFills({
        instrument,
        orderSeq,
        afterSeq: fromId === undefined ? undefined : fromId - 1,
        from: startTime,
        to: parameters.findInteger('endTime'),
        newestFirst: fromId === undefined && startTime === undefined && orderSeq === undefined,
        limit: limitOf(parameters),
      }),
    );
    return fills.sort((a, b) => a.seq - b.seq).map(tradeJson);
  }

  private async lookUp(parameters: Parameters): Promise<FiledOrder | undefined> {
    const instrument = parameters.getInstrument();
    const orderId = parameters.findInteger('orderId');
    const clientOrderId = parameters.find('origClientOrderId');
    if (orderId === undefined && clientOrderId === undefined) throw mandatory('origClientOrderId');
    const filed =
      orderId === undefined
        ? await this.venue.findByClientOrderId(clientOrderId ?? '', instrument)
        : await this.venue.findOrder(orderId);
    return filed?.order.instrument === instrument ? filed : undefined;
  }
}

function limitOf(parameters: Parameters): number {
  const limit = parameters.findInteger('limit') ?? LIST_DEFAULT;
  if (limit < 1) throw invalidParameter(-1100, "Illegal characters found in parameter 'limit'.");
  return Math.min(limit, LIST_MAX);
}
