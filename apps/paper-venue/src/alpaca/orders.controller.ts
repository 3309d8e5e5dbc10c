import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, UseFilters, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { z } from 'zod';
import { isOpen, type Order } from '../engine/order.js';
import { OpenList } from '../faults/open-list.js';
import { findInstrument } from '../market/instruments.js';
import { Venue } from '../venue.js';
import { WireErrorFilter } from '../wire-error.js';
import { alpacaError, invalidRequest, orderNotFound, refused } from './alpaca-error.js';
import { AlpacaGuard } from './alpaca.guard.js';
import { alpacaStatus, orderJson } from './order-json.js';
import { parseOrder } from './order-request.js';

const LIST_DEFAULT = 50;
const LIST_MAX = 500;

const Time = z
  .string()
  .refine((text) => !Number.isNaN(Date.parse(text)), 'must be a time')
  .transform((text) => Date.parse(text));

const ListQuery = z.object({
  status: z.enum(['open', 'closed', 'all']).default('open'),
  limit: z.coerce.number().int().min(1).default(LIST_DEFAULT),
  after: Time.optional(),
  until: Time.optional(),
  direction: z.enum(['asc', 'desc']).default('desc'),
  symbols: z.string().optional(),
  side: z.enum(['buy', 'sell']).optional(),
  before_order_id: z.string().optional(),
  after_order_id: z.string().optional(),
});

type OrderJson = Record<string, unknown>;

@ApiExcludeController()
@Controller('alpaca/v2')
@UseGuards(AlpacaGuard)
@UseFilters(WireErrorFilter)
export class AlpacaOrdersController {
  constructor(
    private readonly venue: Venue,
    private readonly openList: OpenList,
  ) {}

  @Post('orders')
  @HttpCode(200)
  async submit(@Body() body: unknown): Promise<OrderJson> {
    const request = parseOrder(body);
    const submitted = await this.venue.submit(request);
    if ('refusal' in submitted) throw refused(submitted.refusal, request);
    return this.json(submitted.order);
  }

  @Get('orders')
  async list(@Query() query: unknown): Promise<OrderJson[]> {
    const parsed = ListQuery.safeParse(query);
    if (!parsed.success) throw invalidRequest(`invalid ${parsed.error.issues[0]?.path.join('.') ?? 'query'}`);
    const { data } = parsed;
    const instruments = data.symbols?.split(',').flatMap((name) => findInstrument('alpaca', name) ?? []);
    const wanted = {
      instruments,
      side: data.side,
      createdAfter: data.after,
      createdBefore: data.until,
      afterSeq: this.boundary(data.after_order_id),
      beforeSeq: this.boundary(data.before_order_id),
      newestFirst: data.direction === 'desc',
      limit: Math.min(data.limit, LIST_MAX),
    };
    const { status } = data;
    const orders = await (status === 'open'
      ? this.openList.read(wanted)
      : this.venue.read((archive) => archive.listOrders({ ...wanted, status })));
    return orders.map((order) => this.json(order));
  }

  // A doubled colon is a colon in the address, not the start of a parameter.
  @Get('orders::by_client_order_id')
  async findByClientOrderId(@Query('client_order_id') id = ''): Promise<OrderJson> {
    const filed = await this.venue.findByClientOrderId(id);
    if (!filed || filed.isPurged) throw orderNotFound(id);
    return this.json(filed.order);
  }

  @Get('orders/:id')
  async find(@Param('id') id: string): Promise<OrderJson> {
    return this.json(await this.getOrder(id));
  }

  @Delete('orders/:id')
  @HttpCode(204)
  async cancel(@Param('id') id: string): Promise<void> {
    const order = await this.getOrder(id);
    const canceled = isOpen(order) ? await this.venue.cancel(order.seq) : undefined;
    if (canceled) return;
    const { order: ended = order } = (await this.venue.findOrder(order.seq)) ?? {};
    throw alpacaError(422, { code: 42210000, message: `order is already in "${alpacaStatus(ended)}" state` });
  }

  @Delete('orders')
  @HttpCode(207)
  async cancelAll(): Promise<object[]> {
    const open = [...this.venue.parts.engine.openOrders()];
    return Promise.all(
      open.map(async ({ seq }) => {
        const order = await this.venue.cancel(seq);
        return {
          id: this.venue.parts.identifiers.uuid('order', seq),
          status: order ? 200 : 422,
          body: order && this.json(order),
        };
      }),
    );
  }

  private async getOrder(id: string): Promise<Order> {
    const seq = this.venue.parts.identifiers.findSeq('order', id);
    const filed = seq === undefined ? undefined : await this.venue.findOrder(seq);
    if (!filed || filed.isPurged) throw orderNotFound(id);
    return filed.order;
  }

  private boundary(id: string | undefined): number | undefined {
    if (id === undefined) return undefined;
    const seq = this.venue.parts.identifiers.findSeq('order', id);
    if (seq === undefined) throw orderNotFound(id);
    return seq;
  }

  private json(order: Order): OrderJson {
    return orderJson(order, this.venue.parts.identifiers);
  }
}
