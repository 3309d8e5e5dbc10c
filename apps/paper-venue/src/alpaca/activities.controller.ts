import { Controller, Get, Param, Query, UseFilters, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { z } from 'zod';
import { Decimal } from '#libs/money';
import type { Fill, Order } from '../engine/order.js';
import type { Archive } from '../store/archive.js';
import { Venue } from '../venue.js';
import { WireErrorFilter } from '../wire-error.js';
import { invalidRequest } from './alpaca-error.js';
import { AlpacaGuard } from './alpaca.guard.js';
import { feeActivity, fillActivity } from './order-json.js';

const PAGE_MAX = 100;
const FILLS_PER_ORDER_MAX = 10_000;

const Time = z
  .string()
  .refine((text) => !Number.isNaN(Date.parse(text)), 'must be a time')
  .transform((text) => Date.parse(text));

const ActivityQuery = z.object({
  activity_types: z.string().optional(),
  after: Time.optional(),
  until: Time.optional(),
  direction: z.enum(['asc', 'desc']).default('desc'),
  page_size: z.coerce.number().int().min(1).max(PAGE_MAX).default(PAGE_MAX),
  page_token: z.string().optional(),
});

type Json = Record<string, unknown>;

/** Fills and the fees on them; this account has no other activities. */
@ApiExcludeController()
@Controller('alpaca/v2/account/activities')
@UseGuards(AlpacaGuard)
@UseFilters(WireErrorFilter)
export class AlpacaActivitiesController {
  constructor(private readonly venue: Venue) {}

  @Get()
  list(@Query() query: unknown): Promise<Json[]> {
    const { activity_types: types, ...rest } = parse(query);
    return this.answer(types?.split(',') ?? ['FILL', 'CFEE'], rest);
  }

  @Get(':type')
  listOfType(@Param('type') type: string, @Query() query: unknown): Promise<Json[]> {
    return this.answer([type], parse(query));
  }

  private answer(
    types: readonly string[],
    query: Omit<z.infer<typeof ActivityQuery>, 'activity_types'>,
  ): Promise<Json[]> {
    const isNewestFirst = query.direction === 'desc';
    const token = this.seqOf(query.page_token);
    return this.venue.read((archive) => {
      const fills = archive.listFills({
        afterSeq: isNewestFirst ? undefined : token,
        beforeSeq: isNewestFirst ? token : undefined,
        from: query.after === undefined ? undefined : query.after + 1,
        to: query.until,
        newestFirst: isNewestFirst,
        limit: query.page_size,
      });
      return fills.flatMap((fill) => this.activities(fill, types, archive)).slice(0, query.page_size);
    });
  }

  private activities(fill: Fill, types: readonly string[], archive: Archive): Json[] {
    const { identifiers } = this.venue.parts;
    const filed = archive.findOrder(fill.orderSeq);
    return [
      ...(types.includes('FILL') && filed
        ? [fillActivity(fill, orderAfter(fill, filed.order, archive), identifiers)]
        : []),
      ...(types.includes('CFEE') && fill.fee.isPositive() ? [feeActivity(fill, identifiers)] : []),
    ];
  }

  /** The token of a page is the id of the last activity of the one before. */
  private seqOf(token: string | undefined): number | undefined {
    if (token === undefined) return undefined;
    const uuid = token.split('::')[1] ?? '';
    const seq = this.venue.parts.identifiers.findSeq('fill', uuid) ?? this.venue.parts.identifiers.findSeq('fee', uuid);
    if (seq === undefined) throw invalidRequest('invalid page_token');
    return seq;
  }
}

/** The order as it was after this fill. */
function orderAfter(fill: Fill, order: Order, archive: Archive): Order {
  const upToThis = archive
    .listFills({ orderSeq: order.seq, newestFirst: false, limit: FILLS_PER_ORDER_MAX })
    .filter(({ seq }) => seq <= fill.seq);
  const filledQuantity = upToThis.reduce((sum, { quantity }) => sum.plus(quantity), Decimal.zero);
  const status = filledQuantity.equals(order.quantity) ? 'filled' : 'partially_filled';
  return { ...order, filledQuantity, status };
}

function parse(query: unknown): z.infer<typeof ActivityQuery> {
  const parsed = ActivityQuery.safeParse(query);
  if (!parsed.success) throw invalidRequest(`invalid ${parsed.error.issues[0]?.path.join('.') ?? 'query'}`);
  return parsed.data;
}
