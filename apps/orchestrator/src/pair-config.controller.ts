import {
  BadRequestException,
  Body,
  ConflictException,
  Controller,
  Delete,
  Get,
  HttpCode,
  NotFoundException,
  Param,
  Put,
  UseInterceptors,
} from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { z } from 'zod';
import { Database, type Tx } from '#libs/database';
import { Pair, PairId, PairSettings, PairsDeclaredInFile } from '#libs/fleet';
import { CallerOf } from '#libs/http';
import { actorOf, recordAct, type Principal } from '#libs/tenancy';
import { CreatedOrOk, type Made } from './created-or-ok.js';
import { FleetKeeper } from './fleet-keeper.js';

const PairList = z.strictObject({ items: z.array(Pair) });
/** A pair as it was read may be sent back; its id must be that of the address then. */
const PairBody = PairSettings.extend({ id: PairId.optional() });

@ApiTags('configuration')
@ApiBearerAuth()
@Controller('api/config/pairs')
export class PairConfigController {
  constructor(
    private readonly keeper: FleetKeeper,
    private readonly database: Database,
  ) {}

  @Get()
  @ApiOperation({ summary: 'The configured pairs; the two of the demonstration while there is none' })
  @ApiOkResponse({ standardSchema: PairList })
  async list(): Promise<z.infer<typeof PairList>> {
    return { items: await this.keeper.configs.list() };
  }

  @Get(':id')
  @ApiOperation({ summary: 'One pair' })
  @ApiOkResponse({ standardSchema: Pair })
  async read(@Param('id', { schema: PairId }) id: string): Promise<Pair> {
    const pair = await this.keeper.configs.find(id);
    if (!pair) throw unknownPair(id);
    return pair;
  }

  @Put(':id')
  @ApiOperation({ summary: 'Configures a pair; its worker starts, or restarts when something changed' })
  @ApiOkResponse({ standardSchema: Pair })
  @UseInterceptors(CreatedOrOk)
  async put(
    @CallerOf() principal: Principal,
    @Param('id', { schema: PairId }) id: string,
    @Body({ schema: PairBody }) body: z.infer<typeof PairBody>,
  ): Promise<Made<Pair>> {
    if (body.id !== undefined && body.id !== id) {
      throw new BadRequestException(
        `The body names the pair "${body.id}" and the address "${id}". Leave the id out, or make them agree.`,
      );
    }
    const pair = { ...body, id };
    const act = { actor: actorOf(principal), action: 'pair.put', subject: id, detail: pair };
    const isNew = await this.change(id, async (tx) => {
      const result = await this.keeper.configs.put(tx, pair);
      await recordAct(tx, act);
      return result;
    });
    return { answer: pair, isNew };
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiOperation({ summary: 'Removes a pair; its worker finishes its cycle and stops' })
  async remove(@CallerOf() principal: Principal, @Param('id', { schema: PairId }) id: string): Promise<void> {
    const act = { actor: actorOf(principal), action: 'pair.delete', subject: id, detail: {} };
    await this.change(id, async (tx) => {
      if (!(await this.keeper.configs.remove(tx, id))) throw unknownPair(id);
      await recordAct(tx, act);
    });
  }

  /** Written first, announced then: whoever hears of a change can read it. */
  private async change<T>(id: string, write: (tx: Tx) => Promise<T>): Promise<T> {
    const result = await this.database.transaction(write).catch((error: unknown) => {
      if (error instanceof PairsDeclaredInFile) throw new ConflictException(error.message);
      throw error;
    });
    await this.keeper.announceChange(id);
    return result;
  }
}

function unknownPair(id: string): NotFoundException {
  return new NotFoundException(`There is no configured pair "${id}". GET /api/config/pairs lists them.`);
}
