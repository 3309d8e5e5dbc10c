import {
  Body,
  ConflictException,
  Controller,
  Get,
  HttpCode,
  NotFoundException,
  Param,
  Post,
  Query,
  UseGuards,
} from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { z } from 'zod';
import { Decimal } from '#libs/money';
import { isOpen, remainingOf, type Order } from '../engine/order.js';
import { nameIn, type Protocol } from '../market/instruments.js';
import type { FiledOrder, Submission } from '../store/archive.js';
import { Venue } from '../venue.js';
import { LoopbackGuard } from './loopback.guard.js';
import { Positive } from './amount.js';

const PAGE_MAX = 100_000;

const Page = z.strictObject({
  after: z.coerce.number().int().min(0).default(0).meta({ description: 'only those with a greater seq' }),
  limit: z.coerce.number().int().min(1).max(PAGE_MAX).default(PAGE_MAX),
});

const OrderItem = z.strictObject({
  id: z.string().meta({ description: 'as the client knows it: a UUID on Alpaca, a number on Binance' }),
  seq: z.number().int(),
  alpacaId: z.string(),
  protocol: z.enum(['alpaca', 'binance']),
  clientOrderId: z.string(),
  symbol: z.string(),
  side: z.enum(['buy', 'sell']),
  type: z.string(),
  timeInForce: z.string(),
  quantity: z.string(),
  filledQuantity: z.string(),
  filledNotional: z.string(),
  limitPrice: z.string().nullable(),
  stopPrice: z.string().nullable(),
  status: z.enum(['new', 'partially_filled', 'filled', 'canceled', 'expired']),
  isPurged: z.boolean(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});

const SubmissionItem = z.strictObject({
  seq: z.number().int(),
  id: z.string().nullable().meta({ description: 'of the order, if it was accepted' }),
  protocol: z.enum(['alpaca', 'binance']),
  clientOrderId: z.string(),
  symbol: z.string(),
  side: z.enum(['buy', 'sell']),
  type: z.string(),
  quantity: z.string().nullable(),
  filledQuantity: z.string(),
  status: z.string().meta({ description: 'of the order as it is now, or refused' }),
  refusal: z.string().nullable(),
  receivedAt: z.iso.datetime(),
});

const FillBody = z.strictObject({
  quantity: Positive.optional().meta({ description: 'all that is open when left out' }),
  price: Positive.optional().meta({ description: 'its limit when left out, or the price of the market' }),
});

@ApiTags('orders')
@Controller('paper')
@UseGuards(LoopbackGuard)
export class PaperOrdersController {
  constructor(private readonly venue: Venue) {}

  @Get('orders')
  @ApiOperation({ summary: 'Every order that the matching engine accepted, oldest first' })
  @ApiOkResponse({ standardSchema: z.strictObject({ items: z.array(OrderItem) }) })
  async orders(@Query({ schema: Page }) page: z.infer<typeof Page>): Promise<{ items: z.infer<typeof OrderItem>[] }> {
    const filed = await this.venue.read((archive) => archive.listAccepted({ afterSeq: page.after, limit: page.limit }));
    return { items: filed.map((order) => this.item(order)) };
  }

  @Get('submissions')
  @ApiOperation({ summary: 'Every submission that reached the matching engine, duplicates and refusals included' })
  @ApiOkResponse({ standardSchema: z.strictObject({ items: z.array(SubmissionItem) }) })
  async submissions(
    @Query({ schema: Page }) page: z.infer<typeof Page>,
  ): Promise<{ items: z.infer<typeof SubmissionItem>[] }> {
    return this.venue.read((archive) => ({
      items: archive
        .listSubmissions({ afterSeq: page.after, limit: page.limit })
        .map((submission) =>
          this.submissionItem(
            submission,
            submission.orderSeq === null ? undefined : archive.findOrder(submission.orderSeq),
          ),
        ),
    }));
  }

  @Post('orders/:id/fill')
  @HttpCode(200)
  @ApiOperation({ summary: 'Fills an open order, in part or in whole, at any price' })
  @ApiOkResponse({ standardSchema: OrderItem })
  async fill(
    @Param('id') id: string,
    @Body({ schema: FillBody }) body: z.infer<typeof FillBody>,
  ): Promise<z.infer<typeof OrderItem>> {
    const order = await this.getOpen(id);
    const quantity = body.quantity ?? remainingOf(order);
    const price = body.price ?? order.limitPrice ?? this.venue.quote(order.instrument).last;
    const filled = await this.venue.fill(order.seq, { quantity, price });
    if (filled === undefined) throw notOpen(id, order);
    if (filled === 'too-much') {
      const open = remainingOf(order).toString();
      throw new ConflictException(`Order ${id} has ${open} open; fill at most that, not ${quantity.toString()}.`);
    }
    if (filled === 'insufficient-funds') {
      const cost = quantity.times(price).toString();
      throw new ConflictException(
        `The account cannot pay ${cost} for this fill; lower it, or POST /paper/balances first.`,
      );
    }
    return this.item({ order: filled, isPurged: false });
  }

  @Post('orders/:id/cancel')
  @HttpCode(200)
  @ApiOperation({ summary: 'Cancels an open order on the side of the venue' })
  @ApiOkResponse({ standardSchema: OrderItem })
  async cancel(@Param('id') id: string): Promise<z.infer<typeof OrderItem>> {
    const order = await this.getOpen(id);
    const canceled = await this.venue.cancel(order.seq);
    if (!canceled) throw notOpen(id, order);
    return this.item({ order: canceled, isPurged: false });
  }

  private async getOpen(id: string): Promise<Order> {
    const seq = /^\d{1,15}$/.test(id) ? Number(id) : this.venue.parts.identifiers.findSeq('order', id);
    const filed = seq === undefined ? undefined : await this.venue.findOrder(seq);
    if (!filed) throw new NotFoundException(`There is no order ${id}. GET /paper/orders lists them.`);
    if (!isOpen(filed.order)) throw notOpen(id, filed.order);
    return filed.order;
  }

  private idOf(protocol: Protocol, seq: number): string {
    return protocol === 'alpaca' ? this.venue.parts.identifiers.uuid('order', seq) : String(seq);
  }

  private item({ order, isPurged }: FiledOrder): z.infer<typeof OrderItem> {
    return {
      id: this.idOf(order.protocol, order.seq),
      seq: order.seq,
      alpacaId: this.idOf('alpaca', order.seq),
      protocol: order.protocol,
      clientOrderId: order.clientOrderId,
      symbol: nameIn(order.protocol, order.instrument),
      side: order.side,
      type: order.type,
      timeInForce: order.timeInForce,
      quantity: order.quantity.toString(),
      filledQuantity: order.filledQuantity.toString(),
      filledNotional: order.filledNotional.toString(),
      limitPrice: order.limitPrice?.toString() ?? null,
      stopPrice: order.stopPrice?.toString() ?? null,
      status: order.status,
      isPurged,
      createdAt: new Date(order.createdAt).toISOString(),
      updatedAt: new Date(order.updatedAt).toISOString(),
    };
  }

  private submissionItem(submission: Submission, filed: FiledOrder | undefined): z.infer<typeof SubmissionItem> {
    const { seq, protocol, clientOrderId, symbol, side, type, quantity, refusal, orderSeq, at } = submission;
    return {
      seq,
      id: orderSeq === null ? null : this.idOf(protocol, orderSeq),
      protocol,
      clientOrderId,
      symbol,
      side,
      type,
      quantity: filed?.order.quantity.toString() ?? quantity,
      filledQuantity: (filed?.order.filledQuantity ?? Decimal.zero).toString(),
      status: filed?.order.status ?? 'refused',
      refusal,
      receivedAt: new Date(at).toISOString(),
    };
  }
}

function notOpen(id: string, { status }: Order): ConflictException {
  return new ConflictException(
    `Order ${id} is ${status} and takes no more changes. GET /paper/orders lists what is open.`,
  );
}
