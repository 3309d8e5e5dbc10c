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
  Res,
} from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { Pair, PairId, PairSettings, PairsDeclaredInFile } from '#libs/fleet';
import { FleetKeeper } from './fleet-keeper.js';

const PairList = z.strictObject({ items: z.array(Pair) });
/** A pair as it was read may be sent back; its id must be that of the address then. */
const PairBody = PairSettings.extend({ id: PairId.optional() });

@ApiTags('configuration')
@ApiBearerAuth()
@Controller('api/config/pairs')
export class PairConfigController {
  constructor(private readonly keeper: FleetKeeper) {}

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
  async put(
    @Param('id', { schema: PairId }) id: string,
    @Body({ schema: PairBody }) body: z.infer<typeof PairBody>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Pair> {
    if (body.id !== undefined && body.id !== id) {
      throw new BadRequestException(
        `The body names the pair "${body.id}" and the address "${id}". Leave the id out, or make them agree.`,
      );
    }
    const pair = { ...body, id };
    const isNew = await this.change(id, () => this.keeper.configs.put(pair));
    void reply.status(isNew ? 201 : 200);
    return pair;
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiOperation({ summary: 'Removes a pair; its worker finishes its cycle and stops' })
  async remove(@Param('id', { schema: PairId }) id: string): Promise<void> {
    if (!(await this.change(id, () => this.keeper.configs.remove(id)))) throw unknownPair(id);
  }

  /** Written first, announced then: whoever hears of a change can read it. */
  private async change(id: string, write: () => Promise<boolean>): Promise<boolean> {
    const result = await write().catch((error: unknown) => {
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
