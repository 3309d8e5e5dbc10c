import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { z } from 'zod';
import { Database } from '#libs/database';
import { CallerOf } from '#libs/http';
import { listHistory, listOrders, listPositions, type OrderCursor } from '#libs/lifecycle';
import { asPrincipal, type Principal } from '#libs/tenancy';
import { ApiProblems } from './api-problems.js';
import { page, pageQuery, pageSchema, Sequence } from './page.js';
import { getProfile } from './profile-problems.js';
import {
  HistoryAnswer,
  historyAnswer,
  OrderAnswer,
  orderAnswer,
  PositionAnswer,
  positionAnswer,
} from './trade-answer.js';

const UNKNOWN_PROFILE = { 404: '`unknown_profile`: there is no such profile, or it is not yours' };

const OrderPage = pageSchema(OrderAnswer);
const OrderQuery = pageQuery(
  z.string().regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.(entry|exit)\.\d{1,9}$/, {
    error: 'expected the "next" of the page before',
  }),
);
const PositionPage = pageSchema(PositionAnswer);
const PositionQuery = pageQuery(z.guid());
const HistoryPage = pageSchema(HistoryAnswer);
const HistoryQuery = pageQuery(Sequence);

@ApiTags('trades')
@ApiBearerAuth()
@Controller('api/profiles/:id')
export class TradeRecordsController {
  constructor(private readonly database: Database) {}

  @Get('orders')
  @ApiOperation({ summary: 'The orders that venues confirmed, by trade, entries before exits' })
  @ApiOkResponse({ standardSchema: OrderPage })
  @ApiProblems(UNKNOWN_PROFILE)
  orders(
    @CallerOf() principal: Principal,
    @Param('id') id: string,
    @Query({ schema: OrderQuery }) { after, limit }: z.infer<typeof OrderQuery>,
  ): Promise<z.infer<typeof OrderPage>> {
    return asPrincipal(this.database, principal, async (tx) => {
      const { id: profileId } = await getProfile(tx, id);
      const from = after === undefined ? undefined : orderCursorOf(after);
      return page(limit, (count) => listOrders(tx, { profileId, after: from, limit: count }), {
        cursor: ({ tradeId, purpose, generation }) => [tradeId, purpose, generation].join('.'),
        item: orderAnswer,
      });
    });
  }

  @Get('positions')
  @ApiOperation({ summary: 'What trades hold or held, in the order of their ids' })
  @ApiOkResponse({ standardSchema: PositionPage })
  @ApiProblems(UNKNOWN_PROFILE)
  positions(
    @CallerOf() principal: Principal,
    @Param('id') id: string,
    @Query({ schema: PositionQuery }) { after, limit }: z.infer<typeof PositionQuery>,
  ): Promise<z.infer<typeof PositionPage>> {
    return asPrincipal(this.database, principal, async (tx) => {
      const { id: profileId } = await getProfile(tx, id);
      return page(limit, (count) => listPositions(tx, { profileId, after, limit: count }), {
        cursor: ({ tradeId }) => tradeId,
        item: positionAnswer,
      });
    });
  }

  @Get('history')
  @ApiOperation({ summary: 'What happened to trades, oldest first; nothing is ever changed or removed' })
  @ApiOkResponse({ standardSchema: HistoryPage })
  @ApiProblems(UNKNOWN_PROFILE)
  history(
    @CallerOf() principal: Principal,
    @Param('id') id: string,
    @Query({ schema: HistoryQuery }) { after, limit }: z.infer<typeof HistoryQuery>,
  ): Promise<z.infer<typeof HistoryPage>> {
    return asPrincipal(this.database, principal, async (tx) => {
      const { id: profileId } = await getProfile(tx, id);
      const from = after === undefined ? undefined : BigInt(after);
      return page(limit, (count) => listHistory(tx, { profileId, after: from, limit: count }), {
        cursor: (event) => String(event.id),
        item: historyAnswer,
      });
    });
  }
}

function orderCursorOf(text: string): OrderCursor {
  const [tradeId = '', purpose, generation] = text.split('.');
  return { tradeId, purpose: purpose === 'entry' ? 'entry' : 'exit', generation: Number(generation) };
}
