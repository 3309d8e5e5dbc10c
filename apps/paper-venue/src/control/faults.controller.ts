import { Body, Controller, Delete, Get, HttpCode, Post, UseGuards } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { z } from 'zod';
import { FaultBody, type Fault } from '../faults/fault.js';
import { FaultBox } from '../faults/fault-box.js';
import { OpenList } from '../faults/open-list.js';
import { LoopbackGuard } from './loopback.guard.js';

@ApiTags('faults')
@Controller('paper/faults')
@UseGuards(LoopbackGuard)
export class FaultsController {
  constructor(
    private readonly box: FaultBox,
    private readonly openList: OpenList,
  ) {}

  @Post()
  @ApiOperation({
    summary: 'Lets something go wrong',
    description:
      'drop-request: the connection closes and the matching engine hears nothing. drop-response: the matching engine does its work, and the connection closes without an answer. http-500, http-429, reset and delay: see phase. stale-list: open orders are listed as they were when the fault was set. truncated-list: the newer half of them is left out.',
  })
  add(@Body({ schema: FaultBody }) body: z.infer<typeof FaultBody>): Fault {
    const fault = this.box.add(body);
    this.openList.remember(fault);
    return fault;
  }

  @Get()
  @ApiOperation({ summary: 'The faults that wait to happen, with the times that are left' })
  list(): { items: readonly Fault[] } {
    return { items: this.box.list() };
  }

  @Delete()
  @HttpCode(204)
  @ApiOperation({ summary: 'Lets everything go right again' })
  clear(): void {
    this.box.clear();
    this.openList.forget();
  }
}
